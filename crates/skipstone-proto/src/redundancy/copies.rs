//! Copies of retransmissions: the same content is sent several times, spaced, so that another loss does not delay it
//! again.

use crate::time::{Duration, Time};
use std::collections::VecDeque;

/// The copies that are still to be sent, in the order of their times.
#[derive(Debug, Default)]
pub struct CopySchedule(VecDeque<ScheduledCopy>);

/// A copy of a packet's content that will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledCopy {
    /// Time of the copy.
    pub due: Time,
    /// The packet whose content is copied.
    pub packet: u64,
    /// Number of further copies after it.
    pub remaining: u8,
}

/// Maximum number of waiting copies; content beyond this limit is sent once, like any other.
const COPIES_MAX: usize = 256;

impl CopySchedule {
    /// Schedules `count` copies of a packet's content, the first after `spacing`.
    pub fn push(&mut self, now: Time, spacing: Duration, packet: u64, count: u8) {
        if count > 0 && self.0.len() < COPIES_MAX {
            let due = self.0.back().map_or(Time::ZERO, |last| last.due).max(now + spacing);
            self.0.push_back(ScheduledCopy { due, packet, remaining: count - 1 });
        }
    }

    /// Time at which the next is due.
    pub fn due(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |copy| copy.due)
    }

    /// The next that is due by now.
    pub fn pop_due(&mut self, now: Time) -> Option<ScheduledCopy> {
        self.0.pop_front_if(|copy| copy.due <= now)
    }

    /// Drops all copies: the peer is silent.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_sent_on_time_and_count_down() {
        let mut copies = CopySchedule::default();
        let now = Time::from_micros(1_000);
        let spacing = Duration::from_micros(400);
        copies.push(now, spacing, 7, 2);
        copies.push(now, spacing, 8, 0);
        assert_eq!(copies.due(), now + spacing);
        assert_eq!(copies.pop_due(now), None);
        let copy = copies.pop_due(now + spacing);
        assert_eq!(copy, Some(ScheduledCopy { due: now + spacing, packet: 7, remaining: 1 }));
        assert_eq!(copies.due(), Time::NEVER);
    }
}
