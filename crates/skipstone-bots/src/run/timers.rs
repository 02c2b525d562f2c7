//! What is due when. Times that move, such as deadlines, have an entry that is earlier or right: see [`Alarm`].

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
    /// A bot reads again, which has paused.
    Resume,
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

/// A time that may move at any moment, as that of a protocol's deadline does with each packet. A time that becomes
/// later leaves its entry among the timers where it is: when that comes, it is set anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Alarm {
    wanted: Option<Duration>,
    /// Its entries among the timers, the earliest last.
    entries: Vec<Duration>,
}

impl Alarm {
    /// Moves it. Returns the time of an entry that it needs.
    #[must_use]
    pub(super) fn set(&mut self, wanted: Option<Duration>) -> Option<Duration> {
        self.wanted = wanted;
        let at = wanted.filter(|at| self.entries.last().is_none_or(|entry| at < entry))?;
        self.entries.push(at);
        Some(at)
    }

    /// One of its entries is due. Returns whether it is for this time; after it, `set` is to be called.
    pub(super) fn rings(&mut self, due: Duration) -> bool {
        self.entries.pop_if(|entry| *entry == due);
        self.wanted.take_if(|wanted| *wanted == due).is_some()
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
    #[test]
    fn a_time_that_moves_with_each_packet_has_one_entry() {
        let (mut alarm, mut timers, at) = (Alarm::default(), Timers::default(), Duration::from_millis);
        for packet in 0..1000 {
            alarm.set(Some(at(30_000 + packet))).into_iter().for_each(|at| timers.set(at, TimerKind::Deadline, 0));
        }
        assert_eq!(timers.heap.len(), 1);
        let (due, ..) = timers.take_due(at(30_000)).expect("the first entry");
        assert!(!alarm.rings(due), "it has moved");
        assert_eq!(alarm.set(Some(at(30_999))), Some(at(30_999)));
        assert_eq!(alarm.set(Some(at(5))), Some(at(5)), "an earlier time needs an entry");
        assert!(alarm.rings(at(5)));
        assert_eq!(alarm.set(None), None);
        assert!(!alarm.rings(at(30_999)), "it was taken back");
        for round in 0..1000 {
            // One soon, and then again the distant one.
            assert_eq!(alarm.set(Some(at(40_000 + round))), (round == 0).then_some(at(40_000)));
            assert_eq!(alarm.set(Some(at(31_000 + round))), Some(at(31_000 + round)));
            assert!(alarm.rings(at(31_000 + round)));
        }
    }
}
