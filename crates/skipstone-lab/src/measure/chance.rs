//! Random draws from a seed. Each topic has its own generator, so that a new topic leaves the draws of all others
//! unchanged.

use std::time::Duration;

use super::splitmix::splitmix;

/// The chance of one topic.
#[derive(Debug, Clone)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub(crate) fn of(seed: u64, topic: &str) -> Chance {
        // FNV-1a (Fowler, Noll, Vo).
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let topic = topic.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
        let mut state = seed;
        Chance { state: splitmix(&mut state) ^ topic }
    }

    /// A number from 0 up to, but excluding, 1.
    pub(crate) fn share(&mut self) -> f64 {
        (splitmix(&mut self.state) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A value with two digits, log-uniform: the rounding makes it the same on every machine.
    pub(crate) fn scaled(&mut self, least: f64, most: f64) -> f64 {
        let value = least * (most / least).powf(self.share());
        two_digits(value).clamp(least, most)
    }

    /// A duration between `least` and `most`.
    pub(crate) fn span(&mut self, least: Duration, most: Duration) -> Duration {
        let micros = self.scaled(least.as_micros() as f64, most.as_micros() as f64);
        Duration::from_micros(micros.round() as u64)
    }

    /// One of the choices.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.share() * choices.len() as f64) as usize]
    }
}

/// Rounds to two significant digits.
pub(crate) fn two_digits(value: f64) -> f64 {
    let text = format!("{value:.1e}");
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_draw_independently_and_seeds_change_all() {
        let draw = |seed, topic| Chance::of(seed, topic).scaled(1.0, 1e6);
        assert_eq!(draw(1, "rtt"), draw(1, "rtt"));
        assert_ne!(draw(1, "rtt"), draw(2, "rtt"));
        assert_ne!(draw(1, "rtt"), draw(1, "loss"));
    }

    #[test]
    fn every_decade_is_as_likely_as_any_other() {
        let mut decades = [0; 3];
        for seed in 0..3_000 {
            let value = Chance::of(seed, "x").scaled(1.0, 1_000.0);
            assert!((1.0..=1_000.0).contains(&value) && value == two_digits(value), "{value}");
            decades[(value.log10() as usize).min(2)] += 1;
        }
        assert!(decades.iter().all(|count| (900..1_100).contains(count)), "{decades:?}");
    }
}
