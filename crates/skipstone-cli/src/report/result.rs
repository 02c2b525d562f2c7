//! The JSON result of a stress run. `schema/stress.schema.json` says the same to other programs; a test holds the two
//! together. A field that is added is named there too; one that changes its meaning raises [`SCHEMA_VERSION`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sharing::Shard;
use crate::units::mix::Carrier;

pub(crate) use crate::report::result::figures::{LatencyMs, Messages, SpreadMs, Wire};

mod blank;
mod figures;
pub(crate) mod protocol;

/// Everything that a stress run found, and what is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StressResult {
    /// [`SCHEMA_VERSION`].
    pub(crate) schema_version: u32,
    /// Filled in by the judge.
    pub(crate) verdict: Verdict,
    /// Why it is not a pass, one sentence each; filled in by the judge.
    pub(crate) reasons: Vec<String>,
    /// Replays the random choices.
    pub(crate) seed: u64,
    /// What carried the clients' packets.
    pub(crate) transport: Transport,
    /// The command line, word by word.
    pub(crate) command: Vec<String>,
    /// When the run began: RFC 3339, UTC.
    pub(crate) started: String,
    /// How long lines were sent, in seconds.
    pub(crate) duration_s: f64,
    /// What was asked for.
    pub(crate) plan: Plan,
    /// Where it ran.
    pub(crate) machine: Machine,
    /// The clients.
    pub(crate) clients: Clients,
    /// The lines.
    pub(crate) messages: Messages,
    /// From the moment a line was due to the moment it arrived; `None` when nothing arrived.
    pub(crate) latency_ms: Option<LatencyMs>,
    /// What went over the network, as the clients counted it.
    pub(crate) wire: Wire,
    /// What the server cost; `None` when it is remote.
    pub(crate) server: Option<Server>,
    /// What the clients cost, and whether they kept their schedule.
    pub(crate) generator: Generator,
    /// The same by carrier, for those that had clients.
    pub(crate) carriers: Vec<CarrierResult>,
    /// How long it took to begin and to end.
    pub(crate) timing: Timing,
    /// The simulated link; `None` when there was none.
    pub(crate) impairment: Option<Impairment>,
    /// What the protocol did beneath the lines.
    pub(crate) protocol: protocol::Protocol,
    /// Clients that changed their ports; `None` when none was to.
    pub(crate) roaming: Option<Roaming>,
    /// When nothing on the machine was punctual; `None` when it was not watched.
    pub(crate) stalls: Option<Stalls>,
    /// The conditions on the command line; filled in by the judge.
    pub(crate) thresholds: Vec<ThresholdResult>,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Every line arrived once, in order, unchanged, and every threshold was kept.
    Pass,
    /// Something was not as it has to be.
    Fail,
    /// The run proves nothing.
    Invalid,
    /// Stopped before its end.
    Interrupted,
}

/// What carried the clients' packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// More than one carrier.
    Mixed,
    /// The native protocol alone, encrypted by DTLS.
    UdpDtls,
    /// The native protocol alone, in clear.
    UdpPlain,
    /// WebSocket alone.
    Ws,
}

/// What was asked for. Texts are as the options take them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The server; `None` for one of the run's own.
    pub(crate) url: Option<String>,
    /// Lines that each client sends: "1/s".
    pub(crate) rate: String,
    /// How long each line is: "sentence" or bytes.
    pub(crate) size: String,
    /// Clients by carrier: "udp=200,ws=100".
    pub(crate) mix: String,
    /// How long lines are to be sent, in seconds.
    pub(crate) duration_s: f64,
    /// Over how long the clients connect, in seconds.
    pub(crate) ramp_s: f64,
    /// How messages are merged into packets; `None` when the server decides.
    pub(crate) merge: Option<String>,
    /// How loss is answered: "lean"; `None` for the default, or as a server decides that is not the run's own.
    pub(crate) redundancy: Option<String>,
    /// What that may cost: "40%"; `None` as above.
    pub(crate) redundancy_budget: Option<String>,
    /// Who decides how much may be in flight; `None` for the default.
    pub(crate) congestion: Option<String>,
}

/// Where a run was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    /// The processor's model.
    pub(crate) cpu: String,
    /// Cores that the run could use.
    pub(crate) cores: u64,
    /// Operating system and version.
    pub(crate) kernel: String,
}

/// The clients of a run or of one carrier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clients {
    /// How many there should have been.
    pub(crate) asked: u64,
    /// How many were ever connected.
    pub(crate) connected: u64,
    /// How many of these lost their connection before the end.
    pub(crate) dropped: u64,
    /// Clients that did not connect or were dropped, by reason.
    pub(crate) drops_by_reason: BTreeMap<String, u64>,
}

/// What the server cost while lines were sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    /// CPU time in percent of one core; `None` where the system does not tell.
    pub(crate) cpu_percent: Option<f64>,
    /// CPU time for each line delivered, in microseconds.
    pub(crate) cpu_us_per_delivery: Option<f64>,
    /// Resident memory at the end.
    pub(crate) rss_bytes: Option<u64>,
    /// Ticks of its loop in a second; `None` when it did not say.
    pub(crate) ticks_per_second: Option<f64>,
    /// Its longest tick.
    pub(crate) slowest_tick_ms: Option<f64>,
    /// How long its threads waited for a CPU.
    pub(crate) run_queue_wait_ms: Option<f64>,
    /// What each of its shards carried at the end; empty when it did not say.
    pub(crate) shards: Vec<Shard>,
}

/// What the clients' process cost, and whether it kept its schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Generator {
    /// CPU time in percent of one core; `None` where the system does not tell.
    pub(crate) cpu_percent: Option<f64>,
    /// Sends later than 50 ms after they were due.
    pub(crate) late_sends: u64,
    /// Of these, how many while the machine stalled.
    pub(crate) late_sends_in_stalls: u64,
    /// Lines that were due while their client was connected.
    pub(crate) planned_sends: u64,
    /// How late the latest send was.
    pub(crate) latest_send_ms: f64,
    /// Cores that it could use.
    pub(crate) cores: u64,
    /// Resident memory at the end.
    pub(crate) rss_bytes: Option<u64>,
    /// How long its threads waited for a CPU.
    pub(crate) run_queue_wait_ms: Option<f64>,
}

/// What one carrier's clients found. They receive lines of all clients; a line counts where it was received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CarrierResult {
    /// Which.
    pub(crate) carrier: Carrier,
    /// Its clients.
    pub(crate) clients: Clients,
    /// Lines that its clients sent, and received.
    pub(crate) messages: Messages,
    /// Latency of the lines that its clients received.
    pub(crate) latency_ms: Option<LatencyMs>,
    /// What its clients counted on the network.
    pub(crate) wire: Wire,
    /// How long its clients took to connect.
    pub(crate) connect_ms: Option<SpreadMs>,
}

/// How long it took to begin and to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timing {
    /// From a client's first packet until it was connected; `None` when none was.
    pub(crate) connect_ms: Option<SpreadMs>,
    /// From the first attempt until the last client was connected.
    pub(crate) ramp_ms: f64,
    /// From the order to close until everything was closed.
    pub(crate) close_ms: f64,
}

/// The simulated link between clients and server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Impairment {
    /// What was asked for, by option: "loss" is "2%".
    pub(crate) settings: BTreeMap<String, String>,
    /// What the links towards the server did.
    pub(crate) to_server: Link,
    /// What the links towards the clients did.
    pub(crate) to_clients: Link,
}

/// Clients that changed their ports while they talked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Roaming {
    /// How often each did.
    pub(crate) every_ms: f64,
    /// How often all of them did.
    pub(crate) moves: u64,
    /// New addresses that proved themselves to the server; `None` when it is remote.
    pub(crate) path_changes: Option<u64>,
    /// Connections made in place of ones that were lost.
    pub(crate) reconnects: u64,
}

/// What simulated links did to the datagrams that they were given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// Handed to the links, whatever became of them.
    pub(crate) sent: u64,
    /// Handed to the receivers, copies included.
    pub(crate) delivered: u64,
    /// Lost one by one, at random.
    pub(crate) lost_random: u64,
    /// Lost in bursts.
    pub(crate) lost_burst: u64,
    /// Lost because the queue was full.
    pub(crate) lost_queue: u64,
    /// Lost because the link was down.
    pub(crate) lost_outage: u64,
    /// Lost because they were larger than the link carries.
    pub(crate) lost_too_large: u64,
    /// Copies made.
    pub(crate) duplicated: u64,
    /// Delivered after one that was sent later.
    pub(crate) reordered: u64,
    /// Sent on with flipped bits.
    pub(crate) corrupted: u64,
}

/// When nothing on the machine was punctual: a thread that only sleeps was woken 2 ms late or later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stalls {
    /// How often.
    pub(crate) count: u64,
    /// How often it was the machine, and not other threads that used the CPU.
    pub(crate) machine_count: u64,
    /// The longest.
    pub(crate) longest_ms: f64,
    /// All together.
    pub(crate) total_ms: f64,
}

/// What became of a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThresholdResult {
    /// As it was written.
    pub(crate) expression: String,
    /// Whether it was kept; never when the number was not measured.
    pub(crate) passed: bool,
    /// The number, in the result's unit; `None` when it was not measured.
    pub(crate) actual: Option<f64>,
}

impl Link {
    /// All that did not arrive, for whatever reason.
    pub(crate) fn lost(&self) -> u64 {
        self.lost_random + self.lost_burst + self.lost_queue + self.lost_outage + self.lost_too_large
    }
}

impl Transport {
    /// The name for a run with these carriers.
    pub(crate) fn of(carriers: impl IntoIterator<Item = Carrier>) -> Transport {
        let mut carriers = carriers.into_iter();
        match (carriers.next(), carriers.next()) {
            (Some(Carrier::Udp), None) => Transport::UdpDtls,
            (Some(Carrier::Ws), None) => Transport::Ws,
            _ => Transport::Mixed,
        }
    }
}

/// The version of the schema that this program writes.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of the result, 2020-12.
#[cfg(test)]
pub(crate) fn schema() -> &'static str {
    include_str!("../../schema/stress.schema.json")
}

#[cfg(test)]
mod tests;
