//! The messages between the processes of a real comparison: a task as an argument, then lines of JSON.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skipstone::netsim::LinkConfig;

use crate::compare::condition::Condition;
use crate::compare::contender::Contender;
use crate::compare::delivery::Delivery;
use crate::compare::packet_logs::QlogPlace;
use crate::compare::peers::peer::Telemetry;
use crate::compare::plan::Bulk;
use crate::compare::proof::UpdateCounts;
use crate::compare::series::RunSeries;
use crate::compare::transport::Transport;
use crate::recording::schedule::PlayedRecording;
use crate::units::Mode;

/// The task of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct EndTask {
    pub(super) role: Role,
    pub(super) transport: Transport,
    pub(super) mode: Option<Mode>,
    pub(super) seed: u64,
    /// The namespace to enter; without one, the process stays in its own.
    pub(super) namespace: Option<String>,
    /// Where it writes its packet events, if it does.
    pub(super) qlog: Option<QlogPlace>,
    pub(super) workload: RealWorkload,
}

/// Which end of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    /// Listens here, a port of 0 being any.
    Server { listen: String },
    /// Connects to the server, and measures.
    Client { connect: String },
}

/// The messages, and what an expert-tuned transport knows about the path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RealWorkload {
    lasting_us: u64,
    entities: u16,
    ticks_per_second: u32,
    payload_bytes: usize,
    /// Each process reads the file again, because an argument only has room for its name.
    recording: Option<PlayedRecording>,
    delivery: Option<Delivery>,
    bulk: Option<Bulk>,
    waiting_max: Option<u32>,
    patience_us: u64,
    delay_us: [u64; 2],
    datagram_bytes_max: Option<usize>,
}

impl RealWorkload {
    pub(super) fn of(condition: &Condition) -> RealWorkload {
        let micros = |span: Duration| span.as_micros() as u64;
        RealWorkload {
            lasting_us: micros(condition.lasting),
            entities: condition.entities,
            ticks_per_second: condition.ticks_per_second,
            payload_bytes: condition.payload_bytes,
            recording: condition.schedule.as_ref().map(|schedule| schedule.source.clone()),
            delivery: condition.delivery,
            bulk: condition.bulk,
            waiting_max: condition.waiting_max,
            patience_us: micros(condition.patience),
            delay_us: [micros(condition.link.delay), micros(condition.back.delay)],
            datagram_bytes_max: condition.link.datagram_bytes_max,
        }
    }

    /// The condition in the form that the ends of transports accept.
    pub(super) fn condition(&self) -> Result<Condition, String> {
        let link = |delay: u64| LinkConfig {
            delay: Duration::from_micros(delay),
            datagram_bytes_max: self.datagram_bytes_max,
            ..LinkConfig::default()
        };
        let schedule = self.recording.as_ref().map(Condition::schedule).transpose()?;
        Ok(Condition {
            plan: String::new(),
            name: None,
            lasting: Duration::from_micros(self.lasting_us),
            entities: self.entities,
            ticks_per_second: self.ticks_per_second,
            payload_bytes: self.payload_bytes,
            schedule,
            delivery: self.delivery,
            bulk: self.bulk,
            link: link(self.delay_us[0]),
            back: link(self.delay_us[1]),
            roam_every: None,
            waiting_max: self.waiting_max,
            patience: Duration::from_micros(self.patience_us),
            beside: Vec::new(),
            words: Default::default(),
        })
    }
}

impl EndTask {
    pub(super) fn contender(&self) -> Contender {
        Contender { transport: self.transport, mode: self.mode, external: None }
    }
}

/// A message of a process to the one that started it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndMessage {
    /// The server listens; clients connect to this.
    Listening { address: String },
    /// The connection was established after this time; the first update leaves now, or, if each end sends its own
    /// updates, at this time of the clock that all processes share.
    Connected { ms: f64, first_us: Option<u64> },
    /// If each end sends its own updates: the client has sent and received everything. It continues until the server
    /// reports the same.
    Played,
    /// All is over.
    Done(Box<EndReport>),
    /// A server's counters, after the end of the run.
    Served { telemetry: Telemetry, own: OwnFindings },
    /// It cannot continue.
    Failed { reason: String },
}

/// The findings of a server that sends its own updates and receives the client's; empty for other servers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct OwnFindings {
    /// The client's updates: entity, sequence, arrival time by the clock that all processes share, bytes.
    pub(super) arrived: Vec<(u16, u32, u64, usize)>,
    pub(super) corrupted: u64,
    /// Entities whose updates a full queue took not.
    pub(super) refused: Vec<u16>,
}

/// Begins the line that tells a server when the first update is due.
pub(super) const BEGIN_AT: &str = "begin ";

/// The message to a server at the end.
pub(super) const OVER: &str = "over";

/// The client's findings.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct EndReport {
    pub(super) connect_us: Option<u64>,
    pub(super) counts: UpdateCounts,
    /// From the tick to the delivery of the echo, in µs, sorted.
    pub(super) latencies_us: Vec<u32>,
    /// The samples that overlap no stall of the machine.
    pub(super) calm_us: Vec<u32>,
    /// How often the machine stalled and the longest stall, as measured in the client's process.
    pub(super) stalls: u64,
    pub(super) longest_stall_us: u64,
    pub(super) telemetry: Telemetry,
    pub(super) series: RunSeries,
    /// When the first update was due, by the clock that all processes share.
    pub(super) first_due_us: Option<u64>,
    pub(super) cpu_percent: Option<f64>,
}
