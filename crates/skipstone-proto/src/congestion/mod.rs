//! How many bytes may be in flight. Window growth as in RFC 9002 section 7, with a floor that keeps a game's small,
//! steady traffic alive through random loss.

use crate::time::{Duration, Time};

/// Decides how much may be in flight.
#[derive(Clone, Debug)]
pub struct Controller {
    algorithm: Algorithm,
    window: u64,
    slow_start_until: u64,
    /// Losses of packets that left before this belong to an episode that was already answered.
    recovery_from: Time,
}

/// Which controller a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Additive increase, multiplicative decrease by 0.7.
    #[default]
    Aimd,
    /// No limit: the carrier has a controller of its own, or the path is owned.
    Off,
}

const WINDOW_INITIAL: u64 = 64 * 1_024;
/// 16 full packets.
const WINDOW_MIN: u64 = 64 * 1_024;
const WINDOW_MAX: u64 = 8_000 * 1_200;

impl Controller {
    /// A controller at its initial window.
    pub fn new(algorithm: Algorithm) -> Self {
        Controller { algorithm, window: WINDOW_INITIAL, slow_start_until: u64::MAX, recovery_from: Time::ZERO }
    }

    /// Bytes that may be in flight.
    pub fn window(&self) -> u64 {
        match self.algorithm {
            Algorithm::Aimd => self.window,
            Algorithm::Off => u64::MAX,
        }
    }

    /// Bytes were acknowledged while so many, these included, were in flight. A window that was not used does not grow.
    pub fn on_ack(&mut self, bytes_acked: u64, bytes_in_flight_before: u64, packet_bytes: u64) {
        if bytes_in_flight_before * 2 < self.window {
            return;
        }
        let growth =
            if self.window < self.slow_start_until { bytes_acked } else { packet_bytes * bytes_acked / self.window };
        self.window = (self.window + growth).min(WINDOW_MAX);
    }

    /// From now on packets take another path, of which nothing is known; what left before says nothing about it.
    pub fn on_path_changed(&mut self, now: Time) {
        *self = Controller { recovery_from: now, ..Controller::new(self.algorithm) };
    }

    /// A packet that left at `sent_at` was declared lost. One episode of losses reduces the window once.
    pub fn on_loss(&mut self, now: Time, sent_at: Time) {
        if sent_at < self.recovery_from {
            return;
        }
        self.recovery_from = now + Duration::from_micros(1);
        self.window = (self.window * 7 / 10).max(WINDOW_MIN);
        self.slow_start_until = self.window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_episode_of_losses_reduces_the_window_once_and_never_below_its_floor() {
        let mut controller = Controller::new(Algorithm::Aimd);
        let before = controller.window();
        for millis in 0..5 {
            controller.on_loss(Time::from_micros(20_000 + millis), Time::from_micros(millis));
        }
        assert_eq!(controller.window(), before * 7 / 10);
        for round in 1..100 {
            controller.on_loss(Time::from_micros(round * 50_000), Time::from_micros(round * 50_000 - 20_000));
        }
        assert_eq!(controller.window(), WINDOW_MIN);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut controller = Controller::new(Algorithm::Aimd);
        controller.on_ack(1_200, 1_200, 1_200);
        assert_eq!(controller.window(), WINDOW_INITIAL);
        controller.on_ack(1_200, WINDOW_INITIAL, 1_200);
        assert_eq!(controller.window(), WINDOW_INITIAL + 1_200);
    }
}
