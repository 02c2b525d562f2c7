//! Groups of figures that a result has once for all clients and once for each carrier.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::ledger::Tally;

/// The lines of a run, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Messages {
    /// Lines that clients sent.
    pub(crate) sent: u64,
    /// Deliveries that had to happen: lines times receivers.
    pub(crate) expected: u64,
    /// Of these, how many happened.
    pub(crate) delivered: u64,
    /// Of these, how many did not.
    pub(crate) lost: u64,
    /// Deliveries of a line that the receiver had already.
    pub(crate) duplicated: u64,
    /// Deliveries after a later line of the same sender.
    pub(crate) reordered: u64,
    /// Lines that arrived changed.
    pub(crate) corrupted: u64,
    /// Lines that nobody sent.
    pub(crate) unexpected: u64,
    /// Chat and lines of other runs; no fault.
    pub(crate) foreign: u64,
    /// Deliveries that need not have happened: to or from clients that joined late or dropped; no fault.
    pub(crate) apart: u64,
    /// Deliveries in a second, on average.
    pub(crate) per_second: f64,
}

/// How long lines took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LatencyMs {
    /// Half of the lines took no longer.
    pub(crate) p50: f64,
    /// 90% took no longer.
    pub(crate) p90: f64,
    /// 99% took no longer.
    pub(crate) p99: f64,
    /// 99.9% took no longer.
    pub(crate) p999: f64,
    /// 99.99% took no longer.
    pub(crate) p9999: f64,
    /// None took longer.
    pub(crate) max: f64,
}

/// How long something took that happens once for each client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpreadMs {
    /// Half took no longer.
    pub(crate) p50: f64,
    /// 99% took no longer.
    pub(crate) p99: f64,
    /// None took longer.
    pub(crate) max: f64,
}

/// What went over the network, as the clients counted it; headers of IP, UDP and TCP included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wire {
    /// Datagrams, or WebSocket frames, from the clients.
    pub(crate) datagrams_sent: u64,
    /// Datagrams, or WebSocket frames, to the clients.
    pub(crate) datagrams_received: u64,
    /// Bytes from the clients.
    pub(crate) bytes_sent: u64,
    /// Bytes to the clients.
    pub(crate) bytes_received: u64,
    /// Bytes of lines in both, each counted once for each time it was sent or delivered.
    pub(crate) bytes_payload: u64,
    /// What the network carried beyond the lines, in percent of the lines.
    pub(crate) overhead_percent: f64,
}

impl Messages {
    /// What the ledger found, of `sent` lines in `elapsed`.
    pub(crate) fn from_tally(tally: &Tally, sent: u64, elapsed: Duration) -> Messages {
        let seconds = elapsed.as_secs_f64();
        Messages {
            sent,
            expected: tally.expected,
            delivered: tally.delivered,
            lost: tally.lost,
            duplicated: tally.duplicated,
            reordered: tally.reordered,
            corrupted: tally.corrupted,
            unexpected: tally.unexpected,
            foreign: tally.foreign,
            apart: tally.apart,
            per_second: if seconds > 0.0 { tally.delivered as f64 / seconds } else { 0.0 },
        }
    }
}

impl Wire {
    /// The same with its overhead worked out; 0 where there was no payload.
    pub(crate) fn with_overhead(mut self) -> Wire {
        let carried = (self.bytes_sent + self.bytes_received) as f64;
        let payload = self.bytes_payload as f64;
        self.overhead_percent = if payload > 0.0 { 100.0 * (carried - payload) / payload } else { 0.0 };
        self
    }
}
