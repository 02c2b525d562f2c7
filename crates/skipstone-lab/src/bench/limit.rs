//! The most clients that a transport serves: doubling until it fails, then halving the gap.

use serde::Serialize;

use super::plan::{BenchPlan, Bounds};
use super::row::BenchRow;
use super::setup::Trial;
use super::show::Show;
use super::transport::BenchTransport;
use super::variant::Variant;
use super::workers::ChildError;
use crate::signals::Signals;
use crate::units::Named;

/// The finding of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Limit {
    pub(crate) transport: &'static str,
    /// The most that passed; 0 if the lower bound did not.
    pub(crate) clients: u32,
    /// The least that did not pass; null if the upper bound did.
    pub(crate) failed: Option<u32>,
}

/// Searches by trials; the error is an interruption.
pub(super) fn search(
    plan: &BenchPlan,
    transport: BenchTransport,
    bounds: Bounds,
    signals: &Signals,
    show: &mut Show,
) -> Result<(Limit, Vec<BenchRow>), ChildError> {
    let (mut gap, mut rows) = (Gap::new(bounds), Vec::new());
    while let Some(clients) = gap.next() {
        let trial = Trial { transport, server: None, clients, variant: Variant::Only };
        show.begin(trial, &plan.setup, None);
        let row = trial.play(&plan.setup, signals, |progress| show.progress(progress))?;
        show.end(&row);
        gap.tried(clients, row.passed);
        rows.push(row);
    }
    rows.sort_by_key(|row| row.clients);
    Ok((Limit { transport: transport.name(), clients: gap.passed, failed: gap.failed }, rows))
}

/// Between what passed and what did not.
#[derive(Debug, Clone, Copy)]
struct Gap {
    bounds: Bounds,
    passed: u32,
    failed: Option<u32>,
}

impl Gap {
    fn new(bounds: Bounds) -> Self {
        Self { bounds, passed: 0, failed: None }
    }

    /// The next number to try; `None` when the gap is within 3%.
    fn next(&self) -> Option<u32> {
        match (self.passed, self.failed) {
            (0, None) => Some(self.bounds.low),
            (0, Some(_)) => None,
            (passed, None) => (passed < self.bounds.high).then(|| (passed * 2).min(self.bounds.high)),
            (passed, Some(failed)) => {
                let gap = failed - passed;
                (gap > (passed * 3 / 100).max(1)).then(|| passed + gap / 2)
            }
        }
    }

    fn tried(&mut self, clients: u32, has_passed: bool) {
        if has_passed {
            self.passed = clients;
        } else {
            self.failed = Some(clients);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(limit: u32) -> (u32, Option<u32>, u32) {
        let (mut gap, mut trials) = (Gap::new(Bounds { low: 100, high: 4_000 }), 0);
        while let Some(clients) = gap.next() {
            gap.tried(clients, clients <= limit);
            trials += 1;
        }
        (gap.passed, gap.failed, trials)
    }

    #[test]
    fn a_search_ends_within_three_percent_or_at_its_bounds() {
        for limit in [100, 101, 150, 777, 1_000, 3_999] {
            let (passed, failed, trials) = found(limit);
            assert!(passed <= limit && limit < failed.unwrap() && trials < 15, "{limit}: {passed} {failed:?} {trials}");
            assert!(failed.unwrap() - passed <= (passed * 3 / 100).max(1));
        }
        assert_eq!(found(99), (0, Some(100), 1));
        assert_eq!(found(4_000).0, 4_000);
        assert_eq!(found(9_999).1, None);
    }
}
