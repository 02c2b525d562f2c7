//! The time when the next datagram may be sent: a token bucket, kept as the time at which its debt is paid (the
//! "virtual scheduling" form of the generic cell rate algorithm, ITU-T I.371), so that it needs no refilling and one
//! number.

use crate::time::Time;

/// Spaces datagrams at a rate that the caller passes with each call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// When everything sent so far would have left at the pacing rate, in nanoseconds.
    paid_at: u64,
}

/// How fast packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes per second.
    pub rate: u64,
    /// Bytes that may leave at once after a pause.
    pub burst: u64,
}

/// Datagrams that leave at once while nothing waits.
pub(super) const BURST_DATAGRAMS: u32 = 10;
/// The part of a second whose bytes may leave at once.
const BURST_PART: u64 = 500;

impl Pace {
    /// This many bytes per second, and the usual burst: ten datagrams, or the bytes of 2 ms.
    pub(super) fn of_rate(rate: u64, datagram: u16) -> Self {
        Pace { rate, burst: u64::from(BURST_DATAGRAMS * u32::from(datagram)).max(rate / BURST_PART) }
    }
}

const NANOS_PER_MICRO: u64 = 1_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Pacer {
    /// This many bytes leave now.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, pace: Pace) {
        self.paid_at = self.paid_at.max(nanos(now)).saturating_add(span(bytes, pace.rate));
    }

    /// The time when this many bytes may be sent; `now` or earlier if at once. A datagram longer than the burst waits
    /// until the debt is paid, not forever.
    pub(super) fn next_send(&self, now: Time, bytes: u64, pace: Pace) -> Time {
        let credit = span(pace.burst.saturating_sub(bytes), pace.rate);
        let from = self.paid_at.saturating_sub(credit);
        if from <= nanos(now) { now } else { Time::from_micros(from.div_ceil(NANOS_PER_MICRO)) }
    }
}

fn nanos(time: Time) -> u64 {
    time.as_micros().saturating_mul(NANOS_PER_MICRO)
}

/// How long this many bytes take at a rate.
fn span(bytes: u64, rate: u64) -> u64 {
    bytes.saturating_mul(NANOS_PER_SECOND) / rate.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,200 bytes each 3 ms.
    const PACE: Pace = Pace { rate: 400_000, burst: 2_400 };

    fn at(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    #[test]
    fn a_burst_leaves_at_once_followed_by_one_datagram_per_interval() {
        let mut pacer = Pacer::default();
        let mut left = Vec::new();
        let mut now = at(1_000);
        for _ in 0..6 {
            now = pacer.next_send(now, 1_200, PACE);
            pacer.on_sent(now, 1_200, PACE);
            left.push(now);
        }
        assert_eq!(left, [1_000, 1_000, 1_003, 1_006, 1_009, 1_012].map(at));
    }

    #[test]
    fn a_pause_restores_one_burst_at_most() {
        let mut pacer = Pacer::default();
        for _ in 0..3 {
            pacer.on_sent(at(0), 1_200, PACE);
        }
        assert!(pacer.next_send(at(0), 1_200, PACE) == at(6));
        for expected in [at(10_000), at(10_000), at(10_003)] {
            assert_eq!(pacer.next_send(at(10_000), 1_200, PACE), expected);
            pacer.on_sent(at(10_000), 1_200, PACE);
        }
    }

    #[test]
    fn rounding_errors_do_not_accumulate() {
        // 1,237 bytes at 1 Gbit/s: 9.896 us, on a clock of microseconds that wakes late; a second datagram's credit
        // makes up for that.
        let pace = Pace { rate: 125_000_000, burst: 2 * 1_237 };
        let (mut pacer, mut now) = (Pacer::default(), Time::ZERO);
        for _ in 0..100_002 {
            now = pacer.next_send(now, 1_237, pace);
            pacer.on_sent(now, 1_237, pace);
        }
        assert_eq!(now, Time::from_micros(989_600));
    }

    #[test]
    fn a_datagram_longer_than_the_burst_is_still_sent() {
        let pacer = Pacer::default();
        assert_eq!(pacer.next_send(at(5), 65_000, PACE), at(5));
    }
}
