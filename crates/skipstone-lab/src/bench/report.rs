//! The data of a bench's report: the result, the line that repeats it, and all latencies of each row.

use serde::Serialize;

use super::result::Bench;
use super::row::BenchRow;
use crate::report::command;

/// A report's data.
#[derive(Debug, Serialize)]
pub(super) struct BenchReport<'a> {
    kind: &'static str,
    command: Vec<String>,
    result: &'a Bench,
    /// One for each row.
    curves: Vec<BenchCurve>,
}

#[derive(Debug, Serialize)]
struct BenchCurve {
    max: Option<f64>,
    latencies: String,
}

impl BenchReport<'_> {
    pub(super) fn of(bench: &Bench) -> BenchReport<'_> {
        let curve = |row: &BenchRow| BenchCurve { max: row.latencies.longest_ms(), latencies: row.latencies.text() };
        BenchReport {
            kind: "bench",
            command: command(),
            curves: bench.results.iter().map(curve).collect(),
            result: bench,
        }
    }
}
