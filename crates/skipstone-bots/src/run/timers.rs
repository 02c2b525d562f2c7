//! What is due when. A timer that was set anew has two entries, of which only the latter counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The timers of a worker. Times are since the run began.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Duration, TimerKind, usize)>>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TimerKind {
    /// A bot begins.
    Start,
    /// A bot's connection has a deadline.
    Deadline,
    /// A function of a bot waited until now.
    Wake,
    /// A bot's tick.
    Tick,
    /// A bot's time is over.
    Stop,
    /// Once a second: what is sampled.
    Sample,
    /// A mark of the worker's own, by which it knows whether it is punctual without ticks.
    Beat,
}

impl Timers {
    pub(super) fn set(&mut self, at: Duration, kind: TimerKind, slot: usize) {
        self.heap.push(Reverse((at, kind, slot)));
    }

    /// When the next is due.
    pub(super) fn next(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next that is due.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(Duration, TimerKind, usize)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(timer)| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_by_time_and_not_early() {
        let mut timers = Timers::default();
        let at = Duration::from_millis;
        timers.set(at(5), TimerKind::Tick, 1);
        timers.set(at(3), TimerKind::Wake, 2);
        timers.set(at(3), TimerKind::Deadline, 3);
        assert_eq!(timers.take_due(at(2)), None);
        assert_eq!(timers.take_due(at(4)), Some((at(3), TimerKind::Deadline, 3)));
        assert_eq!(timers.take_due(at(4)), Some((at(3), TimerKind::Wake, 2)));
        assert_eq!((timers.take_due(at(4)), timers.next()), (None, Some(at(5))));
    }
}
