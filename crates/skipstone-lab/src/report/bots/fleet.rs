//! A run of bots on several machines: what each of them did.

use super::result::{BotCounts, MessageCounts, ScriptCost};
use crate::measure::latency::SpreadMs;
use crate::measure::machine::Machine;
use crate::report::stress::result::{FleetClock, Generator, Stalls};
use serde::{Deserialize, Serialize};

/// The machines of a run, and what was merged how. Elsewhere in the result, counts and counters are sums over the agents
/// whose evidence is here; percentiles are taken over all their samples, which agents send as histograms of three digits;
/// shares are those of the summed counts; the longest, the latest and the greatest are those of all; the last of a gauge
/// is the latest by the run's clock; `connected_at_once` is the sum of each agent's most, which is at least the true
/// figure; `duration_s` is the shortest; `machine` is the coordinator's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BotsFleet {
    /// The name of the run, by which its machines keep its evidence.
    pub run: String,
    /// SHA-256 of the script and its folder's files, as all agents had them: hexadecimal.
    pub script_sha256: String,
    /// Agents, in the order of their shares: the bot of number `n` is one of agent `n` modulo their number.
    pub agents: Vec<BotsAgent>,
    /// How many agents may be lost without making the run invalid.
    pub tolerate: u64,
    /// What gave the agents one start.
    pub clock: FleetClock,
    /// The most by which the starts of two agents may have differed, in milliseconds. A latency that a bot measures is
    /// that of its own machine's clock, which this does not change.
    pub clock_error_ms: f64,
    /// Bots of lost agents: not counted elsewhere, and not judged.
    pub bots_excused: u64,
}

/// One agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BotsAgent {
    /// Its name.
    pub name: String,
    /// Where it ran; `None` of one that was lost.
    pub machine: Option<Machine>,
    /// Why it was lost, in one sentence; `None` if its evidence is here.
    pub lost: Option<String>,
    /// Its bots; of a lost one, how many there should have been.
    pub bots: BotCounts,
    /// Messages of its bots.
    pub messages: MessageCounts,
    /// How long its bots took to connect.
    pub connect_ms: Option<SpreadMs>,
    /// Its cost, and whether it kept its schedule; `None` of one that was lost.
    pub generator: Option<Generator>,
    /// The part of that cost which is the script's; `None` of one that was lost.
    pub scripts: Option<ScriptCost>,
    /// When nothing on its machine was punctual.
    pub stalls: Option<Stalls>,
    /// How wrong its start may have been, in milliseconds.
    pub clock_error_ms: f64,
}
