//! The JSON result of a run of bots. `schema/bots.schema.json` says the same to other programs, and is derived from
//! these types. A change of meaning raises [`SCHEMA_VERSION`].

use super::metric::MetricFigures;
use crate::measure::latency::{LatencyMs, SpreadMs};
use crate::measure::machine::Machine;
use crate::report::stress::result::{FleetClock, Generator, Stalls};
use crate::report::thresholds::ThresholdResult;
use crate::report::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that a run of bots found, and what is needed to run it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BotsResult {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Filled in by the judge.
    pub verdict: Verdict,
    /// Why it is not a pass, one sentence each; filled in by the judge.
    pub reasons: Vec<String>,
    /// Replays the random choices of all bots.
    pub seed: u64,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// The script, as it was named.
    pub script: String,
    /// Where the bots connected, as far as the script or the command line names one place.
    pub url: Option<String>,
    /// When the run began: RFC 3339, UTC.
    #[cfg_attr(test, schemars(extend("pattern" = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")))]
    pub started: String,
    /// How long the bots ran, in seconds.
    pub duration_s: f64,
    /// How long they were to run.
    pub duration_asked_s: f64,
    /// Where it ran.
    pub machine: Machine,
    /// The bots.
    pub bots: BotCounts,
    /// Endings of connections that the bots did not close themselves, by cause and text.
    pub endings: BTreeMap<String, u64>,
    /// Errors of the script, the most frequent first.
    pub faults: Vec<Fault>,
    /// From the time at which a bot was to connect until it was connected.
    pub connect_ms: Option<SpreadMs>,
    /// Round-trip times as the protocol estimated them, one of each bot and second; `None` where it has none.
    pub rtt_ms: Option<LatencyMs>,
    /// Messages of the script.
    pub messages: MessageCounts,
    /// Traffic of the sockets, without headers of IP, UDP and TCP.
    pub wire: WireCounts,
    /// Messages that were not accepted, by reason.
    pub refused_sends: BTreeMap<String, u64>,
    /// The cost of the bots' process, and whether it kept its schedule.
    pub generator: Generator,
    /// The part of that cost which is the script's.
    pub scripts: ScriptCost,
    /// The cost of the server's process; `None` when `--watch-pid` did not name it.
    pub server: Option<ServerCost>,
    /// When nothing on the machine was punctual; `None` when it was not watched.
    pub stalls: Option<Stalls>,
    /// The machines of a run on several; `None` of a run in one process.
    pub fleet: Option<BotsFleet>,
    /// What the script measured, by name.
    pub metrics: BTreeMap<String, MetricFigures>,
    /// When trends in milliseconds were far slower than in most of the run, the twenty worst by time: where a server
    /// stood still.
    pub slow_times: Vec<SlowTime>,
    /// Of each trend its distribution, by name: shares and the value that they do not exceed.
    pub curves: BTreeMap<String, Vec<CurvePoint>>,
    /// The bots that fared worst, at most ten: those that ended by an error, then those that lost their connection most
    /// often, then those whose p99 of a trend in milliseconds is the most times the median of all. `--only-bot` runs one.
    pub worst_bots: Vec<WorstBot>,
    /// The conditions of the script and of the command line; filled in by the judge.
    pub thresholds: Vec<ThresholdResult>,
}

/// The bots of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BotCounts {
    /// How many there should have been.
    pub asked: u64,
    /// How many began.
    pub started: u64,
    /// How many were ever connected.
    pub connected: u64,
    /// The most that were connected at the same time.
    pub connected_at_once: u64,
    /// Connections that were attempted, those of bots that came back included.
    pub attempts: u64,
    /// Connections that were made.
    pub connects: u64,
    /// How many lost their connection, and had no way of their own to deal with that.
    pub dropped: u64,
    /// How many the end of the run found on their way to their first connection; they are no failure.
    pub cut_off: u64,
    /// How many ended by an error of the script.
    pub faulted: u64,
}

/// An error of the script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// File, line, column and message.
    pub message: String,
    /// How many bots it ended.
    pub bots: u64,
    /// The number of the first of them.
    pub first_bot: u64,
}

/// A point of a distribution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// This part of all, of 1,
    pub share: f64,
    /// is no greater than this.
    pub value: f64,
}

/// A bot that fared worse than others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorstBot {
    /// Its number, as scripts and `--only-bot` have it.
    pub bot: u64,
    /// The error that ended it.
    pub fault: Option<String>,
    /// How often its connection ended without its wish.
    pub drops: u64,
    /// The trend in which it was worst, and its figures there; `None` if it recorded none in milliseconds.
    pub trend: Option<WorstTrend>,
}

/// A bot's own figures of a trend in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorstTrend {
    /// The trend's name.
    pub name: String,
    /// How many values are the bot's.
    pub count: u64,
    /// Half of them are no greater.
    pub p50: f64,
    /// 99% of them are no greater.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

/// Messages that the script sent and received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MessageCounts {
    /// Messages that were accepted.
    pub sent: u64,
    /// Messages that arrived.
    pub received: u64,
    /// Bytes of those that were sent.
    pub bytes_sent: u64,
    /// Bytes of those that arrived.
    pub bytes_received: u64,
}

/// Traffic of the sockets, and counters of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WireCounts {
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Datagrams sent, or writes to streams.
    pub sent: u64,
    /// Datagrams received, or reads from streams.
    pub received: u64,
    /// Datagrams that the system did not take because its buffer was full.
    pub unsent: u64,
    /// Input that was not of the protocol, and was dropped.
    pub invalid: u64,
    /// Packets that the bots' side sent again.
    pub retransmitted: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// Messages that were dropped or lost for good, as far as the protocol knows.
    pub dropped: u64,
}

/// A time at which something took far longer than usual.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlowTime {
    /// The trend, by its name.
    pub metric: String,
    /// When the first that took long began, in seconds of the run.
    pub from_s: f64,
    /// When the last of them was over.
    pub until_s: f64,
    /// How long the longest took.
    pub worst_ms: f64,
    /// How long the bots' own machine stood still in that time: if it is most of it, the server is not why. Of several
    /// machines, the one that stood still longest.
    pub stalled_ms: f64,
}

/// The cost of the script's code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScriptCost {
    /// Calls of the script: callbacks and resumed functions.
    pub calls: u64,
    /// Time in the script, in percent of one core; its calls of the tool included.
    pub core_percent: f64,
    /// Memory of the scripts in all workers at the end.
    pub memory_bytes: u64,
    /// Threads that ran the bots.
    pub workers: u64,
}

/// The cost of the server's process, on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServerCost {
    /// CPU time in percent of one core.
    pub cpu_percent: f64,
    /// Resident memory at the end.
    pub rss_bytes: u64,
    /// How long its threads waited for a CPU.
    pub run_queue_wait_ms: f64,
}

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

/// Of this form of the result.
pub const SCHEMA_VERSION: u32 = 1;
