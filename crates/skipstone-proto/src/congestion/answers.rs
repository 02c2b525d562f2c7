//! What the controller has answered, within the range of which the connection is able to make use.

use super::controller::Controller;
use super::model::PathModel;
use super::pacer::Pace;
use super::phase::Phase;
use super::window::{WINDOW_MAX, window_min};

/// The answers after the last event. They are not asked for with each packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    /// Bytes that may be in flight.
    pub(super) window: u32,
    /// The window but for the moments in which it is small to see the path without a queue.
    pub(super) usual: u32,
    pub(super) pace: Pace,
    pub(super) phase: Phase,
    /// How many were out of range.
    pub(super) corrections: u32,
}

impl Answers {
    /// Those of a controller that was asked nothing yet.
    pub(super) fn of(controller: &dyn Controller, path: &PathModel) -> Self {
        let pace = Pace { rate: 0, burst: 0 };
        let mut answers = Answers { window: 0, usual: 0, pace, phase: Phase::Starting, corrections: 0 };
        answers.renew(controller, path);
        answers.usual = answers.window;
        answers
    }

    /// Asks again, because something has changed.
    pub(super) fn renew(&mut self, controller: &dyn Controller, path: &PathModel) {
        let (window, pace) = (controller.window(), controller.pace(path));
        let least = window_min(path.datagram());
        self.window = window.clamp(least.into(), WINDOW_MAX.into()) as u32;
        self.pace = pace;
        // The slowest pace is no faster than this: the exact one is hardly ever needed.
        if pace.rate < u64::from(least) {
            self.pace.rate = pace.rate.max(path.rate_min(least));
        }
        if u64::from(self.window) != window || self.pace.rate != pace.rate {
            self.corrections = self.corrections.saturating_add(1);
        }
        self.phase = controller.phase();
        if !self.phase.is_lull() {
            self.usual = self.window;
        }
    }
}
