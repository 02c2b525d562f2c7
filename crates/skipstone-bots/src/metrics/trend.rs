//! A distribution of numbers, within 0.1% of the truth.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use skipstone_lab::measure::latency_steps::LatencySteps;
use skipstone_lab::report::bots::{CurvePoint, MetricFigures};

/// Numbers of 0 or more, in thousandths.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "TrendRecord", into = "TrendRecord")]
pub(crate) struct Trend {
    histogram: Histogram<u64>,
    sum: f64,
    least: f64,
    most: f64,
}

/// A trend as another process reads it. The floating-point numbers are bits, which no way of writing rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrendRecord {
    /// Thousandths, each with its count.
    counts: Vec<(u64, u64)>,
    sum_bits: u64,
    least_bits: u64,
    most_bits: u64,
}

impl From<Trend> for TrendRecord {
    fn from(trend: Trend) -> Self {
        let recorded = trend.histogram.iter_recorded();
        TrendRecord {
            counts: recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect(),
            sum_bits: trend.sum.to_bits(),
            least_bits: trend.least.to_bits(),
            most_bits: trend.most.to_bits(),
        }
    }
}

impl From<TrendRecord> for Trend {
    fn from(record: TrendRecord) -> Self {
        let mut trend = Trend::default();
        for (thousandths, count) in record.counts {
            let within = thousandths.min(THOUSANDTHS_MAX as u64);
            trend.histogram.record_n(within, count).expect("the histogram grows up to this maximum");
        }
        (trend.sum, trend.least) = (f64::from_bits(record.sum_bits), f64::from_bits(record.least_bits));
        trend.most = f64::from_bits(record.most_bits);
        trend
    }
}

impl Default for Trend {
    fn default() -> Self {
        let histogram = Histogram::new(3).expect("three digits are sound");
        Trend { histogram, sum: 0.0, least: f64::INFINITY, most: 0.0 }
    }
}

impl Trend {
    /// Records a number of 0 or more.
    pub(crate) fn record(&mut self, value: f64) {
        let thousandths = (value * SCALE).min(THOUSANDTHS_MAX).round() as u64;
        self.histogram.record(thousandths).expect("the histogram grows up to this maximum");
        self.sum += value;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Trend) {
        self.histogram.add(&other.histogram).expect("the histogram grows");
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The number that this share of all does not exceed; `None` of no numbers.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let found = self.histogram.value_at_quantile(share) as f64 / SCALE;
        (self.count() > 0).then(|| found.clamp(self.least, self.most))
    }

    /// The distribution of a trend in milliseconds.
    pub(crate) fn steps(&self) -> LatencySteps {
        let mut steps = LatencySteps::default();
        for step in self.histogram.iter_recorded() {
            steps.record_many(step.value_iterated_to(), step.count_at_value());
        }
        steps.lengthen((self.most * SCALE).min(THOUSANDTHS_MAX) as u64);
        steps
    }

    /// Points of the distribution, up to the share of one number; the greatest is the last.
    pub(crate) fn points(&self) -> Vec<CurvePoint> {
        let tenths = (0..=9).map(|tenth| f64::from(tenth) / 10.0);
        let nines = (2..=6).flat_map(|nines| [5.0, 2.0, 1.0].map(|rest| 1.0 - rest / 10_f64.powi(nines)));
        let is_measured = |share: &f64| (1.0 - share) * self.count() as f64 >= 0.999;
        let shares = tenths.chain(nines).filter(is_measured).chain([1.0]);
        let point = |share: f64| {
            let value = if share == 1.0 { self.most } else { self.quantile(share)? };
            // 0.95 and not 0.9500000000000001.
            Some(CurvePoint { share: (share * 1e9).round() / 1e9, value })
        };
        shares.filter_map(point).collect()
    }

    /// The figures of a result.
    pub(crate) fn figures(&self) -> MetricFigures {
        let any = self.count() > 0;
        MetricFigures::Trend {
            count: self.count(),
            // The sum of parts differs from the sum of all in its last digits: it is rounded to a result's digits.
            mean: any.then(|| (self.sum / self.count() as f64 * 1e6).round() / 1e6),
            min: any.then_some(self.least),
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: any.then_some(self.most),
        }
    }
}

/// Three decimals: microseconds where a script records milliseconds.
const SCALE: f64 = 1000.0;
/// Far beyond what anybody measures; the exact maximum is kept aside.
const THOUSANDTHS_MAX: f64 = 1e15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_thousandth_of_the_truth() {
        let mut trend = Trend::default();
        (1..=10_000).for_each(|step| trend.record(f64::from(step) * 0.7));
        for (share, exact) in [(0.5, 3_500.0), (0.99, 6_930.0), (0.999, 6_993.0)] {
            let found = trend.quantile(share).expect("there are some");
            assert!((found - exact).abs() / exact < 0.001, "{share}: {found}");
        }
    }

    #[test]
    fn a_curve_ends_where_less_than_one_number_is_left() {
        let mut trend = Trend::default();
        (1..=200).for_each(|step| trend.record(f64::from(step)));
        let points = trend.points();
        let shares: Vec<f64> = points.iter().map(|point| point.share).collect();
        let expected = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1.0];
        assert_eq!(shares, expected);
        assert!(points.is_sorted_by(|one, next| one.value <= next.value), "{points:?}");
        assert_eq!(points.last().map(|point| point.value), Some(200.0));
        assert!((points[5].value - 100.0).abs() < 0.2, "{points:?}");
    }

    #[test]
    fn extremes_are_exact_and_no_numbers_have_no_figures() {
        let mut trend = Trend::default();
        assert_eq!(trend.quantile(0.5), None);
        trend.record(1.5);
        trend.record(1e30);
        let MetricFigures::Trend { min, max, count, .. } = trend.figures() else { panic!("a trend") };
        assert_eq!((min, max, count), (Some(1.5), Some(1e30), 2));
    }
}
