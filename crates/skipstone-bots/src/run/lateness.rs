//! Whether a worker kept its schedule: ticks and timers against the times at which they were due.

use serde::{Deserialize, Serialize};
use skipstone_lab::measure::stalls::StallLog;
use skipstone_lab::report::stress::judge::LATE_SEND;
use std::time::Duration;

/// What was due, and how late it happened. Times are since the run began.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lateness {
    /// Everything that came due.
    pub(crate) planned: u64,
    /// What was later than is allowed.
    pub(crate) late: u64,
    /// How late the latest was.
    pub(crate) latest: Duration,
    /// Late ones, from due to done; only where they happened, since each machine has its own stalls.
    #[serde(skip)]
    spans: Vec<(Duration, Duration)>,
}

/// Late ones that are remembered one by one.
const SPANS_MAX: usize = 100_000;

impl Lateness {
    /// Something that was due at one time was done at another.
    pub(crate) fn note(&mut self, due: Duration, done: Duration) {
        let late_by = done.saturating_sub(due);
        self.planned += 1;
        self.latest = self.latest.max(late_by);
        if late_by > LATE_SEND {
            self.late += 1;
            if self.spans.len() < SPANS_MAX {
                self.spans.push((due, done));
            }
        }
    }

    /// How many late ones the stalls of the machine explain.
    pub(crate) fn in_stalls(&self, stalls: &StallLog) -> u64 {
        self.spans.iter().filter(|(due, done)| stalls.touches(*due, *done)).count() as u64
    }

    /// Adds all of another worker's.
    pub(crate) fn merge(&mut self, other: Lateness) {
        self.planned += other.planned;
        self.late += other.late;
        self.latest = self.latest.max(other.latest);
        let room = SPANS_MAX.saturating_sub(self.spans.len());
        self.spans.extend(other.spans.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_fifty_milliseconds_are_late() {
        let mut lateness = Lateness::default();
        for late_ms in [0, 50, 51, 900] {
            lateness.note(Duration::from_secs(1), Duration::from_secs(1) + Duration::from_millis(late_ms));
        }
        let mut both = lateness.clone();
        both.merge(lateness);
        assert_eq!((both.planned, both.late, both.latest), (8, 4, Duration::from_millis(900)));
    }
}
