//! What the page of `--report` shows of a run of bots.

use super::result::BotsResult;
use crate::measure::latency_steps::LatencySteps;
use serde::{Deserialize, Serialize};

/// The content of the page.
#[derive(Debug, Clone, Serialize)]
pub struct BotsReport<'a> {
    /// The result.
    pub result: &'a BotsResult,
    /// The distributions of the script's trends in milliseconds.
    pub curves: Vec<TrendCurve>,
    /// The run by seconds.
    pub seconds: &'a [RunSecond],
    /// Whether it is still under way.
    pub is_running: bool,
}

/// The distribution of a trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendCurve {
    name: String,
    /// `MICROSECONDS*COUNT` each, ascending.
    latencies: String,
    /// The greatest, in milliseconds.
    max: Option<f64>,
}

impl TrendCurve {
    /// The curve of these values.
    pub fn new(name: &str, steps: &LatencySteps) -> Self {
        TrendCurve { name: name.to_owned(), latencies: steps.text(), max: steps.longest_ms() }
    }
}

/// How a run stood, and what a second of it brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSecond {
    /// Seconds since the run began.
    pub at: f64,
    /// Bots that were connected.
    pub connected: u64,
    /// Messages sent per second, since the line before.
    pub sent: f64,
    /// Messages received per second, since the line before.
    pub received: f64,
}
