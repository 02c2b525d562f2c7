//! Latencies as counts by seven binary digits: small enough to keep for each client and each second, exact enough for a
//! curve.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Latencies in µs, each rounded down by less than 1.6%, with its count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySteps {
    counts: BTreeMap<u64, u64>,
    longest_us: u64,
}

const DIGITS: u32 = 7;

/// Down to seven binary digits. Whole numbers, so that all machines write the same.
pub fn rounded(micros: u64) -> u64 {
    let shift = (u64::BITS - micros.leading_zeros()).saturating_sub(DIGITS);
    micros >> shift << shift
}

impl LatencySteps {
    /// Adds one.
    pub fn record(&mut self, micros: u64) {
        self.record_many(micros, 1);
    }

    /// Adds several of a length.
    pub fn record_many(&mut self, micros: u64, count: u64) {
        *self.counts.entry(rounded(micros)).or_default() += count;
        self.longest_us = self.longest_us.max(micros);
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &LatencySteps) {
        other.counts.iter().for_each(|(micros, count)| self.record_many(*micros, *count));
        self.longest_us = self.longest_us.max(other.longest_us);
    }

    /// The exact longest latency, which the steps round.
    pub fn lengthen(&mut self, longest_us: u64) {
        self.longest_us = self.longest_us.max(longest_us);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The longest, in ms.
    pub fn longest_ms(&self) -> Option<f64> {
        (!self.counts.is_empty()).then(|| self.longest_us as f64 / 1e3)
    }

    /// The latency in ms that this share of all did not exceed.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let rank = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.counts.iter().find(|(_, count)| {
            seen += *count;
            seen >= rank
        });
        found.map(|(micros, _)| *micros as f64 / 1e3)
    }

    /// `MICROSECONDS*COUNT` each, ascending.
    pub fn text(&self) -> String {
        self.counts.iter().map(|(micros, count)| format!("{micros}*{count}")).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_step_and_the_longest_is_exact() {
        let (mut one, mut other) = (LatencySteps::default(), LatencySteps::default());
        (1..=500).for_each(|number| one.record(number * 100));
        (501..=1_000).for_each(|number| other.record(number * 100));
        one.merge(&other);
        assert_eq!((one.count(), one.longest_ms()), (1_000, Some(100.0)));
        for (share, exact) in [(0.5, 50.0), (0.99, 99.0), (0.001, 0.1)] {
            let found = one.quantile_ms(share).expect("there are some");
            assert!(found <= exact && found >= exact / 1.016, "{share}: {found}");
        }
        assert_eq!(LatencySteps::default().quantile_ms(0.5), None);
        assert_eq!(LatencySteps::default().longest_ms(), None);
    }

    #[test]
    fn the_text_contains_every_step_once() {
        let mut steps = LatencySteps::default();
        [20_100, 20_101, 7].into_iter().for_each(|micros| steps.record(micros));
        assert_eq!(steps.text(), "7*1 19968*2");
    }
}
