//! The delay of a path that is not full. Where packets keep their order, all packets of a flow with many per round trip
//! wait for the latest: this is a standing delay, and not a queue.

use super::delays::risen;
use crate::time::{Duration, Time};

/// Follows the standing delay while the sender uses less than its window. Far below the path's rate the sender does not
/// cause that delay; near the rate it may. The delay is therefore ignored until the path falls silent: then the waiting
/// data fill the window, and the delay before would look like their queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calm {
    /// The delay's recent peak plus a quarter, in microseconds, and its time.
    delay: u32,
    at: Time,
    /// Time since which the window is not used up.
    from: Time,
    /// The delay when the path fell silent, kept until the window is not used up again, or until this time.
    kept: u32,
    kept_until: Time,
}

/// Earlier packets may still wait.
const SPAN_MIN: Duration = Duration::from_millis(500);
/// Time for which a delay counts before a silence, and the maximum after it.
const MEMORY: Duration = Duration::from_secs(30);

impl Calm {
    pub(super) const fn new() -> Self {
        Calm { delay: 0, at: Time::ZERO, from: Time::ZERO, kept: 0, kept_until: Time::ZERO }
    }

    /// The window is used up, or the packets sent now show nothing yet: the measurement starts again.
    pub(super) fn begin(&mut self, now: Time) {
        self.from = now;
    }

    /// Time has passed; whether the window is used up.
    pub(super) fn on_time(&mut self, now: Time, is_limited: bool, smoothed: Duration) {
        if is_limited {
            self.from = now;
        }
        if now >= self.kept_until || self.is_calm(now, smoothed) {
            self.kept = 0;
        }
    }

    /// The current standing delay, sampled once a round trip and limited to `most`.
    pub(super) fn on_delay(&mut self, now: Time, delay: u32, most: u32, smoothed: Duration) {
        if self.is_calm(now, smoothed) && now.since(self.at) >= smoothed {
            self.at = now;
            // A flow that fills the window has more packets yet.
            self.delay = risen(self.delay, (delay * 5 / 4).min(most));
        }
    }

    /// The path falls silent.
    pub(super) fn on_silence(&mut self, now: Time) {
        if now.since(self.at) < MEMORY {
            (self.kept, self.kept_until) = (self.delay, now + MEMORY);
        }
        self.from = now;
    }

    /// Other flows keep the queue.
    pub(super) fn forget(&mut self) {
        self.kept = 0;
    }

    /// The delay that is not a queue, in microseconds.
    pub(super) fn kept(&self) -> u32 {
        self.kept
    }

    fn is_calm(&self, now: Time, smoothed: Duration) -> bool {
        now.since(self.from) >= SPAN_MIN.max(2 * smoothed)
    }
}
