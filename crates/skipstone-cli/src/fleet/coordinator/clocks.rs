//! One moment for all agents: by the game server's clock if all have it, else by the coordinator's over NATS.

use super::super::talk::{AgentOrder, AgentReply};
use super::party::Party;
use crate::stress::lead::StartAt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How an agent's clock relates to this machine's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AgentClock {
    /// What is added to this machine's, in microseconds.
    offset_us: i64,
    /// Half of the shortest time there and back.
    error_us: u64,
}

/// Questions to each agent; the one that was answered fastest counts (as in NTP, RFC 5905).
const QUESTIONS: usize = 5;

/// Asks each agent for the time. The error is one sentence.
pub(super) fn measure(party: &mut Party) -> Result<Vec<AgentClock>, String> {
    let mut clocks = Vec::new();
    for agent in 0..party.agents.len() {
        let mut best: Option<AgentClock> = None;
        for _ in 0..QUESTIONS {
            let (asked, asked_us) = (Instant::now(), unix_us());
            let AgentReply::Clock(there_us) = party.ask(agent, &AgentOrder::Clock)? else { continue };
            let clock = AgentClock::of(asked_us, asked.elapsed(), there_us);
            best = Some(best.filter(|best| best.error_us <= clock.error_us).unwrap_or(clock));
        }
        clocks.push(best.unwrap_or_default());
    }
    Ok(clocks)
}

impl AgentClock {
    fn of(asked_us: u64, took: Duration, there_us: u64) -> Self {
        let half = took.as_micros() as u64 / 2;
        AgentClock { offset_us: there_us as i64 - (asked_us + half) as i64, error_us: half }
    }
}

/// The start for each agent, this long from now and more if NATS is slow.
pub(super) fn start(party: &Party, clocks: &[AgentClock], lead: Duration) -> Vec<StartAt> {
    let slowest = clocks.iter().map(|clock| clock.error_us).max().unwrap_or_default();
    // Agents are told one after the other, there and back.
    let lead = lead + Duration::from_micros(slowest) * 4 * clocks.len() as u32;
    let now = Instant::now();
    let server_now = |agent: &super::party::AgentView| {
        let (came, state) = agent.state.as_ref()?;
        let (at, _) = state.ready.as_ref()?.server_clock_us?;
        let age = now.saturating_duration_since(*came).as_micros() as u64 + state.ready_age_us;
        Some(at + age)
    };
    let servers: Option<Vec<u64>> = party.agents.iter().map(server_now).collect();
    let server_us = servers.and_then(|all| all.into_iter().max()).map(|now_us| now_us + lead.as_micros() as u64);
    let unix_us = unix_us() + lead.as_micros() as u64;
    let at = |clock: &AgentClock| StartAt {
        server_us,
        unix_us: unix_us.saturating_add_signed(clock.offset_us),
        unix_error_us: clock.error_us,
    };
    clocks.iter().map(at).collect()
}

fn unix_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_minutes_off_is_known_to_half_of_the_round_trip() {
        let three_minutes = 180_000_000;
        for behind in [-three_minutes, 0, three_minutes] {
            // 10 ms there, 30 ms back.
            let there = (1_000_000_000_000_i64 + 10_000 + behind) as u64;
            let clock = AgentClock::of(1_000_000_000_000, Duration::from_millis(40), there);
            assert_eq!(clock.error_us, 20_000);
            assert!((clock.offset_us - behind).unsigned_abs() <= clock.error_us, "{clock:?}");
        }
    }
}
