//! The durations of calls: each is recorded, to a thousandth.

use hdrhistogram::Histogram;
use serde::Serialize;
use skipstone_lab::report::format::{milliseconds, thousands};
use std::time::Duration;

/// The durations of calls, from 100 ns to 10 minutes.
#[derive(Clone, Debug)]
pub(crate) struct Timer(Histogram<u64>);

/// Their description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Timing {
    pub(crate) calls: u64,
    pub(crate) mean_ms: f64,
    /// Calls that nothing else on the machine disturbed.
    pub(crate) p10_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) max_ms: f64,
}

const TEN_MINUTES_NS: u64 = 600_000_000_000;

impl Timer {
    pub(crate) fn new() -> Timer {
        Timer(Histogram::new_with_bounds(100, TEN_MINUTES_NS, 3).expect("good bounds"))
    }

    pub(crate) fn record(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn add(&mut self, other: &Timer) {
        self.0.add(&other.0).expect("the same bounds");
    }

    pub(crate) fn timing(&self) -> Timing {
        let ms = |ns: u64| ns as f64 / 1e6;
        let at = |quantile| if self.0.is_empty() { 0.0 } else { ms(self.0.value_at_quantile(quantile)) };
        Timing {
            calls: self.0.len(),
            mean_ms: self.0.mean() / 1e6,
            p10_ms: at(0.1),
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: ms(self.0.max()),
        }
    }
}

/// Milliseconds, with more digits for small values: a read of SQLite takes a few microseconds.
pub(crate) fn fine(ms: f64) -> String {
    match ms {
        _ if ms < 0.01 => format!("{ms:.4} ms"),
        _ if ms < 0.995 => format!("{ms:.3} ms"),
        _ => milliseconds(ms),
    }
}

impl Timing {
    /// A sentence about calls with this total duration.
    pub(crate) fn sentence(&self, took: Duration) -> String {
        let rate = self.calls as f64 / took.as_secs_f64().max(1e-9);
        format!(
            "{} a second; each took {} (p50), {} (p99), {} at most",
            thousands(rate.round() as u64),
            fine(self.p50_ms),
            fine(self.p99_ms),
            fine(self.max_ms)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_microseconds_keep_two_digits() {
        assert_eq!([0.0021, 0.131, 5.67].map(fine), ["0.0021 ms", "0.131 ms", "5.67 ms"]);
    }
}
