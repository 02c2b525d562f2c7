//! The clients of a run, the cost of their process, and the stalls of its machine: of a run on one machine, or of each
//! of several.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The clients of a run or of one carrier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientCounts {
    /// How many there should have been.
    pub asked: u64,
    /// How many were ever connected.
    pub connected: u64,
    /// How many of these lost their connection before the end.
    pub dropped: u64,
    /// Clients that did not connect or were dropped, by reason.
    pub drops_by_reason: BTreeMap<String, u64>,
}

/// The cost of the clients' process, and whether it kept its schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// CPU time in percent of one core; `None` where the system does not report it.
    pub cpu_percent: Option<f64>,
    /// Sends later than 50 ms after they were due.
    pub late_sends: u64,
    /// Of these, how many while the machine stalled.
    pub late_sends_in_stalls: u64,
    /// Lines that were due while their client was connected.
    pub planned_sends: u64,
    /// How late the latest send was.
    pub latest_send_ms: f64,
    /// Cores that it could use.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub cores: u64,
    /// Resident memory at the end.
    pub rss_bytes: Option<u64>,
    /// How long its threads waited for a CPU.
    pub run_queue_wait_ms: Option<f64>,
}

/// When nothing on the machine was punctual: a thread that only sleeps was woken 2 ms late or later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// How often.
    pub count: u64,
    /// How often it was the machine, and not other threads that used the CPU.
    pub machine_count: u64,
    /// The longest.
    pub longest_ms: f64,
    /// All together.
    pub total_ms: f64,
}
