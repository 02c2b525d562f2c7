//! Random numbers of a seed: splitmix64 (Steele, Lea and Flood 2014).

use std::time::Duration;

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
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
