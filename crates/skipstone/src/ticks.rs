//! The schedule of a loop's ticks: only arithmetic, without a clock.

use crate::deadline::deadline_from;
use skipstone_proto::Duration;
use std::time::Instant;

/// The schedule of a loop that runs once per interval. [`Server::wait_tick`](crate::Server::wait_tick) has one of its
/// own; this type is for loops that wait in another way.
///
/// Ticks do not drift: each is due one interval after the one before it was due. A tick that was late by less than an
/// interval is followed by a shorter pause. Ticks that are late by a whole interval or more are skipped and counted, so
/// that a loop that was stopped does not run them in a burst: the sum of ticks that ran and ticks that were skipped is
/// always the elapsed time divided by the interval.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// When the last tick was due.
    last: Option<Instant>,
}

/// The next tick of [`Ticks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tick {
    /// The time at which the tick is due: in the past, by less than an interval, if the loop is late.
    pub due: Instant,
    /// Ticks before it that are skipped, because they were due an interval ago or earlier.
    pub missed: u64,
}

impl Ticks {
    /// The tick after the last one. The first is due an interval after `now`. An interval of zero is due at once.
    pub fn next_after(&mut self, now: Instant, interval: Duration) -> Tick {
        let tick = match self.last {
            _ if interval.is_zero() => Tick { due: now, missed: 0 },
            None => Tick { due: deadline_from(now, interval), missed: 0 },
            Some(last) => following(deadline_from(last, interval), now, interval),
        };
        self.last = Some(tick.due);
        tick
    }
}

/// The tick that is due at `due`, or a later one if the loop is late by whole intervals.
fn following(due: Instant, now: Instant, interval: Duration) -> Tick {
    let late = now.saturating_duration_since(due).as_nanos();
    let (missed, rest) = (late / interval.as_nanos(), late % interval.as_nanos());
    if missed == 0 {
        return Tick { due, missed: 0 };
    }
    // The rest is shorter than an interval, of which 64 bits of nanoseconds hold 584 years.
    Tick { due: now - Duration::from_nanos(rest as u64), missed: missed as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(16);

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn ticks_do_not_drift() {
        let start = Instant::now();
        let mut ticks = Ticks::default();
        for number in 1..1_000 {
            // The work of each tick takes a different time, up to an interval.
            let now = start + INTERVAL * (number - 1) + millis(u64::from(number * 7 % 16)) * u32::from(number > 1);
            assert_eq!(ticks.next_after(now, INTERVAL), Tick { due: start + INTERVAL * number, missed: 0 });
        }
    }

    #[test]
    fn a_late_tick_is_caught_up_and_whole_intervals_are_skipped() {
        let start = Instant::now();
        let mut ticks = Ticks::default();
        let mut at = |now: u64| {
            let tick = ticks.next_after(start + millis(now), INTERVAL);
            (tick.due.duration_since(start).as_millis(), tick.missed)
        };
        assert_eq!(at(0), (16, 0));
        assert_eq!(at(47), (32, 0), "late by 15 ms: at once");
        assert_eq!(at(48), (48, 0), "back on the schedule");
        assert_eq!(at(80), (80, 1), "late by exactly an interval: the tick at 64 is missed");
        assert_eq!(at(5_007), (4_992, 306), "five seconds later there is no burst");
        assert_eq!(at(5_007), (5_008, 0));
    }

    #[test]
    fn run_and_missed_ticks_add_up_to_the_elapsed_time() {
        let start = Instant::now();
        let mut ticks = Ticks::default();
        let (mut now, mut count) = (start, 0);
        for number in 0..500 {
            let tick = ticks.next_after(now, INTERVAL);
            count += 1 + tick.missed;
            assert_eq!(tick.due, start + INTERVAL * u32::try_from(count).expect("few"));
            now = now.max(tick.due) + millis(number * number % 97);
        }
    }

    #[test]
    fn an_interval_of_any_length_has_a_tick() {
        let (mut ticks, now) = (Ticks::default(), Instant::now());
        for interval in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX, Duration::ZERO, Duration::MAX] {
            let tick = ticks.next_after(now, interval);
            assert!(tick.due >= now && tick.missed == 0, "{interval:?}: {tick:?}");
        }
        assert_eq!(ticks.next_after(now + INTERVAL, Duration::ZERO), Tick { due: now + INTERVAL, missed: 0 });
    }
}
