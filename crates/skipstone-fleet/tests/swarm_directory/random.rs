//! Random choices of a seed.

use skipstone_lab::measure::splitmix::splitmix;
use std::time::Duration;

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        splitmix(&mut self.0)
    }

    /// Of `count` equally probable cases.
    pub(crate) fn one_of(&mut self, count: u64) -> u64 {
        self.draw() % count
    }

    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.one_of(100) < chance
    }

    pub(crate) fn between(&mut self, least_ms: u64, most_ms: u64) -> Duration {
        let micros = 1_000 * least_ms + self.one_of(1_000 * (most_ms - least_ms) + 1);
        Duration::from_micros(micros)
    }
}
