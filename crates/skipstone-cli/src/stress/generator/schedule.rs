//! The schedule of lines, and how it was kept.

use skipstone_lab::report::stress::judge::LATE_SEND;
use std::time::Duration;

/// The schedule of lines, and how it was kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Which round of lines, and which client's turn in it.
    pub(super) next: (u64, u32),
    /// Lines that came due while their client was connected.
    pub(crate) planned: u64,
    /// When the first of them was, since the epoch.
    first_at: Option<Duration>,
    /// Spans from due to sent of the late ones, since the epoch.
    pub(crate) late: Vec<(Duration, Duration)>,
    pub(crate) late_count: u64,
    pub(crate) latest: Duration,
    /// The latest since the live view last looked.
    pub(crate) latest_recent: Duration,
}

/// Late sends that are remembered one by one.
const LATE_MAX: usize = 100_000;

impl Schedule {
    /// Lines came due at this time since the epoch.
    pub(super) fn plan(&mut self, count: u64, at: Duration) {
        self.planned += count;
        self.first_at = self.first_at.or((count > 0).then_some(at));
    }

    /// For how long lines have been due, at this time since the epoch.
    pub(super) fn span(&self, now: Duration) -> Duration {
        self.first_at.map_or(Duration::ZERO, |first| now.saturating_sub(first))
    }

    pub(super) fn note(&mut self, due: Duration, sent: Duration) {
        let late_by = sent - due;
        self.latest = self.latest.max(late_by);
        self.latest_recent = self.latest_recent.max(late_by);
        if late_by > LATE_SEND {
            self.late_count += 1;
            if self.late.len() < LATE_MAX {
                self.late.push((due, sent));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_timeout_starts_with_the_first_line() {
        let (mut schedule, now) = (Schedule::default(), Duration::from_secs(60));
        schedule.plan(0, Duration::from_secs(1));
        assert_eq!(schedule.span(now), Duration::ZERO, "no line was due");
        schedule.plan(1, Duration::from_secs(59));
        schedule.plan(1, now);
        assert_eq!((schedule.span(now), schedule.planned), (Duration::from_secs(1), 2));
    }
}
