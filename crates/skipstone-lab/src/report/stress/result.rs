//! The JSON result of a stress run. `schema/stress.schema.json` says the same to other programs, and is derived from
//! these types. A change of meaning raises [`SCHEMA_VERSION`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skipstone::netsim::LinkStats;

use crate::report::copied::copied;
use crate::units::Carrier;

pub use self::counts::{ClientCounts, Generator, Stalls};
pub use self::figures::{Messages, Wire};
pub use self::fleet::{AgentResult, Fleet, FleetClock};
pub use self::presence::Presence;
pub use self::protocol::{Protocol, Side};
pub use self::shard::Shard;
pub use crate::measure::latency::{LatencyMs, SpreadMs};
pub use crate::measure::machine::Machine;
pub use crate::report::thresholds::ThresholdResult;
pub use crate::report::verdict::Verdict;

mod blank;
mod counts;
mod figures;
mod fleet;
mod presence;
pub mod protocol;
mod shard;

/// Everything that a stress run found, and what is needed to run it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StressResult {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Filled in by the judge.
    pub verdict: Verdict,
    /// Why it is not a pass, one sentence each; filled in by the judge.
    pub reasons: Vec<String>,
    /// Replays the random choices.
    pub seed: u64,
    /// The transport of the clients' packets.
    pub transport: StressTransport,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When the run began: RFC 3339, UTC.
    #[cfg_attr(test, schemars(extend("pattern" = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")))]
    pub started: String,
    /// How long lines were sent, in seconds.
    pub duration_s: f64,
    /// The plan that was asked for.
    pub plan: StressPlan,
    /// Where it ran.
    pub machine: Machine,
    /// The clients.
    pub clients: ClientCounts,
    /// The lines.
    pub messages: Messages,
    /// From the moment a line was due to the moment it arrived; `None` when nothing arrived.
    pub latency_ms: Option<LatencyMs>,
    /// Traffic on the network, as the clients counted it.
    pub wire: Wire,
    /// The cost of the server; `None` when it is remote.
    pub server: Option<ServerResult>,
    /// Whether the server was there, and did what a stress run needs.
    pub presence: Presence,
    /// The cost of the clients, and whether they kept their schedule.
    pub generator: Generator,
    /// The same by carrier, for those that had clients.
    pub carriers: Vec<CarrierResult>,
    /// How long it took to begin and to end.
    pub timing: Timing,
    /// The simulated link; `None` when there was none.
    pub impairment: Option<Impairment>,
    /// Counters of the protocol beneath the lines.
    pub protocol: Protocol,
    /// Clients that changed their ports; `None` when none was to.
    pub roaming: Option<Roaming>,
    /// Clients that came back after a restart; `None` when none was to.
    pub returns: Option<Returns>,
    /// When nothing on the machine was punctual; `None` when it was not watched.
    pub stalls: Option<Stalls>,
    /// The machines of a run on several; `None` for a run on one.
    pub fleet: Option<Fleet>,
    /// The conditions on the command line; filled in by the judge.
    pub thresholds: Vec<ThresholdResult>,
}

/// The transport of the clients' packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StressTransport {
    /// More than one carrier.
    #[default]
    Mixed,
    /// The native protocol alone, encrypted by TLS 1.3 and packets of its own.
    UdpTls,
    /// The native protocol alone, in DTLS sessions.
    UdpDtls,
    /// The native protocol alone, in clear.
    UdpPlain,
    /// WebSocket alone.
    Ws,
    /// WebSocket over TLS alone.
    Wss,
    /// TCP without WebSocket alone.
    Tcp,
    /// WebSocket from browsers alone.
    Browser,
    /// WebTransport from browsers alone.
    WebTransport,
}

/// The plan that was asked for. Texts are as the options take them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StressPlan {
    /// The server; `None` for one of the run's own.
    pub url: Option<String>,
    /// Lines that each client sends: "1/s".
    pub rate: String,
    /// How long each line is: "sentence" or bytes.
    pub size: String,
    /// Clients by carrier: "udp=200,ws=100".
    pub mix: String,
    /// How long lines are to be sent, in seconds.
    pub duration_s: f64,
    /// Over how long the clients connect, in seconds.
    pub ramp_s: f64,
    /// How messages are merged into packets; `None` when the server decides.
    pub merge: Option<String>,
    /// How loss is answered: "lean"; `None` for the default, or as a server decides that is not the run's own.
    pub redundancy: Option<String>,
    /// The budget of redundancy: "40%"; `None` as above.
    pub redundancy_budget: Option<String>,
    /// The congestion controller; `None` for the default.
    pub congestion: Option<String>,
}

/// The cost of the server while lines were sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServerResult {
    /// CPU time in percent of one core; `None` where the system does not report it.
    pub cpu_percent: Option<f64>,
    /// CPU time for each line delivered, in microseconds.
    pub cpu_us_per_delivery: Option<f64>,
    /// Resident memory at the end.
    pub rss_bytes: Option<u64>,
    /// Ticks of its loop in a second; `None` when it did not say.
    pub ticks_per_second: Option<f64>,
    /// Its longest tick.
    pub slowest_tick_ms: Option<f64>,
    /// How long its threads waited for a CPU.
    pub run_queue_wait_ms: Option<f64>,
    /// The load of each of its shards at the end; empty when the server did not say.
    pub shards: Vec<Shard>,
}

/// The findings of one carrier's clients. They receive lines of all clients; a line counts where it was received.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CarrierResult {
    /// Which.
    pub carrier: Carrier,
    /// Its clients.
    pub clients: ClientCounts,
    /// Lines that its clients sent, and received.
    pub messages: Messages,
    /// Latency of the lines that its clients received.
    pub latency_ms: Option<LatencyMs>,
    /// Traffic on the network, as its clients counted it.
    pub wire: Wire,
    /// How long its clients took to connect.
    pub connect_ms: Option<SpreadMs>,
}

/// How long it took to begin and to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// From a client's first packet until it was connected; `None` when none was.
    pub connect_ms: Option<SpreadMs>,
    /// From the first attempt until the last client was connected.
    pub ramp_ms: f64,
    /// From the order to close until everything was closed.
    pub close_ms: f64,
}

/// The simulated link between clients and server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Impairment {
    /// The options that were asked for: "loss" is "2%".
    pub settings: BTreeMap<String, String>,
    /// The counters of the links towards the server.
    pub to_server: LinkCounts,
    /// The counters of the links towards the clients.
    pub to_clients: LinkCounts,
}

/// Clients that changed their ports while they talked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Roaming {
    /// How often each did.
    pub every_ms: f64,
    /// How often all of them did.
    pub moves: u64,
    /// New addresses that proved themselves to the server; `None` when it is remote.
    pub path_changes: Option<u64>,
    /// Connections made in place of ones that were lost.
    pub reconnects: u64,
}

/// Clients that came back when their server restarted; the lines are those that their own senders got back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Returns {
    /// Connections that ended because the server restarted.
    pub restarts: u64,
    /// Times that a client was away and came back.
    pub returned: u64,
    /// Clients that had not come back when the run ended; they count as dropped.
    pub missing: u64,
    /// The longest time that one of them was away.
    pub longest_away_ms: f64,
    /// Lines that their senders got back.
    pub lines_acknowledged: u64,
    /// Lines that they did not: sent while the connection ended.
    pub lines_unacknowledged: u64,
}

/// The fate of the datagrams that simulated links were given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkCounts {
    /// Handed to the links, whatever became of them.
    pub sent: u64,
    /// Handed to the receivers, copies included.
    pub delivered: u64,
    /// Lost one by one, at random.
    pub lost_random: u64,
    /// Lost in bursts.
    pub lost_burst: u64,
    /// Lost because the queue was full.
    pub lost_queue: u64,
    /// Lost because the link was down.
    pub lost_outage: u64,
    /// Lost because they were larger than the link carries.
    pub lost_too_large: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Delivered after one that was sent later.
    pub reordered: u64,
    /// Sent on with flipped bits.
    pub corrupted: u64,
}

impl From<&LinkStats> for LinkCounts {
    fn from(stats: &LinkStats) -> LinkCounts {
        copied!(stats => LinkCounts {
            sent delivered lost_random lost_burst lost_queue lost_outage lost_too_large duplicated reordered corrupted
        })
    }
}

impl LinkCounts {
    /// All that did not arrive, for whatever reason.
    pub fn lost(&self) -> u64 {
        self.lost_random + self.lost_burst + self.lost_queue + self.lost_outage + self.lost_too_large
    }
}

impl StressTransport {
    /// The name for a run with these carriers.
    pub fn of(carriers: impl IntoIterator<Item = Carrier>) -> StressTransport {
        let mut carriers = carriers.into_iter();
        match (carriers.next(), carriers.next()) {
            (Some(Carrier::Udp), None) => StressTransport::UdpTls,
            (Some(Carrier::Ws), None) => StressTransport::Ws,
            (Some(Carrier::Wss), None) => StressTransport::Wss,
            (Some(Carrier::Tcp), None) => StressTransport::Tcp,
            (Some(Carrier::Dtls), None) => StressTransport::UdpDtls,
            (Some(Carrier::Browser), None) => StressTransport::Browser,
            (Some(Carrier::Wt), None) => StressTransport::WebTransport,
            _ => StressTransport::Mixed,
        }
    }
}

/// The version of the schema that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

#[cfg(test)]
mod tests;
