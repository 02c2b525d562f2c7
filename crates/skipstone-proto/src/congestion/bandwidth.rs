//! A limit on the sending rate, in bytes per second with IP headers: a token bucket independent of the congestion
//! controller, which may be off. It is set by the configuration only.

use super::pacer::{Pace, Pacer};
use crate::time::Time;

/// Bytes per second that may leave, of one peer or of all.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    pacer: Pacer,
    pace: Pace,
}

/// Fraction of a second whose bytes may leave at once after a pause: longer than one round of an event loop.
const BURST_PART: u64 = 50;
/// Two full Ethernet datagrams.
const BURST_BYTES_MIN: u64 = 3_000;

impl Bandwidth {
    /// A cap of this many bytes per second.
    pub fn new(bytes_per_second: u64) -> Self {
        let burst = (bytes_per_second / BURST_PART).max(BURST_BYTES_MIN);
        Bandwidth { pacer: Pacer::default(), pace: Pace { rate: bytes_per_second, burst } }
    }

    /// This many bytes leave now, whether the cap allows them or not.
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        self.pacer.on_sent(now, bytes, self.pace);
    }

    /// The time at which this many bytes may leave; `now` or earlier if at once.
    pub fn next_send(&self, now: Time, bytes: u64) -> Time {
        self.pacer.next_send(now, bytes, self.pace)
    }

    /// Bytes per second.
    pub fn rate(&self) -> u64 {
        self.pace.rate
    }
}
