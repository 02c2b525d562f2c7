//! Plays a plan: one trial after the other, or a search; shows how it goes; and what came of it.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::child::Silence;
use super::judge;
use super::limit::{self, Limit};
use super::plan::{Plan, Preset};
use super::result::{Bench, PlanWords, SCHEMA_VERSION};
use super::row::Row;
use super::table;
use super::trial::Trial;
use super::words::Progress;
use crate::measure::machine::this_machine;
use crate::report::exit::Exit;
use crate::report::format::thousands;
use crate::report::rows::Verdict;
use crate::report::sink::Sink;
use crate::stress::output;
use crate::stress::signals::Signals;
use crate::stress::style;

/// Plays a preset; the error is one sentence about what cannot be run.
pub(crate) fn play(preset: &Preset) -> Result<Exit, String> {
    let plan = Plan::from(preset)?;
    judge::check(&plan.common.threshold, &plan)?;
    let sink = Sink::open(plan.common.json.as_deref())?;
    let signals = Signals::watch().map_err(|error| format!("cannot watch for signals: {error}"))?;
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
    sink.show(&bench, &table::table(&bench, style()), &bench.reasons)?;
    Ok(bench.verdict.exit())
}

/// Every trial of the plan; false if it was stopped before its end.
fn run_all(plan: &Plan, signals: &Signals, show: &mut Show, rows: &mut Vec<Row>) -> bool {
    let trials = plan.trials();
    let mut all: Vec<(Trial, Row)> = Vec::new();
    for (at, trial) in trials.iter().enumerate() {
        show.begin(*trial, Some((at + 1, trials.len())));
        match trial.play(&plan.setup, signals, |progress| show.progress(progress)) {
            Ok(row) => {
                show.end(&row);
                all.push((*trial, row));
            }
            Err(_) => break,
        }
    }
    for trial in &trials[..trials.len() / plan.common.rounds as usize] {
        let rounds = all.iter().filter(|(other, _)| other == trial).map(|(_, row)| row.clone());
        rows.extend(Row::of_rounds(rounds.collect()));
    }
    all.len() == trials.len()
}

/// Plays one trial and shows it.
pub(super) fn run_one(plan: &Plan, trial: Trial, signals: &Signals, show: &mut Show) -> Result<Row, Silence> {
    show.begin(trial, None);
    let row = trial.play(&plan.setup, signals, |progress| show.progress(progress))?;
    show.end(&row);
    Ok(row)
}

fn conclude(plan: &Plan, mut rows: Vec<Row>, limits: Vec<Limit>, is_whole: bool) -> Bench {
    Row::compare(&mut rows, plan.against());
    let (thresholds, mut reasons) = judge::judge(&plan.common.threshold, &rows);
    // A search ends where nobody passes any more, and peers may do as they like.
    let failed = rows.iter().filter(|row| plan.search.is_none() && row.is_ours() && !row.passed);
    reasons.extend(failed.map(|row| {
        format!(
            "{} did not pass with {} clients: {}.",
            row.name(),
            thousands(row.clients.into()),
            row.reasons.join("; ")
        )
    }));
    let verdict = Verdict::of(is_whole, &reasons);
    if verdict == Verdict::Interrupted {
        reasons.insert(0, "The bench was stopped before its end.".into());
    }
    Bench {
        schema_version: SCHEMA_VERSION,
        verdict,
        reasons,
        preset: plan.preset,
        machine: this_machine(),
        plan: PlanWords::of(plan),
        results: rows,
        limits,
        thresholds,
    }
}

/// How a bench goes, for those who watch: a line that changes on a terminal, a line for each run elsewhere.
pub(super) struct Show {
    bar: ProgressBar,
    is_live: bool,
    is_quiet: bool,
    trial: String,
}

impl Show {
    fn new(is_quiet: bool) -> Show {
        let is_live = std::io::stderr().is_terminal() && !is_quiet;
        let target = if is_live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template("{spinner} {elapsed}  {msg}").expect("a good template"));
        bar.enable_steady_tick(Duration::from_millis(250));
        Show { bar, is_live, is_quiet, trial: String::new() }
    }

    fn begin(&mut self, trial: Trial, place: Option<(usize, usize)>) {
        let place = place.map_or(String::new(), |(at, all)| format!("{at} of {all}: "));
        let variant = trial.variant.name().map_or(String::new(), |variant| format!(", {variant}"));
        self.trial = format!("{place}{}{variant}, {} clients", trial.transport, thousands(trial.clients.into()));
        self.bar.set_message(format!("{}  connecting", self.trial));
    }

    fn progress(&mut self, progress: Progress) {
        let lines = thousands(progress.delivered_per_second as u64);
        let clients = thousands(progress.connected.into());
        self.bar
            .set_message(format!("{}  {clients} connected, {lines} lines/s, p99 {:.1} ms", self.trial, progress.p99));
    }

    fn end(&mut self, row: &Row) {
        self.say(&format!("{}  {}", self.trial, table::sentence(row)));
    }

    /// A line that stays.
    pub(super) fn say(&mut self, text: &str) {
        if self.is_live {
            self.bar.println(text);
        } else if !self.is_quiet {
            output::complain(text);
        }
    }

    fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}
