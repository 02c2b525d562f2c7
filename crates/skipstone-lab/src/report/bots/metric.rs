//! The figures of a metric, as a result has them. The unit is at the end of the metric's name: `spawn_ms`.

use serde::{Deserialize, Serialize};

/// The figures of a metric; null where nothing was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum MetricFigures {
    /// A distribution.
    Trend {
        /// How many numbers.
        count: u64,
        /// Their mean.
        mean: Option<f64>,
        /// The least.
        min: Option<f64>,
        /// Half are no greater.
        p50: Option<f64>,
        /// 90% are no greater.
        p90: Option<f64>,
        /// 95% are no greater.
        p95: Option<f64>,
        /// 99% are no greater.
        p99: Option<f64>,
        /// 99.9% are no greater.
        p999: Option<f64>,
        /// The greatest.
        max: Option<f64>,
    },
    /// How often something held.
    Rate {
        /// When it did.
        yes: u64,
        /// When it did not.
        no: u64,
        /// The part of all when it did, of 1.
        share: Option<f64>,
    },
    /// A sum.
    Counter {
        /// Of all.
        sum: f64,
        /// In a second of the run.
        sum_per_s: Option<f64>,
    },
    /// A value over time.
    Gauge {
        /// The last.
        last: Option<f64>,
        /// The least.
        min: Option<f64>,
        /// The greatest.
        max: Option<f64>,
    },
    /// Something that should always hold.
    Check {
        /// When it held.
        passed: u64,
        /// When it did not.
        failed: u64,
        /// The part of all when it held, of 1.
        share: Option<f64>,
    },
}
