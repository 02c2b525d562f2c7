//! What one machine of a run saw, whole enough that the proof is concluded elsewhere: [`super::merge_agents`].

use serde::{Deserialize, Serialize};

use super::chronicle::Chronicle;
use super::result::{FleetClock, StressResult};
use super::roster::{AgentPlace, Roster};
use crate::measure::latency::LatencyCounts;
use crate::measure::ledger::LedgerRecord;

/// The evidence of one agent: its ledgers, its samples and its figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEvidence {
    /// [`FORMAT`].
    pub format: u32,
    /// Who takes part.
    pub roster: Roster,
    /// Which of them this is.
    pub agent: usize,
    /// Whether it was stopped before its end.
    pub is_interrupted: bool,
    /// Lines that its clients sent, in their order.
    pub sent: Vec<u32>,
    /// Numbers of its excluded clients, which dropped or never connected: nothing had to reach them, and their lines
    /// need not arrive.
    pub absent: Vec<u32>,
    /// How long its clients took to connect, in microseconds, in their order; `None` for a client that did not.
    pub connected_us: Vec<Option<u64>>,
    /// From the first line due to the last arrival, in microseconds.
    pub elapsed_us: u64,
    /// For each carrier of the roster.
    pub carriers: Vec<CarrierEvidence>,
    /// Its clock.
    pub clock: ClockEvidence,
    /// Its own figures, which no judge has seen. Its lines are not counted there.
    pub result: StressResult,
    /// The folder on its machine with the log of packets, if there is one.
    pub qlog: Option<String>,
    /// For a report, if one was asked for.
    pub chronicle: Option<Chronicle>,
}

/// The lines that the clients of one carrier received.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarrierEvidence {
    /// Which.
    pub ledger: LedgerRecord,
    /// How long they took.
    pub latency: LatencyCounts,
    /// Of these, the lines of this agent's own clients.
    pub latency_same_agent: LatencyCounts,
}

/// How an agent's clock was set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockEvidence {
    /// By what.
    pub by: FleetClock,
    /// The most by which it may have been wrong, at any time of the run.
    pub error_us: u64,
    /// When its first line was due, by the machine's own clock, in microseconds since 1970.
    pub epoch_unix_us: u64,
}

/// The version of this format. PartEvidence of another is not merged.
pub const FORMAT: u32 = 1;

impl PartEvidence {
    /// Its place in the run.
    pub fn place(&self) -> &AgentPlace {
        &self.roster.agents[self.agent]
    }

    /// Whether it is complete, and does not contradict itself; the error is one sentence.
    pub fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("evidence of format {}, where this program reads {FORMAT}", self.format));
        }
        let Some(place) = self.roster.agents.get(self.agent) else {
            return Err("evidence of an agent that is not in its roster".into());
        };
        let clients = place.clients() as usize;
        let is_whole = self.sent.len() == clients
            && self.connected_us.len() == clients
            && self.carriers.len() == place.mix.len()
            && place.mix.len() == self.roster.mix.len()
            && place.part.firsts.len() == place.mix.len()
            && self.carriers.iter().zip(&place.mix).all(|(it, (_, count))| it.ledger.receivers() == *count as usize)
            && place.numbers().chain(self.absent.iter().copied()).all(|number| number < place.part.total)
            && place.part.total == self.roster.clients();
        if is_whole { Ok(()) } else { Err(format!("the evidence of agent {} is incomplete", place.agent)) }
    }
}
