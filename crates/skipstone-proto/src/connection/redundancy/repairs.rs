//! Repair packets of a class that are to be sent.

use crate::time::Time;

/// Repairs that are to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repairs {
    pub(super) now: usize,
    later: usize,
    later_at: Time,
    /// The burst began with an acknowledgement, which its repairs repeat.
    pub(super) repeat_ack: bool,
}

impl Default for Repairs {
    fn default() -> Self {
        Repairs { now: 0, later: 0, later_at: Time::NEVER, repeat_ack: false }
    }
}

impl Repairs {
    /// Time at which a delayed repair is due.
    pub(super) fn due(&self) -> Time {
        if self.later > 0 { self.later_at } else { Time::NEVER }
    }

    /// Whether a repair is due.
    pub(super) fn are_due(&self, now: Time) -> bool {
        self.now > 0 || self.due() <= now
    }

    /// Schedules repairs, `now` and at `later_at`, and the same number of those that pacing held back.
    pub(super) fn follow(&mut self, now: usize, later: usize, later_at: Time) {
        let held_back = (self.now + self.later).min(now + later);
        let later_at = if held_back > 0 { later_at.min(self.later_at) } else { later_at };
        *self = Repairs { now, later: later + held_back, later_at, ..*self };
    }

    /// Whether no repair is scheduled.
    pub(super) fn are_over(&self) -> bool {
        self.now + self.later == 0
    }

    /// Delays all repairs to this time.
    pub(super) fn defer(&mut self, until: Time) {
        if self.now > 0 {
            self.later += core::mem::take(&mut self.now);
            self.later_at = until;
        } else if self.later > 0 {
            self.later_at = self.later_at.max(until);
        }
    }

    /// Drops all scheduled repairs.
    pub(super) fn clear(&mut self) {
        self.now = 0;
        self.later = 0;
    }

    pub(super) fn on_sent(&mut self) {
        match self.now.checked_sub(1) {
            Some(rest) => self.now = rest,
            None => self.later -= 1,
        }
    }
}
