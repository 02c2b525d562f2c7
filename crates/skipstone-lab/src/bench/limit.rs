//! The most clients that a transport serves.

use serde::Serialize;

use super::plan::BenchPlan;
use super::row::BenchRow;
use super::setup::Trial;
use super::show::Show;
use super::transport::BenchTransport;
use super::variant::Variant;
use super::workers::ChildError;
use crate::measure::limit_search::LimitSearch;
use crate::signals::Signals;
use crate::units::{Bounds, Named};

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
    let (mut gap, mut rows) = (LimitSearch::new(bounds), Vec::new());
    while let Some(clients) = gap.next() {
        let trial = Trial { transport, server: None, clients, variant: Variant::Only };
        show.begin(trial, &plan.setup, None);
        let row = trial.play(&plan.setup, signals, |progress| show.progress(progress))?;
        show.end(&row);
        gap.tried(clients, row.passed);
        rows.push(row);
    }
    rows.sort_by_key(|row| row.clients);
    Ok((Limit { transport: transport.name(), clients: gap.passed(), failed: gap.failed() }, rows))
}
