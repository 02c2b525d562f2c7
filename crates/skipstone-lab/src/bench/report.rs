//! The data of a bench's report: the result, the line that repeats it, all latencies of each row, and its worst
//! clients.

use serde::Serialize;

use super::result::Bench;
use super::row::BenchRow;
use crate::measure::worst_clients::WorstClient;
use crate::report::command;

/// A report's data.
#[derive(Debug, Serialize)]
pub(super) struct BenchReport<'a> {
    kind: &'static str,
    command: Vec<String>,
    result: &'a Bench,
    /// One for each row.
    curves: Vec<BenchCurve>,
    /// The same, the latest first.
    worst_clients: Vec<&'a [WorstClient]>,
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
            worst_clients: bench.results.iter().map(|row| row.worst_clients.as_slice()).collect(),
            result: bench,
        }
    }
}
