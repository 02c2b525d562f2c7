//! Latency of lines, from the due time to the arrival. Every line is recorded; histograms of
//! several receivers or processes merge without loss.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::latency_steps::LatencySteps;

/// Latencies from 1 us to 60 s, each within 0.1% of the truth (HdrHistogram, three digits). About 140 KB.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "LatencyCounts", into = "LatencyCounts")]
pub struct Latency {
    histogram: Histogram<u64>,
    /// Exact, where the histogram rounds, and beyond its end.
    longest_us: u64,
}

/// How long lines took. A figure is null if the clocks of the machines that it was measured between differ by too much
/// to tell it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyMs {
    /// Half of the lines took no longer.
    pub p50: Option<f64>,
    /// 90% took no longer.
    pub p90: Option<f64>,
    /// 99% took no longer.
    pub p99: Option<f64>,
    /// 99.9% took no longer.
    pub p999: Option<f64>,
    /// 99.99% took no longer.
    pub p9999: Option<f64>,
    /// None took longer.
    pub max: Option<f64>,
}

/// The durations of something that happens once for each client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpreadMs {
    /// Half took no longer.
    pub p50: f64,
    /// 99% took no longer.
    pub p99: f64,
    /// None took longer.
    pub max: f64,
}

impl SpreadMs {
    /// The latencies of these durations, in microseconds; `None` if there are none.
    pub fn of(mut took_us: Vec<u64>) -> Option<Self> {
        took_us.sort_unstable();
        let rank = |share: f64| ((took_us.len() as f64 * share).ceil() as usize).saturating_sub(1);
        let at = |share: f64| took_us.get(rank(share)).copied().map(milliseconds);
        Some(SpreadMs { p50: at(0.5)?, p99: at(0.99)?, max: at(1.0)? })
    }
}

/// The content of a [`Latency`], as numbers that another process can read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyCounts {
    /// Latencies in us, each with its count.
    counts: Vec<(u64, u64)>,
    longest_us: u64,
}

impl LatencyCounts {
    /// Adds all of another.
    pub fn add(&mut self, other: &Self) {
        self.counts.extend_from_slice(&other.counts);
        self.longest_us = self.longest_us.max(other.longest_us);
    }

    /// The same latencies, rounded to fewer digits.
    pub fn steps(&self) -> LatencySteps {
        let mut steps = LatencySteps::default();
        self.counts.iter().for_each(|(micros, count)| steps.record_many(*micros, *count));
        steps.lengthen(self.longest_us);
        steps
    }

    /// The histogram that they were counted from, without loss.
    pub fn latency(&self) -> Latency {
        let mut latency = Latency::default();
        for (microseconds, count) in &self.counts {
            latency.histogram.saturating_record_n(*microseconds, *count);
        }
        latency.longest_us = self.longest_us;
        latency
    }
}

impl From<LatencyCounts> for Latency {
    fn from(counts: LatencyCounts) -> Self {
        counts.latency()
    }
}

impl From<Latency> for LatencyCounts {
    fn from(latency: Latency) -> Self {
        latency.counts()
    }
}

impl Default for Latency {
    /// No latencies yet.
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("the bounds are sound");
        Self { histogram, longest_us: 0 }
    }
}

impl Latency {
    /// Records the delay of a line after its due time. More than 60 s counts as 60 s, except in the maximum.
    #[inline]
    pub fn record(&mut self, latency_us: u64) {
        self.histogram.saturating_record(latency_us);
        self.longest_us = self.longest_us.max(latency_us);
    }

    /// Adds all that another histogram holds.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.longest_us = self.longest_us.max(other.longest_us);
    }

    /// Everything in it, as numbers.
    pub fn counts(&self) -> LatencyCounts {
        let recorded = self.histogram.iter_recorded();
        let counts = recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        LatencyCounts { counts, longest_us: self.longest_us }
    }

    /// Resets the histogram but keeps its memory, for the figures of the next second.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.longest_us = 0;
    }

    /// How many latencies it holds.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The latency that this share of the lines did not exceed, in milliseconds; 0 when there are none.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        milliseconds(self.histogram.value_at_quantile(share).min(self.longest_us))
    }

    /// The longest, in milliseconds, to the microsecond.
    pub fn max_ms(&self) -> f64 {
        milliseconds(self.longest_us)
    }

    /// The figures of the result; `None` when nothing arrived.
    pub fn figures(&self) -> Option<LatencyMs> {
        self.figures_above(0.0)
    }

    /// The same without latencies below a limit in milliseconds, which two clocks cannot measure.
    pub fn figures_above(&self, least_ms: f64) -> Option<LatencyMs> {
        let told = |ms: f64| Some(ms).filter(|ms| *ms >= least_ms);
        (self.count() > 0).then(|| LatencyMs {
            p50: told(self.quantile_ms(0.5)),
            p90: told(self.quantile_ms(0.9)),
            p99: told(self.quantile_ms(0.99)),
            p999: told(self.quantile_ms(0.999)),
            p9999: told(self.quantile_ms(0.9999)),
            max: told(self.max_ms()),
        })
    }
}

fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1000.0
}

const LATENCY_US_MAX: u64 = 60_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(latencies_us: impl IntoIterator<Item = u64>) -> Latency {
        let mut latency = Latency::default();
        latencies_us.into_iter().for_each(|microseconds| latency.record(microseconds));
        latency
    }

    #[test]
    fn quantiles_are_within_0_1_percent_of_the_sorted_values() {
        let latency = recorded((1..=100_000).map(|step| step * 7));
        let figures = latency.figures().unwrap();
        let pairs = [
            (figures.p50, 350.0),
            (figures.p90, 630.0),
            (figures.p99, 693.0),
            (figures.p999, 699.3),
            (figures.p9999, 699.93),
        ];
        for (measured, truth) in pairs {
            let measured = measured.unwrap();
            assert!((measured - truth).abs() / truth < 0.001, "{measured} is not {truth}");
        }
        assert_eq!(figures.max, Some(700.0));
        let told = latency.figures_above(600.0).unwrap();
        assert_eq!((told.p50, told.p90, told.p99, told.max), (None, figures.p90, figures.p99, Some(700.0)));
    }

    #[test]
    fn merged_parts_equal_the_whole() {
        let whole = recorded((0..10_000).map(|step| step * step % 99_991));
        let mut merged = recorded((0..5_000).map(|step| step * step % 99_991));
        merged.merge(&recorded((5_000..10_000).map(|step| step * step % 99_991)));
        assert_eq!(merged.figures(), whole.figures());
        assert_eq!(merged.count(), 10_000);
    }

    #[test]
    fn counts_sum_to_the_whole() {
        let whole = recorded((0..100_000).map(|step| step * step % 9_999_991).chain([0, 90_000_000]));
        let (mut low, high) = (recorded([0, 5]).counts(), recorded([2, 70_000_000]).counts());
        low.add(&high);
        assert_eq!(low.latency().figures(), recorded([0, 2, 5, 70_000_000]).figures());
        assert_eq!(whole.counts().latency().figures(), whole.figures());
        assert_eq!(whole.counts().latency().count(), whole.count());
    }

    #[test]
    fn zero_and_more_than_a_minute_are_counted() {
        let latency = recorded([0, 90_000_000]);
        assert_eq!(latency.count(), 2);
        assert_eq!(latency.max_ms(), 90_000.0);
        assert!((latency.quantile_ms(1.0) / 60_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn no_quantile_exceeds_the_maximum() {
        let latency = recorded([123_457]);
        assert_eq!(latency.quantile_ms(0.5), latency.max_ms());
    }

    #[test]
    fn an_empty_recording_gives_no_figures() {
        let mut latency = recorded([5]);
        latency.clear();
        assert_eq!((latency.count(), latency.figures()), (0, None));
    }
}
