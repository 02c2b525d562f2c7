//! The result of one attack, and its verdict. No processes here.

use crate::sent::Sent;
use serde::{Deserialize, Serialize};

/// An attack as it was played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The attack's name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The attack's limit of guesses.
    #[serde(default)]
    pub guesses_per_second_max: Option<u32>,
    /// Rounds of the three, in the order in which they were played.
    pub rounds: Vec<Round>,
    /// The server's memory.
    pub memory: Memory,
}

/// The same seconds, measured three times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Round {
    /// Lines before the attack.
    pub calm: Lines,
    /// Under it.
    pub under: Lines,
    /// Lines during the same attack on a decoy; `None` if the attack has none.
    pub decoy: Option<Lines>,
    /// The clients that connected while it ran.
    pub newcomers: Newcomers,
    /// The operator meanwhile.
    pub operator: Operator,
    /// The traffic of the attack to the server.
    pub sent: Sent,
    /// The greatest work of one round of the server's driver since its start, counted by what it read; nothing of
    /// servers that do not say.
    #[serde(default)]
    pub round_cost_max_ms: Option<f64>,
}

/// Good clients' lines.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Lines {
    /// Latency; nothing if no result came.
    pub p99_ms: Option<f64>,
    /// Lines that did not arrive.
    pub lost: u64,
    /// Clients that were disconnected.
    pub dropped: u64,
    /// Stalls of the whole machine.
    pub machine_stalls: u64,
}

/// Clients that connected and left.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Newcomers {
    /// Clients that tried to connect.
    pub attempted: u64,
    /// Clients that connected within the 10 s that `stress` waits.
    pub connected: u64,
    /// The longest of them.
    pub slowest_ms: Option<f64>,
}

/// How an operator with the token fared at the console and at the dashboard.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Operator {
    /// How often the operator reached console or dashboard.
    pub visits: u64,
    /// How often the operator was admitted.
    pub served: u64,
    /// The longest visit.
    pub slowest_ms: f64,
    /// How often his stream ended.
    pub stream_cuts: u64,
    /// The longest time without an event on the operator's stream, which has one each second.
    pub stream_gap_ms: f64,
}

/// Resident bytes of the server.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Before the attack, after a calm run.
    pub before: u64,
    /// The most under it.
    pub peak: u64,
    /// Seconds from its end until at most `SLACK_BYTES` more than before are resident; `None` if that took too long.
    pub back_s: Option<f64>,
}

/// The verdict of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Good clients were not hurt.
    Held,
    /// Good clients were hurt.
    Missed,
    /// Good clients were hurt, but by the same attack on the decoy as much: the machine is too small to tell.
    Machine,
}

impl Row {
    /// The median of the 99th percentiles; `None` if a run had no result.
    #[must_use]
    pub fn p99_ms(&self, of: impl Fn(&Round) -> Option<Lines>) -> Option<f64> {
        let all: Option<Vec<f64>> = self.rounds.iter().map(|round| of(round)?.p99_ms).collect();
        let mut all = all?;
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }

    /// The faults, a sentence each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for round in &self.rounds {
            let Newcomers { attempted, connected, slowest_ms } = round.newcomers;
            if attempted == 0 || connected < attempted {
                faults.push(format!("{connected} of {attempted} newcomers"));
            } else if slowest_ms.is_none_or(|slowest| slowest > NEWCOMER_MS) {
                faults.push("a newcomer waited".into());
            }
            if round.under.lost + round.under.dropped > 0 {
                faults.push(format!("{} lines lost, {} clients dropped", round.under.lost, round.under.dropped));
            }
            if let Some(cost) = round.round_cost_max_ms.filter(|cost| *cost > ROUND_MS) {
                faults.push(format!("a round of {cost:.1} ms"));
            }
            let Operator { visits, served, slowest_ms, stream_cuts, stream_gap_ms } = round.operator;
            if served < visits || slowest_ms > NEWCOMER_MS {
                faults.push(format!("operator admitted {served} of {visits} times"));
            }
            let guesses_per_second = round.sent.closes as f64 / round.sent.seconds.max(0.001);
            if self.guesses_per_second_max.is_some_and(|most| guesses_per_second > f64::from(most)) {
                faults.push(format!("{guesses_per_second:.0} guesses a second"));
            }
            if stream_cuts > 0 || stream_gap_ms > STREAM_GAP_MS {
                faults.push(format!("the operator's stream was cut {stream_cuts} times"));
            }
        }
        if self.memory.peak > self.memory.before + BUDGET_BYTES {
            faults.push("memory beyond its budget".into());
        }
        if self.memory.back_s.is_none() {
            faults.push("memory is not back".into());
        }
        faults
    }

    /// The verdict on the row.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let calm = self.p99_ms(|round| Some(round.calm));
        let is_hurt = |p99: Option<f64>| match (p99, calm) {
            (Some(p99), Some(calm)) => p99 > (calm * RATIO_MAX).max(calm + NOISE_MS),
            _ => true,
        };
        if !self.faults().is_empty() {
            return Verdict::Missed;
        }
        let (under, decoy) = (self.p99_ms(|round| Some(round.under)), self.p99_ms(|round| round.decoy));
        match is_hurt(under) {
            false => Verdict::Held,
            true if under.zip(decoy).is_some_and(|(under, decoy)| under <= decoy * MACHINE_RATIO) => Verdict::Machine,
            true => Verdict::Missed,
        }
    }
}

/// Good clients' p99 under an attack, to that without.
const RATIO_MAX: f64 = 1.5;
/// Below this two runs do not differ.
const NOISE_MS: f64 = 2.0;
/// The allowed ratio of the server's effect to the machine's.
const MACHINE_RATIO: f64 = 1.1;
/// The time within which a new client must connect.
const NEWCOMER_MS: f64 = 2_000.0;
/// The allowed duration of one round of a driver.
const ROUND_MS: f64 = 5.0;
/// Events are a second apart, and may be late by two.
const STREAM_GAP_MS: f64 = 3_000.0;
/// The library's default budget for memory that peers make it hold.
const BUDGET_BYTES: u64 = 256 << 20;
/// The memory that an allocator may retain.
pub(crate) const SLACK_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(calm: f64, under: f64, decoy: f64) -> Row {
        let lines = |p99: f64| Lines { p99_ms: Some(p99), ..Lines::default() };
        let newcomers = Newcomers { attempted: 20, connected: 20, slowest_ms: Some(30.0) };
        let round = Round {
            calm: lines(calm),
            under: lines(under),
            decoy: Some(lines(decoy)),
            newcomers,
            operator: Operator { visits: 8, served: 8, ..Operator::default() },
            sent: Sent::default(),
            round_cost_max_ms: Some(2.1),
        };
        let memory = Memory { before: 50 << 20, peak: 60 << 20, back_s: Some(0.0) };
        Row {
            name: "pings".into(),
            kind: "streams".into(),
            guesses_per_second_max: Some(20),
            rounds: vec![round],
            memory,
        }
    }

    #[test]
    fn a_decoy_distinguishes_the_machine_from_the_server() {
        assert_eq!(row(17.0, 25.0, 17.0).verdict(), Verdict::Held);
        assert_eq!(row(17.0, 26.0, 17.0).verdict(), Verdict::Missed);
        assert_eq!(row(17.0, 40.0, 38.0).verdict(), Verdict::Machine);
        assert_eq!(row(1.0, 2.9, 1.0).verdict(), Verdict::Held, "noise");
    }

    #[test]
    fn each_fault_is_a_miss_at_any_latency() {
        let faulty: [fn(&mut Row); 13] = [
            |row| row.rounds[0].newcomers.connected = 19,
            |row| row.rounds[0].newcomers = Newcomers::default(),
            |row| row.rounds[0].newcomers.slowest_ms = Some(2_001.0),
            |row| row.rounds[0].under.lost = 1,
            |row| row.rounds[0].under.dropped = 1,
            |row| row.rounds[0].sent = Sent { closes: 21, seconds: 1.0, ..Sent::default() },
            |row| row.rounds[0].operator.served = 7,
            |row| row.rounds[0].operator.slowest_ms = 2_001.0,
            |row| row.rounds[0].operator.stream_cuts = 1,
            |row| row.rounds[0].operator.stream_gap_ms = 3_001.0,
            |row| row.rounds[0].round_cost_max_ms = Some(5.1),
            |row| row.memory.peak = 307 << 20,
            |row| row.memory.back_s = None,
        ];
        for (number, fault) in faulty.iter().enumerate() {
            let mut row = row(17.0, 17.0, 17.0);
            assert!(row.faults().is_empty());
            fault(&mut row);
            assert_eq!((row.faults().len(), row.verdict()), (1, Verdict::Missed), "{number}");
        }
    }

    #[test]
    fn a_run_without_a_result_is_a_miss() {
        let mut row = row(17.0, 17.0, 17.0);
        row.rounds[0].under.p99_ms = None;
        assert_eq!(row.verdict(), Verdict::Missed);
    }
}
