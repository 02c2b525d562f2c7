//! Whether the sender has more to send than its window allows, and for how long: only then do queue and losses say
//! anything about the window.

use crate::time::{Duration, Time};

/// The use of the window by what is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// The time until which the window counts as used up, and since when it has been without a pause.
    limited_until: Time,
    limited_from: Time,
    /// Bytes that are never acknowledged, of the last round trip and of the current one, and the time when that began.
    untracked: [u32; 2],
    untracked_from: Time,
}

impl Demand {
    pub(super) const fn new() -> Self {
        Demand { limited_until: Time::ZERO, limited_from: Time::ZERO, untracked: [0; 2], untracked_from: Time::ZERO }
    }

    /// Whether the window is used up.
    pub(super) fn is_limited(&self, now: Time) -> bool {
        now < self.limited_until
    }

    /// Whether there has been more to send than the window allows for longer than a burst.
    pub(super) fn is_full(&self, now: Time, smoothed: Duration) -> bool {
        self.is_limited(now) && now.since(self.limited_from) >= 2 * smoothed
    }

    /// This many bytes are in flight of a window; without news, it counts as used up for another `span`.
    pub(super) fn note(&mut self, now: Time, in_flight: u32, window: u32, datagram: u32, span: Duration) {
        if in_flight.saturating_add(datagram) > window {
            if now >= self.limited_until {
                self.limited_from = now;
            }
            self.limited_until = now + span;
        }
    }

    /// An acknowledgement arrives while this many bytes are in flight, those included that it covers if they are most
    /// of a window. What leaves does not tell: after an acknowledgement of most of a window, the first packets find it
    /// almost empty.
    pub(super) fn note_unused(&mut self, now: Time, in_flight: u32, window: u32, datagram: u32) {
        if in_flight.saturating_add(2 * datagram) < window / 2 {
            self.limited_until = self.limited_until.min(now);
        }
    }

    /// The window counts as used up until then.
    pub(super) fn limit_until(&mut self, until: Time) {
        self.limited_until = until;
    }

    /// Bytes leave that are never acknowledged.
    pub(super) fn note_untracked(&mut self, now: Time, bytes: u32, smoothed: Duration) {
        if now.since(self.untracked_from) >= smoothed {
            self.untracked = [self.untracked[1], 0];
            self.untracked_from = now;
        }
        self.untracked[1] = self.untracked[1].saturating_add(bytes);
    }

    /// Approximate bytes sent within the last round trip that will not be acknowledged.
    pub(super) fn untracked_in_flight(&self, now: Time, smoothed: Duration) -> u32 {
        match now.since(self.untracked_from) {
            age if age < smoothed => self.untracked[0].max(self.untracked[1]),
            age if age < 2 * smoothed => self.untracked[1],
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u32 = 20_000;
    const RTT: Duration = Duration::from_millis(50);

    /// Whether the window counts as full after 10 round trips; in each, one acknowledgement covers all of a flight,
    /// then so many bytes leave, a datagram of 1,000 bytes at a time.
    fn is_full_with(bytes: u32) -> bool {
        let (mut demand, mut now) = (Demand::new(), Time::ZERO);
        for _ in 0..10 {
            now += RTT;
            // As the model reports an acknowledgement of most of a window.
            demand.note(now, bytes, WINDOW, 1_000, 2 * RTT);
            demand.note_unused(now, bytes, WINDOW, 1_000);
            for sent in 1..=bytes / 1_000 {
                demand.note(now, sent * 1_000, WINDOW, 1_000, 2 * RTT);
            }
        }
        demand.is_full(now, RTT)
    }

    #[test]
    fn a_window_of_which_each_acknowledgement_covers_all_is_full() {
        assert!(is_full_with(WINDOW));
    }

    #[test]
    fn a_window_that_is_used_for_a_third_is_not_full() {
        assert!(!is_full_with(WINDOW / 3));
    }
}
