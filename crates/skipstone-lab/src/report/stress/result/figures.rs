//! Groups of figures that a result has once for all clients and once for each carrier.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::ledger::Tally;
use crate::report::copied::copied;
use crate::report::format::percent_of;

/// The lines of a run, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// Lines that clients sent.
    pub sent: u64,
    /// Deliveries that had to happen: lines times receivers.
    pub expected: u64,
    /// Of these, how many happened.
    pub delivered: u64,
    /// Of these, how many did not.
    pub lost: u64,
    /// Deliveries of a line that the receiver had already.
    pub duplicated: u64,
    /// Deliveries after a later line of the same sender.
    pub reordered: u64,
    /// Lines that arrived changed.
    pub corrupted: u64,
    /// Lines that were never sent.
    pub unexpected: u64,
    /// Chat and lines of other runs; no fault.
    pub foreign: u64,
    /// Deliveries that need not have happened: to or from clients that joined late or dropped; no fault.
    pub apart: u64,
    /// Deliveries in a second, on average.
    pub per_second: f64,
}

/// Traffic on the network, as the clients counted it; headers of IP, UDP and TCP included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// Datagrams, or WebSocket frames, from the clients.
    pub datagrams_sent: u64,
    /// Datagrams, or WebSocket frames, to the clients.
    pub datagrams_received: u64,
    /// Bytes from the clients.
    pub bytes_sent: u64,
    /// Bytes to the clients.
    pub bytes_received: u64,
    /// Bytes of lines in both, each counted once for each time it was sent or delivered.
    pub bytes_payload: u64,
    /// Bytes that the network carried beyond the lines, in percent of the lines; null without lines.
    pub overhead_percent: Option<f64>,
}

impl Messages {
    /// The ledger's counts, of `sent` lines in `elapsed`.
    pub fn from_tally(tally: &Tally, sent: u64, elapsed: Duration) -> Messages {
        let seconds = elapsed.as_secs_f64();
        copied!(tally => Messages {
            expected delivered lost duplicated reordered corrupted unexpected foreign apart;
            sent: sent,
            per_second: if seconds > 0.0 { tally.delivered as f64 / seconds } else { 0.0 },
        })
    }
}

impl Wire {
    /// The same with its overhead worked out, where there was payload.
    pub fn with_overhead(mut self) -> Wire {
        let carried = self.bytes_sent + self.bytes_received;
        self.overhead_percent = percent_of(carried, self.bytes_payload).map(|percent| percent - 100.0);
        self
    }
}
