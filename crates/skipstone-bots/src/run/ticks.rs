//! When a bot's ticks are due.

/// A bot's ticks, on a grid that begins with its life.
pub(super) struct Ticks {
    interval: f64,
    /// The first is this part of an interval late, so that the bots' ticks are spread.
    phase: f64,
    pub(super) next: u64,
    /// Whether the timer of the next one is set.
    pub(super) is_set: bool,
}

impl Ticks {
    pub(super) fn new(rate: f64, number: u32) -> Self {
        // Multiples of the golden ratio are evenly spread, however many bots there are.
        let phase = (f64::from(number) * GOLDEN).fract();
        Ticks { interval: 1.0 / rate, phase, next: 1, is_set: false }
    }

    /// When a tick is due, in seconds of the bot's life.
    pub(super) fn at(&self, number: u64) -> f64 {
        (number as f64 - 1.0 + self.phase) * self.interval
    }

    /// The first tick from now on is the next; returns when it is due.
    pub(super) fn restart(&mut self, now: f64) -> f64 {
        let past = (now / self.interval - self.phase).max(-1.0).floor();
        self.next = self.next.max((past + 2.0) as u64);
        self.at(self.next)
    }
}

const GOLDEN: f64 = 0.618_033_988_749_894_9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_keep_to_the_grid_of_the_bots_life() {
        let mut ticks = Ticks::new(10.0, 0);
        assert_eq!(ticks.restart(0.0), 0.1, "the first is one interval after the beginning");
        assert!((ticks.restart(0.55) - 0.6).abs() < 1e-9);
        assert!((ticks.restart(0.2) - 0.6).abs() < 1e-9, "a tick never comes twice");
        let mut spread = Ticks::new(10.0, 1);
        assert!((spread.restart(0.0) - 0.061_803).abs() < 1e-5);
    }
}
