//! The share of repairs that a path gets: all of them soon where no queue shows, halved while there is one, and then
//! growing slowly, like the window of a flow (additive increase, multiplicative decrease).

use crate::time::{Duration, Time};

/// The share of the repairs required by the path's losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct RepairShare {
    part: f32,
    /// Whether a queue was seen, and the end of the current round trip.
    had_queue: bool,
    round_until: Time,
    /// Time until which the path is new.
    new_until: Time,
    /// The carrier has its own controller, which makes queues that this side does not cause.
    has_foreign_queues: bool,
}

/// The time from zero to the whole after a queue, in seconds.
const GROWTH: f32 = 20.0;
/// The share of a path once a round-trip time was measured, which is also the minimum.
const PART_MIN: f32 = 0.125;
/// Time for which a path is new where this side does not cause the queues: about as long as its losses are a guess.
const NEW: Duration = Duration::from_secs(3);

impl Default for RepairShare {
    fn default() -> Self {
        RepairShare {
            part: 0.0,
            had_queue: false,
            round_until: Time::ZERO,
            new_until: Time::NEVER,
            has_foreign_queues: false,
        }
    }
}

impl RepairShare {
    /// Queues come from the carrier's own controller: once the path is no longer new, they do not reduce the share.
    pub(super) fn expect_foreign_queues(&mut self) {
        self.has_foreign_queues = true;
    }

    /// A round-trip time was measured. On a new path redundancy doubles with each round trip (slow start), and halves
    /// when a queue shows: on a slow path with a long round trip, the full share at once would build a queue of seconds
    /// before the first answer reveals it. After a queue it returns slowly. On a path of short round trips the whole
    /// share is reached before a queue can show, so this never ends.
    pub(super) fn on_sample(&mut self, now: Time, rtt: Duration, has_queue: bool) {
        self.new_until = self.new_until.min(now + NEW);
        let is_settled = self.has_foreign_queues && now >= self.new_until && self.part >= 1.0;
        if now < self.round_until || is_settled {
            return;
        }
        self.round_until = now + rtt;
        let changed = match has_queue {
            true => self.part / 2.0,
            false if self.had_queue => self.part + rtt.as_secs_f32() / GROWTH,
            false => self.part * 2.0,
        };
        self.part = changed.clamp(PART_MIN, 1.0);
        self.had_queue |= has_queue;
    }

    /// Between 0 and 1.
    pub(super) fn part(&self) -> f32 {
        self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    /// The parts of repairs after samples 5 ms apart, with a round trip of 50 ms; in these a queue shows.
    fn parts(share: &mut RepairShare, from: u64, samples: u64, has_queue: impl Fn(u64) -> bool) -> Vec<f32> {
        let mut parts = vec![share.part()];
        for sample in 0..samples {
            share.on_sample(at(from + sample * 5), Duration::from_millis(50), has_queue(sample));
            parts.push(share.part());
        }
        parts.dedup();
        parts
    }

    #[test]
    fn a_new_path_gets_full_redundancy_after_four_round_trips_without_a_queue() {
        let mut share = RepairShare::default();
        assert_eq!(parts(&mut share, 1_000, 50, |_| false), [0.0, 0.125, 0.25, 0.5, 1.0]);
    }

    #[test]
    fn a_queue_on_a_new_path_halves_redundancy_which_recovers_slowly() {
        let mut share = RepairShare::default();
        let after = parts(&mut share, 1_000, 60, |sample| sample >= 40);
        assert_eq!(after, [0.0, 0.125, 0.25, 0.5, 1.0, 0.5, 0.25], "once a round trip, though all of it was there");
        parts(&mut share, 2_000, 1_000, |_| false);
        assert!((share.part() - 0.5).abs() < 0.01, "{}", share.part());
        parts(&mut share, 7_000, 4_000, |_| false);
        assert_eq!(share.part(), 1.0);
    }

    #[test]
    fn a_queue_always_reduces_redundancy_except_on_congestion_controlled_carriers() {
        let mut share = RepairShare::default();
        parts(&mut share, 1_000, 700, |_| false);
        assert_eq!(parts(&mut share, 5_000, 25, |_| true), [1.0, 0.5, 0.25, 0.125]);
        let mut share = RepairShare::default();
        share.expect_foreign_queues();
        parts(&mut share, 1_000, 700, |_| false);
        assert_eq!(parts(&mut share, 5_000, 100, |_| true), [1.0]);
    }
}
