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
    /// Medians over the seeds; of `lost` and `refused` means.
    pub(super) before: f64,
    pub(super) after: f64,
    /// The increase from the first run to the second.
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
const COUNTS: [Figure; 2] = [("lost", |row| row.lost), ("refused", |row| row.refused)];
/// Latencies of blocks are rounded down to seven binary digits: by less than this share.
const STEP: f64 = 1.0 / 64.0;
/// With five runs on each side, all of one side exceed all of the other by chance in one of 126 cases.
const RUNS_MIN: usize = 5;

/// The figures that both runs have, in the order of the first.
pub(super) fn differences(before: &StoredRun, after: &StoredRun) -> Vec<Difference> {
    let of = |run: &StoredRun, name: &str| -> Vec<StoredRow> {
        run.results.iter().filter(|row| row.name() == name).cloned().collect()
    };
    names(before).iter().flat_map(|name| of_one(name, &of(before, name), &of(after, name))).collect()
}

/// Each name once, in the order of the rows.
fn names(run: &StoredRun) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in &run.results {
        if !names.contains(&row.name()) {
            names.push(row.name());
        }
    }
    names
}

fn of_one(name: &str, before: &[StoredRow], after: &[StoredRow]) -> Vec<Difference> {
    let shares = PERCENTILES.map(|(_, share)| share);
    let blocks = |rows: &[StoredRow]| Blocks::of(rows.iter().map(|row| &row.series));
    let drawn = intervals(&blocks(before), &blocks(after), &shares);
    let percentiles = PERCENTILES.iter().enumerate().filter_map(|(at, (figure, _))| {
        let found = difference(name, figure, before, after)?;
        let interval = drawn.as_ref().map(|drawn| drawn[at]);
        let is_beyond = interval.is_some_and(|interval| is_beyond_chance(&found, interval));
        Some(Difference { interval, is_beyond, ..found })
    });
    let others = OTHERS.iter().filter_map(|figure| {
        let found = difference(name, figure, before, after)?;
        Some(Difference { is_beyond: is_apart(&values(figure, before), &values(figure, after)), ..found })
    });
    let counts = COUNTS.iter().filter_map(|figure| {
        let (one, other) = (values(figure, before), values(figure, after));
        let found = between(name, figure, mean(&one)?, mean(&other)?);
        // If no run before ever counted one, a count afterwards is no coincidence.
        let is_first = one.last() == Some(&0.0) && other.last() > Some(&0.0);
        Some(Difference { is_beyond: is_first || is_apart(&one, &other), ..found })
    });
    percentiles.chain(others).chain(counts).collect()
}

/// Whether a percentile differs by more than a step of the values that were drawn, and to the side where they differ.
fn is_beyond_chance(found: &Difference, [least, most]: [f64; 2]) -> bool {
    let is_a_step = found.change.abs() > found.before.max(found.after) * STEP;
    is_a_step && ((least > 0.0 && found.change > 0.0) || (most < 0.0 && found.change < 0.0))
}

/// A sentence for each contender that delivered before, and afterwards in fewer of its runs, in none, or not at all.
pub(super) fn missing(before: &StoredRun, after: &StoredRun) -> Vec<String> {
    let sentence = |name: &String| {
        let runs = |run: &StoredRun| {
            let of_one = run.results.iter().filter(|row| row.name() == *name);
            of_one.fold((0, 0), |(all, empty), row| (all + 1, empty + u32::from(!row.has_delivered())))
        };
        let ((all, empty), (all_after, empty_after)) = (runs(before), runs(after));
        if empty == all {
            return None;
        }
        if all_after == 0 {
            return Some(format!("{name} is missing in the second result."));
        }
        let is_rarer = f64::from(empty_after) / f64::from(all_after) > f64::from(empty) / f64::from(all);
        is_rarer.then(|| {
            format!("{name} delivered nothing in {empty_after} of {all_after} runs; before, in {empty} of {all}.")
        })
    };
    names(before).iter().filter_map(sentence).collect()
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
    Some(between(name, figure, median(before)?, median(after)?))
}

fn between(name: &str, figure: &Figure, before: f64, after: f64) -> Difference {
    let (of, figure, change) = (name.to_owned(), figure.0, after - before);
    Difference { of, figure, before, after, change, interval: None, is_beyond: false }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
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
    fn five_runs_all_above_five_others_are_significant() {
        let is_beyond = |count: u32, more: f64| {
            let before = rows((0..count).map(f64::from));
            let after = rows((0..count).map(|at| f64::from(at) + more));
            of_one("kcp", &before, &after)[0].is_beyond
        };
        assert!(is_beyond(5, 5.0) && is_beyond(5, -5.0));
        assert!(!is_beyond(5, 3.0) && !is_beyond(4, 9.0));
    }

    fn counts(of: &[(f64, f64)]) -> Vec<StoredRow> {
        let row = |&(delivered, lost): &(f64, f64)| StoredRow {
            transport: "kcp".into(),
            delivered: Some(delivered),
            lost: Some(lost),
            ..StoredRow::default()
        };
        of.iter().map(row).collect()
    }

    #[test]
    fn a_loss_after_runs_without_loss_is_significant() {
        let lost = |before: [f64; 3], after: [f64; 3]| {
            let of = |lost: [f64; 3]| counts(&lost.map(|lost| (9.0, lost)));
            let found = of_one("kcp", &of(before), &of(after));
            assert_eq!((found.len(), found[0].figure), (1, "lost"));
            (found[0].change, found[0].is_beyond)
        };
        assert_eq!(lost([0.0; 3], [0.0, 0.0, 3.0]), (1.0, true));
        assert_eq!(lost([0.0; 3], [0.0; 3]), (0.0, false));
        assert_eq!(lost([1.0, 2.0, 0.0], [3.0, 2.0, 1.0]), (1.0, false));
    }

    #[test]
    fn missing_clients_and_clients_without_later_delivery_are_named() {
        let run = |rows: &[(f64, f64)]| StoredRun { plan: serde_json::Value::Null, results: counts(rows) };
        let (well, dead) = ((9.0, 0.0), (0.0, 0.0));
        let told = |before: &[(f64, f64)], after: &[(f64, f64)]| missing(&run(before), &run(after)).concat();
        assert_eq!(told(&[well], &[]), "kcp is missing in the second result.");
        assert_eq!(told(&[well; 2], &[well, dead]), "kcp delivered nothing in 1 of 2 runs; before, in 0 of 2.");
        assert_eq!(told(&[well; 2], &[well]) + &told(&[dead], &[]) + &told(&[dead, well], &[well, dead]), "");
    }

    #[test]
    fn rounding_differences_are_not_significant() {
        let is_beyond = |before: f64, after: f64, interval| {
            is_beyond_chance(&between("kcp", &PERCENTILES[0].0, before, after), interval)
        };
        assert!(is_beyond(20.0, 20.4, [0.3, 0.4]) && is_beyond(20.4, 20.0, [-0.4, -0.3]));
        assert!(!is_beyond(20.0, 20.3, [0.3, 0.4]), "less than a step");
        assert!(!is_beyond(20.0, 20.4, [-0.4, -0.3]), "to the other side");
        assert!(!is_beyond(20.0, 20.4, [0.0, 0.4]));
        assert!(!is_beyond(20.0, 20.0, [0.3, 0.3]));
    }
}
