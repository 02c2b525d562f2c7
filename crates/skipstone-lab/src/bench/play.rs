//! Runs a plan: one trial after the other, or a search; shows the progress and the results.

use super::judge;
use super::limit::{self, Limit};
use super::plan::{BenchPlan, Preset};
use super::report::BenchReport;
use super::result::{Bench, BenchPlanWords, SCHEMA_VERSION};
use super::row::BenchRow;
use super::setup::Trial;
use super::show::Show;
use super::table;
use crate::measure::machine::this_machine;
use crate::report::format::thousands;
use crate::report::output;
use crate::report::paint::style;
use crate::report::{Exit, PageKind, ReportFile, Sink, Style, Verdict};
use crate::signals::Signals;

/// Plays a preset; the error says in one sentence what cannot be run.
pub(crate) fn play(preset: &Preset) -> Result<Exit, String> {
    let plan = BenchPlan::from(preset)?;
    judge::check(&plan.common.threshold, &plan)?;
    let sink = Sink::open(plan.common.json.as_deref())?;
    let report = plan.common.report.as_deref().map(ReportFile::open).transpose()?;
    let signals = Signals::watch()?;
    let mut show = Show::new(plan.common.quiet);
    if let Some(remark) = &plan.remark {
        output::complain(format_args!("skipstone bench: on the loopback interface, because {remark}"));
    }
    let (mut rows, mut limits, mut is_whole) = (Vec::new(), Vec::new(), true);
    match plan.search {
        None => is_whole = run_all(&plan, &signals, &mut show, &mut rows),
        Some(bounds) => {
            for transport in &plan.transports {
                match limit::search(&plan, *transport, bounds, &signals, &mut show) {
                    Ok((limit, tried)) => {
                        limits.push(limit);
                        rows.extend(tried);
                    }
                    Err(_) => is_whole = false,
                }
            }
        }
    }
    show.finish();
    let bench = conclude(&plan, rows, limits, is_whole);
    let shown = sink.show(&bench, &table::table(&bench, style()), &bench.reasons);
    let written = report.map_or(Ok(()), |report| {
        let title = format!("bench {}", bench.preset);
        report.write(PageKind::Bench, &title, &BenchReport::of(&bench), &table::table(&bench, Style::Plain))
    });
    Ok(Exit::from(bench.verdict).once_kept("bench", shown.and(written)))
}

/// Every trial of the plan; false if it was stopped before its end.
fn run_all(plan: &BenchPlan, signals: &Signals, show: &mut Show, rows: &mut Vec<BenchRow>) -> bool {
    let trials = plan.trials();
    let mut all: Vec<(Trial, BenchRow)> = Vec::new();
    for (at, trial) in trials.iter().enumerate() {
        show.begin(*trial, &plan.setup, Some((at + 1, trials.len())));
        let Ok(row) = trial.play(&plan.setup, signals, |progress| show.progress(progress)) else { break };
        show.end(&row);
        all.push((*trial, row));
    }
    for trial in &trials[..trials.len() / plan.common.rounds as usize] {
        let rounds = all.iter().filter(|(other, _)| other == trial).map(|(_, row)| row.clone());
        rows.extend(BenchRow::of_rounds(rounds.collect()));
    }
    all.len() == trials.len()
}

/// Why a bench failed, by its rows. Peers may do as they like, but a row that measured nothing is no result, unless it
/// could not be tried. A search ends where no run passes any more, and has found nothing if that is the lower bound.
fn failures(rows: &[BenchRow], limits: Option<&[Limit]>) -> Vec<String> {
    let is_failure = |row: &&BenchRow| !row.passed && !row.is_untried && (row.is_ours() || !row.has_measured());
    let counts = |row: &&BenchRow| match limits {
        None => true,
        Some(limits) => limits.iter().any(|limit| limit.clients == 0 && limit.transport == row.transport),
    };
    let sentence = |row: &BenchRow| {
        let (name, clients) = (row.name(), thousands(row.clients.into()));
        format!("{name} did not pass with {clients} clients: {}.", row.reasons.join("; "))
    };
    rows.iter().filter(is_failure).filter(counts).map(sentence).collect()
}

fn conclude(plan: &BenchPlan, mut rows: Vec<BenchRow>, limits: Vec<Limit>, is_whole: bool) -> Bench {
    BenchRow::compare(&mut rows, plan.against());
    let (thresholds, mut reasons) = judge::judge(&plan.common.threshold, &rows);
    reasons.extend(failures(&rows, plan.search.map(|_| limits.as_slice())));
    let verdict = Verdict::of_rows("bench", is_whole, &mut reasons);
    Bench {
        schema_version: SCHEMA_VERSION,
        verdict,
        reasons,
        preset: plan.preset,
        machine: this_machine(),
        plan: BenchPlanWords::of(plan),
        results: rows,
        limits,
        thresholds,
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::BenchFigures;
    use super::*;

    fn row(transport: &'static str, passed: bool, delivered: u64) -> BenchRow {
        let figures = BenchFigures { delivered: Some(delivered), ..BenchFigures::default() };
        BenchRow {
            transport,
            clients: 100,
            rate: 1.0,
            passed,
            reasons: vec!["why".into()],
            figures,
            ..BenchRow::default()
        }
    }

    #[test]
    fn a_bench_without_a_measurement_of_a_transport_fails() {
        let fails = |rows: &[BenchRow], limits| !failures(rows, limits).is_empty();
        assert!(!fails(&[row("skipstone", true, 9), row("tcp", true, 9)], None));
        assert!(fails(&[row("skipstone", false, 9)], None), "ours has to pass");
        assert!(!fails(&[row("tcp", false, 9)], None), "a peer need not");
        assert!(fails(&[row("tcp", false, 0)], None), "but there has to be a figure");
        let untried = BenchRow { is_untried: true, ..row("renet", false, 0) };
        assert!(!fails(&[untried], None), "unless it is known not to serve this many");
    }

    #[test]
    fn a_search_that_fails_at_its_lower_bound_finds_no_limit() {
        let limit = |clients| [Limit { transport: "skipstone", clients, failed: Some(100) }];
        assert!(failures(&[row("skipstone", false, 9)], Some(&limit(50))).is_empty());
        assert_eq!(
            failures(&[row("skipstone", false, 9)], Some(&limit(0))),
            ["skipstone did not pass with 100 clients: why."]
        );
    }
}
