//! Packets that were recovered from repairs and may still arrive: on a path that reorders, most do. There a recovery is
//! reported only once the packet is later than others were: until then it is not known to be lost, and a sender that
//! considered it lost would send repairs against reordering.

use crate::time::{Duration, Time};
use std::collections::VecDeque;

/// The recently recovered packets, and how often and how late their originals arrived.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    /// Recent recoveries, in order.
    lately: VecDeque<Recovery>,
    /// The share of recovered packets that arrived later, smoothed: 0 to 1.
    came: f32,
    /// Time from the recovery to the arrival: approximately the longest.
    late_by: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    number: u64,
    at: Time,
    /// The time to report it as lost and recovered; `None` once that is done.
    report_at: Option<Time>,
}

/// A packet that arrives later than this counts as lost.
const LATE_MAX: Duration = Duration::from_millis(100);
/// Maximum number of recoveries that are remembered.
const LATELY_MAX: usize = 64;
/// The weight of one recovery in the share.
const WEIGHT: f32 = 1.0 / 8.0;
/// From this share on, a packet that is missing is more likely late than lost.
const MOSTLY: f32 = 0.5;
/// The fraction by which the longest time falls with each packet that arrives sooner.
const LATE_BY_FADES: u32 = 256;

impl Recovered {
    /// A packet was recovered; whether the report of it waits, for a quarter longer than others were late.
    pub(super) fn on_recovered(&mut self, now: Time, number: u64) -> bool {
        self.forget(now);
        let waits = self.came >= MOSTLY && self.lately.len() < LATELY_MAX;
        let report_at = waits.then(|| now + self.late_by * 5 / 4);
        if self.lately.len() < LATELY_MAX {
            self.lately.push_back(Recovery { number, at: now, report_at });
        }
        waits
    }

    /// A packet that was received or recovered before arrived again. Returns whether its recovery was not reported yet.
    pub(super) fn on_late(&mut self, now: Time, number: u64) -> bool {
        let Some(index) = self.lately.iter().position(|recovery| recovery.number == number) else { return false };
        let Some(recovery) = self.lately.remove(index) else { return false };
        let late_by = now.since(recovery.at).min(LATE_MAX);
        self.late_by = late_by.max(self.late_by - self.late_by / LATE_BY_FADES);
        self.came += (1.0 - self.came) * WEIGHT;
        recovery.report_at.is_some()
    }

    /// Whether a packet was recovered and is not reported yet.
    pub(super) fn holds(&self, number: u64) -> bool {
        self.lately.iter().any(|recovery| recovery.number == number && recovery.report_at.is_some())
    }

    /// When the next report is due.
    pub(super) fn due(&self) -> Time {
        self.lately.iter().filter_map(|recovery| recovery.report_at).min().unwrap_or(Time::NEVER)
    }

    /// The next packet whose report is due.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<u64> {
        let is_due = |recovery: &&mut Recovery| recovery.report_at.is_some_and(|at| at <= now);
        let recovery = self.lately.iter_mut().find(is_due)?;
        recovery.report_at = None;
        Some(recovery.number)
    }

    /// Packets that have been missing for long were lost.
    fn forget(&mut self, now: Time) {
        while self
            .lately
            .pop_front_if(|recovery| recovery.report_at.is_none() && now.since(recovery.at) >= LATE_MAX)
            .is_some()
        {
            self.came -= self.came * WEIGHT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    #[test]
    fn recovery_reports_wait_as_long_as_recovered_packets_usually_arrive_late() {
        let mut recovered = Recovered::default();
        for number in 0..10 {
            recovered.on_recovered(ms(100 * number), number);
            recovered.on_late(ms(100 * number + 9), number);
        }
        assert!(recovered.on_recovered(ms(2_000), 20) && recovered.holds(20));
        assert_eq!(recovered.due(), Time::from_micros(2_011_250));
        assert_eq!(recovered.pop_due(ms(2_011)), None);
        assert_eq!(recovered.pop_due(ms(2_012)), Some(20));
        assert!(recovered.due() == Time::NEVER && !recovered.holds(20));
    }

    #[test]
    fn recovery_reports_are_immediate_where_recovered_packets_never_arrive() {
        let mut recovered = Recovered::default();
        for number in 0..100 {
            assert!(!recovered.on_recovered(ms(200 * number), number), "one in ten is late");
            if number % 10 == 0 {
                assert!(!recovered.on_late(ms(200 * number + 9), number), "it was reported at once");
            }
        }
    }
}
