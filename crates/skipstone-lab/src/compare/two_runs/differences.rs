//! Each figure of each contender that both results have.

use serde::Serialize;

use super::bootstrap::{Blocks, intervals};
use super::read::{StoredRow, StoredRun};

/// A figure in both results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Difference {
    /// Whose: transport, mode and condition.
    pub(super) of: String,
    pub(super) figure: &'static str,
    /// Medians over the seeds.
    pub(super) before: f64,
    pub(super) after: f64,
    /// How much more it is afterwards.
    pub(super) change: f64,
    /// The 99% interval of the change, of percentiles.
    pub(super) interval: Option<[f64; 2]>,
    pub(super) is_beyond: bool,
}

type Figure = (&'static str, fn(&StoredRow) -> Option<f64>);

const PERCENTILES: [(Figure, f64); 3] =
    [(("p50", |row| row.p50), 0.5), (("p99", |row| row.p99), 0.99), (("p99.8", |row| row.p998), 0.998)];
const OTHERS: [Figure; 3] =
    [("max", |row| row.max), ("bytes", |row| row.bytes_per_payload), ("server CPU", |row| row.server_cpu)];
/// Of two times five runs, one in 126 has all of one side beyond all of the other by chance.
const RUNS_MIN: usize = 5;

/// All of those that both have, in the order of the first.
pub(super) fn differences(before: &StoredRun, after: &StoredRun) -> Vec<Difference> {
    let mut names: Vec<String> = Vec::new();
    for row in &before.results {
        if !names.contains(&row.name()) {
            names.push(row.name());
        }
    }
    let of = |run: &StoredRun, name: &str| -> Vec<StoredRow> {
        run.results.iter().filter(|row| row.name() == name).cloned().collect()
    };
    names.iter().flat_map(|name| of_one(name, &of(before, name), &of(after, name))).collect()
}

fn of_one(name: &str, before: &[StoredRow], after: &[StoredRow]) -> Vec<Difference> {
    let shares = PERCENTILES.map(|(_, share)| share);
    let blocks = |rows: &[StoredRow]| Blocks::of(rows.iter().map(|row| &row.series));
    let drawn = intervals(&blocks(before), &blocks(after), &shares);
    let percentiles = PERCENTILES.iter().enumerate().filter_map(|(at, (figure, _))| {
        let found = difference(name, figure, before, after)?;
        let interval = drawn.as_ref().map(|drawn| drawn[at]);
        // Equal figures differ by nothing, whatever else might have been drawn.
        let is_beyond = found.change != 0.0 && interval.is_some_and(|[least, most]| least > 0.0 || most < 0.0);
        Some(Difference { interval, is_beyond, ..found })
    });
    let others = OTHERS.iter().filter_map(|figure| {
        let found = difference(name, figure, before, after)?;
        Some(Difference { is_beyond: is_apart(&values(figure, before), &values(figure, after)), ..found })
    });
    percentiles.chain(others).collect()
}

fn values(figure: &Figure, rows: &[StoredRow]) -> Vec<f64> {
    let mut values: Vec<f64> = rows.iter().filter_map(figure.1).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn difference(name: &str, figure: &Figure, before: &[StoredRow], after: &[StoredRow]) -> Option<Difference> {
    let median = |rows| {
        let values = values(figure, rows);
        values.get(values.len() / 2).copied()
    };
    let (before, after) = (median(before)?, median(after)?);
    let (of, figure, change) = (name.to_owned(), figure.0, after - before);
    Some(Difference { of, figure, before, after, change, interval: None, is_beyond: false })
}

/// Whether all runs of one are beyond all of the other, and there are enough of them.
fn is_apart(before: &[f64], after: &[f64]) -> bool {
    let are_enough = before.len() >= RUNS_MIN && after.len() >= RUNS_MIN;
    are_enough && (before.last() < after.first() || after.last() < before.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bytes: impl Iterator<Item = f64>) -> Vec<StoredRow> {
        let row = |bytes| StoredRow { transport: "kcp".into(), bytes_per_payload: Some(bytes), ..StoredRow::default() };
        bytes.map(row).collect()
    }

    #[test]
    fn five_runs_that_are_all_beyond_five_others_are_no_chance() {
        let is_beyond = |count: u32, more: f64| {
            let before = rows((0..count).map(f64::from));
            let after = rows((0..count).map(|at| f64::from(at) + more));
            of_one("kcp", &before, &after)[0].is_beyond
        };
        assert!(is_beyond(5, 5.0) && is_beyond(5, -5.0));
        assert!(!is_beyond(5, 3.0) && !is_beyond(4, 9.0));
    }
}
