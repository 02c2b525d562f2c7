//! A limit on the sending rate, in bytes per second with IP headers: a token bucket beside the congestion controller,
//! which may be off. The configuration sets it; nothing on the path changes it.

use super::pacer::{Pace, Pacer};
use crate::time::Time;

/// Bytes per second that may leave, of one peer or of all.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    pacer: Pacer,
    pace: Pace,
}

/// Part of a second whose bytes may leave at once after a pause: longer than an event loop needs to come round.
const BURST_PART: u64 = 50;
/// Two full datagrams of Ethernet.
const BURST_BYTES_MIN: u64 = 3_000;

impl Bandwidth {
    /// A cap of so many bytes per second.
    pub fn new(bytes_per_second: u64) -> Self {
        let burst = (bytes_per_second / BURST_PART).max(BURST_BYTES_MIN);
        Bandwidth { pacer: Pacer::default(), pace: Pace { rate: bytes_per_second, burst } }
    }

    /// So many bytes leave now, whether the cap allows them or not.
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        self.pacer.on_sent(now, bytes, self.pace);
    }

    /// When so many bytes may leave; `now` or earlier if they may at once.
    pub fn next_send(&self, now: Time, bytes: u64) -> Time {
        self.pacer.next_send(now, bytes, self.pace)
    }

    /// Bytes per second.
    pub fn rate(&self) -> u64 {
        self.pace.rate
    }
}
