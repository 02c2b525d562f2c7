//! The slowest part of a path: the link serialises datagrams at a rate or at recorded opportunities, the queue holds
//! those that arrive too fast, and a full queue drops the newest.

use core::time::Duration;
use std::collections::VecDeque;

use crate::config::QueueLimit;
use crate::opportunities::{Opportunities, Playback};

/// How fast the link serialises.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace<'a> {
    /// Bits a second.
    Rate(u64),
    /// At the moments of these opportunities, with a fixed number of bytes each.
    Opportunities(&'a Opportunities),
}

/// The queue in front of a rate, in order of arrival at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bottleneck {
    /// The time at which the last datagram accepted so far has been serialised.
    busy_until: Duration,
    /// Remainder of rounding to nanoseconds, in nanoseconds times the rate, so that a long run does not drift.
    remainder: u128,
    playback: Playback,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    bytes_peak: usize,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    starts: Duration,
    bytes: usize,
}

impl Bottleneck {
    /// Takes in `bytes` (headers included) and returns when they have been serialised; `None` if the queue is full.
    pub(crate) fn accept(
        &mut self,
        now: Duration,
        bytes: usize,
        pace: Pace<'_>,
        limit: QueueLimit,
    ) -> Option<Duration> {
        self.start_waiting(now);
        let idle = self.busy_until <= now;
        if idle {
            self.busy_until = now;
            self.remainder = 0;
        } else if self.is_full(now, bytes, limit) {
            return None;
        } else {
            self.enqueue(bytes);
        }
        self.busy_until = match pace {
            Pace::Rate(rate) => self.busy_until.saturating_add(self.serialise(bytes, rate)),
            Pace::Opportunities(opportunities) => self.playback.carry(self.busy_until, bytes, opportunities),
        };
        Some(self.busy_until)
    }

    /// The time that a datagram sent now waits before it is serialised.
    pub(crate) fn wait(&self, now: Duration) -> Duration {
        self.busy_until.saturating_sub(now)
    }

    /// The rate has changed: waiting datagrams keep their times, later ones take the new rate.
    pub(crate) fn on_pace_change(&mut self) {
        self.remainder = 0;
        self.playback = Playback::default();
    }

    /// The most bytes that ever waited at once.
    pub(crate) fn bytes_peak(&self) -> usize {
        self.bytes_peak
    }

    fn start_waiting(&mut self, now: Duration) {
        while let Some(first) = self.waiting.front()
            && first.starts <= now
        {
            self.waiting_bytes -= first.bytes;
            self.waiting.pop_front();
        }
    }

    fn is_full(&self, now: Duration, bytes: usize, limit: QueueLimit) -> bool {
        match limit {
            QueueLimit::Unlimited => false,
            QueueLimit::Bytes(bytes_max) => self.waiting_bytes.saturating_add(bytes) > bytes_max,
            QueueLimit::Time(longest) => self.busy_until.saturating_sub(now) > longest,
        }
    }

    fn enqueue(&mut self, bytes: usize) {
        self.waiting.push_back(Waiting { starts: self.busy_until, bytes });
        self.waiting_bytes += bytes;
        self.bytes_peak = self.bytes_peak.max(self.waiting_bytes);
    }

    fn serialise(&mut self, bytes: usize, rate: u64) -> Duration {
        let rate = u128::from(rate);
        let work = bytes as u128 * 8 * NANOSECONDS_PER_SECOND + self.remainder;
        self.remainder = work % rate;
        Duration::from_nanos(u64::try_from(work / rate).unwrap_or(u64::MAX))
    }
}

const NANOSECONDS_PER_SECOND: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_odd_sized_datagrams_do_not_drift() {
        let mut bottleneck = Bottleneck::default();
        // 8 bits at 3 Gbit/s: two and two thirds nanoseconds each.
        let mut departs = None;
        for _ in 0..3_000_000 {
            departs = bottleneck.accept(Duration::ZERO, 1, Pace::Rate(3_000_000_000), QueueLimit::Unlimited);
        }
        assert_eq!(departs, Some(Duration::from_millis(8)));
    }

    #[test]
    fn a_pause_leaves_no_remainder() {
        let mut bottleneck = Bottleneck::default();
        for second in 0..10 {
            let now = Duration::from_secs(second);
            let departs = bottleneck.accept(now, 1, Pace::Rate(3_000_000_000), QueueLimit::Unlimited);
            assert_eq!(departs, Some(now + Duration::from_nanos(2)));
        }
    }

    #[test]
    fn the_queue_forgets_serialised_datagrams() {
        let mut bottleneck = Bottleneck::default();
        // 125 bytes at 1 Mbit/s: 1 ms each. Sent at twice the rate for a while, then at the rate of the link.
        for number in 0..100 {
            bottleneck.accept(
                Duration::from_micros(500 * number),
                125,
                Pace::Rate(1_000_000),
                QueueLimit::Bytes(1_000),
            );
        }
        for number in 0..10_000 {
            let now = Duration::from_millis(100 + number);
            assert_eq!(
                bottleneck.accept(now, 125, Pace::Rate(1_000_000), QueueLimit::Bytes(1_000)),
                Some(now + Duration::from_millis(1))
            );
        }
        assert!(bottleneck.waiting.is_empty());
        assert!(bottleneck.waiting.capacity() <= 16, "never more than eight wait");
        assert_eq!(bottleneck.bytes_peak(), 1_000);
    }
}
