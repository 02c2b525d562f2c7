//! One view of all agents while they run.

use super::super::talk::PartEnd;
use super::party::{AgentView, Party};
use crate::stress::view::{AgentFigures, AgentPhase, Figures, ForParent};
use skipstone_lab::measure::latency::LatencyCounts;
#[cfg(feature = "bots")]
use skipstone_lab::report::format::{seconds, thousands};
use skipstone_lab::report::stress::live::{Phase, RecentLatency, Snapshot};
use std::time::Duration;

/// The figures of all agents that told some.
pub(super) fn merged(party: &Party, phase: Phase, elapsed: Duration, duration: Duration, offered: f64) -> Snapshot {
    let figures: Vec<Figures> = party.agents.iter().filter_map(figures_of).collect();
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let rate = |of: fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>();
    let mut recent = LatencyCounts::default();
    figures.iter().filter_map(|figures| figures.more.latencies.as_ref()).for_each(|counts| recent.add(counts));
    let latency = recent.latency();
    let latency = (latency.count() > 0).then(|| RecentLatency {
        p50_ms: latency.quantile_ms(0.5),
        p99_ms: latency.quantile_ms(0.99),
        max_ms: latency.max_ms(),
    });
    let ready = |of: fn(&crate::stress::lead::Ready) -> u64| {
        party.agents.iter().filter_map(|agent| agent.ready()).map(of).sum::<u64>()
    };
    Snapshot {
        phase,
        elapsed,
        duration,
        clients_asked: party.clients(),
        clients_connected: sum(|figures| figures.clients_connected).max(ready(|ready| ready.connected)),
        clients_dropped: sum(|figures| figures.clients_dropped),
        offered_per_second: if phase == Phase::Running { offered } else { 0.0 },
        sent_per_second: rate(|figures| figures.sent_per_second),
        delivered_per_second: rate(|figures| figures.delivered_per_second),
        delivered: sum(|figures| figures.delivered),
        missing: sum(|figures| figures.missing),
        latency,
        server: None,
        redundancy: Default::default(),
        drops: Vec::new(),
        paths_changed: 0,
        generator_cpu_percent: figures
            .iter()
            .filter_map(|figures| figures.cpu_percent)
            .reduce(|one, other| one + other),
        latest_send_ms: figures.iter().map(|figures| figures.latest_send_ms).fold(0.0, f64::max),
        late_sends: sum(|figures| figures.late_sends),
    }
}

/// A run of bots in a line, with the agents that need attention.
#[cfg(feature = "bots")]
pub(super) fn line(snapshot: &Snapshot, elapsed: Duration, party: &Party) -> String {
    let rate = |per_second: f64| thousands(per_second.round() as u64);
    let mut line = format!(
        "{:.0} of {} s: {} connected, {}/s sent, {}/s received",
        elapsed.as_secs_f64(),
        seconds(snapshot.duration),
        thousands(snapshot.clients_connected),
        rate(snapshot.sent_per_second),
        rate(snapshot.delivered_per_second),
    );
    for agent in party.agents.iter().map(row) {
        match agent.state {
            AgentPhase::Lost | AgentPhase::Failed => {
                line += &format!("; agent {}: {}", agent.name, agent.why.unwrap_or_default());
            }
            _ if agent.silent_s > SILENT_SHOWN_S => {
                line += &format!("; agent {}: silent for {:.1} s", agent.name, agent.silent_s);
            }
            _ => {}
        }
    }
    if let Some(away) = party.away_for() {
        line += &format!("; NATS away for {:.0} s", away.as_secs_f64());
    }
    line
}

/// Agents tell of themselves each half second.
#[cfg(feature = "bots")]
const SILENT_SHOWN_S: f64 = 1.5;

/// A row for each agent, for a parent process.
pub(super) fn rows(party: &Party) -> ForParent {
    let agents = party.agents.iter().map(row).collect();
    let nats_away_s = party.away_for().map(|away| away.as_secs_f64());
    ForParent { agents, nats_away_s, latencies: None }
}

fn row(agent: &AgentView) -> AgentFigures {
    let figures = figures_of(agent).unwrap_or_default();
    let ready = agent.ready().map_or(0, |ready| ready.connected);
    let (state, why) = state_of(agent, figures.phase);
    // The last second of an agent that has ended is not the present one.
    let rate = |per_second: f64| if state <= AgentPhase::Draining { per_second } else { 0.0 };
    AgentFigures {
        name: agent.name.clone(),
        state,
        clients_asked: agent.clients,
        clients_connected: figures.clients_connected.max(ready),
        sent_per_second: rate(figures.sent_per_second),
        delivered_per_second: rate(figures.delivered_per_second),
        delivered: figures.delivered,
        late_sends: figures.late_sends,
        cpu_percent: figures.cpu_percent,
        silent_s: agent.silence().as_secs_f64(),
        why,
    }
}

fn state_of(agent: &AgentView, phase: Phase) -> (AgentPhase, Option<String>) {
    if let Some(why) = &agent.lost {
        return (AgentPhase::Lost, Some(why.clone()));
    }
    match agent.end() {
        Some(PartEnd::Kept(_)) => return (AgentPhase::Done, None),
        Some(PartEnd::Failed(why)) => return (AgentPhase::Failed, Some(why.clone())),
        None => {}
    }
    let state = match phase {
        Phase::Running => AgentPhase::Running,
        Phase::Draining | Phase::Closing => AgentPhase::Draining,
        Phase::Connecting if agent.is_ready() => AgentPhase::Ready,
        Phase::Connecting => AgentPhase::Connecting,
    };
    (state, None)
}

fn figures_of(agent: &AgentView) -> Option<Figures> {
    serde_json::from_value(agent.state.as_ref()?.1.progress.clone()?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::super::talk::AgentState;
    use super::*;
    use crate::stress::lead::{Kept, Ready};
    use std::time::Instant;

    fn agent(progress: serde_json::Value, is_ready: bool, end: Option<PartEnd>) -> AgentView {
        let ready = Ready { connected: 7, asked: 9, why: None, server_clock_us: None };
        let state = AgentState {
            agent: "oslo".into(),
            instance: "1".into(),
            ready: is_ready.then_some(ready),
            ready_age_us: 0,
            progress: Some(progress),
            end,
        };
        let mut view = AgentView::unheard("oslo", "1");
        view.state = Some((Instant::now(), state));
        view
    }

    fn progress(phase: Phase) -> serde_json::Value {
        serde_json::to_value(Figures { phase, sent_per_second: 5.0, delivered: 3, ..Figures::default() }).unwrap()
    }

    #[test]
    fn an_agents_row_says_how_far_it_is_and_why_it_is_out() {
        let state = |agent: &AgentView| row(agent).state;
        assert_eq!(state(&AgentView::unheard("oslo", "1")), AgentPhase::Connecting);
        assert_eq!(state(&agent(progress(Phase::Connecting), true, None)), AgentPhase::Ready);
        assert_eq!(state(&agent(progress(Phase::Running), true, None)), AgentPhase::Running);
        assert_eq!(state(&agent(progress(Phase::Draining), true, None)), AgentPhase::Draining);
        let kept = Some(PartEnd::Kept(Kept::default()));
        assert_eq!(state(&agent(progress(Phase::Closing), true, kept)), AgentPhase::Done);
        let failed = row(&agent(progress(Phase::Running), true, Some(PartEnd::Failed("no disk".into()))));
        assert_eq!((failed.state, failed.why.as_deref()), (AgentPhase::Failed, Some("no disk")));
        let mut lost = agent(progress(Phase::Running), true, None);
        lost.lost = Some("no sign of life".into());
        let lost = row(&lost);
        assert_eq!((lost.state, lost.why.as_deref()), (AgentPhase::Lost, Some("no sign of life")));
        // What it sent a while ago it does not send now; what arrived has arrived.
        assert_eq!((lost.sent_per_second, lost.delivered, lost.clients_connected), (0.0, 3, 7));
    }
}
