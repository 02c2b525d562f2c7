//! A run on several machines: what each of them did, and what their clocks allow to say.

use serde::{Deserialize, Serialize};

use super::counts::{ClientCounts, Generator, Stalls};
use super::figures::Messages;
use crate::measure::latency::LatencyMs;
use crate::measure::machine::Machine;

/// The machines of a run, and what was merged how. Elsewhere in the result, counts are sums over the machines,
/// percentiles are taken over all their samples, the longest and the latest are the greatest, and durations of phases
/// the longest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// The name of the run, by which its machines keep its evidence.
    pub run: String,
    /// Agents, in the order of their clients' numbers.
    pub agents: Vec<AgentResult>,
    /// How many agents may be lost without making the run invalid.
    pub tolerate: u64,
    /// What gave the agents one time.
    pub clock: FleetClock,
    /// The most by which the clocks of two agents may have differed, in milliseconds: what a line from one to the other
    /// may seem to have taken longer or shorter. Percentiles of `latency_ms` below ten times this are null.
    pub clock_error_ms: f64,
    /// Latency of the lines that the sender's own agent received, measured by one clock; `None` if there were none.
    pub latency_same_agent_ms: Option<LatencyMs>,
    /// Deliveries of lines by or to clients of lost agents: known of, and not judged.
    pub deliveries_excused: u64,
}

/// What gave the agents one time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FleetClock {
    /// The game server's clock, as its clients estimate it.
    #[default]
    Server,
    /// The coordinator's clock, over NATS: the server does not tell its time.
    Coordinator,
}

/// One agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentResult {
    /// Its name.
    pub name: String,
    /// Where it ran; `None` of one that was lost.
    pub machine: Option<Machine>,
    /// Why it was lost, in one sentence; `None` if its evidence is here.
    pub lost: Option<String>,
    /// Numbers of its clients in the run, by carrier: "udp 0-249".
    pub numbers: String,
    /// Its clients.
    pub clients: ClientCounts,
    /// Lines that they sent, and received of all.
    pub messages: Messages,
    /// Latency of the lines that they received.
    pub latency_ms: Option<LatencyMs>,
    /// Its cost, and whether it kept its schedule; `None` of one that was lost.
    pub generator: Option<Generator>,
    /// The most by which its clock may have differed from the run's, in milliseconds.
    pub clock_error_ms: f64,
    /// When nothing on its machine was punctual.
    pub stalls: Option<Stalls>,
    /// The folder on its machine with the log of packets, if there is one.
    pub qlog: Option<String>,
}
