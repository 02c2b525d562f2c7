//! Spans of time as numbers of microseconds, and rates.

use crate::time::Duration;

/// Longer round trips count as this.
pub(super) const RTT_MAX_US: u32 = 20_000_000;

/// A round-trip time in microseconds for which sums cannot overflow, whatever the peer does.
pub(super) fn in_range(rtt: Duration) -> u32 {
    rtt.as_micros().clamp(1, RTT_MAX_US.into()) as u32
}

pub(super) fn micros(span: u32) -> Duration {
    Duration::from_micros(span.into())
}

/// Bytes per second for this many bytes in each round trip, in microseconds.
pub(super) fn per_second(bytes: u32, rtt: u32) -> u64 {
    u64::from(bytes) * 1_000_000 / u64::from(rtt.max(1))
}
