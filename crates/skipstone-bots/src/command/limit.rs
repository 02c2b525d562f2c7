//! `--find-limit`: how many bots the server holds, by runs with different numbers of them.

use super::arguments::BotsArguments;
use super::prepared::Prepared;
use super::trial;
use crate::plan::{Life, Stage, lives};
use crate::run::RunPlan;
use skipstone_lab::measure::limit_search::LimitSearch;
use skipstone_lab::report::bots::{BotsLimit, LimitTrial, SCHEMA_VERSION, limit_table};
use skipstone_lab::report::format::counted;
use skipstone_lab::report::paint::style;
use skipstone_lab::report::{Exit, Sink, Style, Verdict, output};
use skipstone_lab::signals::Signals;
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Searches, and shows what was found.
pub(super) fn search(arguments: &BotsArguments, prepared: &Prepared, signals: &Signals) -> Result<Exit, String> {
    let mut search = LimitSearch::new(arguments.limit_bounds);
    let mut limit = BotsLimit {
        schema_version: SCHEMA_VERSION,
        seed: prepared.plan.seed,
        command: prepared.blank.command.clone(),
        script: prepared.blank.script.clone(),
        machine: prepared.blank.machine.clone(),
        ..BotsLimit::default()
    };
    while let Some(clients) = search.next() {
        match settled(arguments, prepared, signals, clients, search.passed() > 0, &mut limit.trials)? {
            Verdict::Pass => search.tried(clients, true),
            Verdict::Fail => search.tried(clients, false),
            verdict => {
                limit.verdict = verdict;
                limit.reasons = limit.trials.last().map(|trial| trial.reasons.clone()).unwrap_or_default();
                return show(prepared, conclude(limit, search));
            }
        }
    }
    limit.verdict = if search.passed() > 0 { Verdict::Pass } else { Verdict::Fail };
    show(prepared, conclude(limit, search))
}

/// Tries a number until it is settled: a failure is confirmed, because one hiccup of a server or a machine is no limit;
/// a trial that proves nothing is repeated.
fn settled(
    arguments: &BotsArguments,
    prepared: &Prepared,
    signals: &Signals,
    clients: u32,
    was_ever_passed: bool,
    trials: &mut Vec<LimitTrial>,
) -> Result<Verdict, String> {
    let (mut failures, mut invalid) = (0, 0);
    loop {
        if !trials.is_empty() {
            pause(arguments.settle.0, signals);
        }
        let result = trial::play(&with_clients(prepared, clients), signals)?.result;
        let trial = LimitTrial::of(u64::from(clients), &result);
        if !prepared.is_quiet {
            let why = trial.reasons.first().map_or(String::new(), |why| format!(" {why}"));
            output::say(format_args!("{}: {:?}.{why}", counted(trial.bots, "bot"), trial.verdict));
        }
        let verdict = trial.verdict;
        trials.push(trial);
        match verdict {
            // A server that broke under the load of this trial or of the one before is a limit that was found.
            Verdict::Fail | Verdict::Unavailable if verdict == Verdict::Fail || was_ever_passed => failures += 1,
            Verdict::Invalid => invalid += 1,
            Verdict::Pass | Verdict::Fail | Verdict::Unavailable | Verdict::Interrupted => return Ok(verdict),
        }
        if failures >= FAILURES {
            return Ok(Verdict::Fail);
        }
        if invalid >= INVALID_MAX {
            return Ok(Verdict::Invalid);
        }
    }
}

fn conclude(mut limit: BotsLimit, search: LimitSearch) -> BotsLimit {
    (limit.holds, limit.breaks) = (u64::from(search.passed()), search.failed().map(u64::from));
    let of_breaks = |trial: &&LimitTrial| Some(trial.bots) == limit.breaks && trial.verdict != Verdict::Invalid;
    let broken = limit.trials.iter().find(of_breaks);
    limit.broken_by = broken.map(|trial| trial.reasons.clone()).unwrap_or_default();
    limit.trials.sort_by_key(|trial| trial.bots);
    limit
}

fn show(prepared: &Prepared, limit: BotsLimit) -> Result<Exit, String> {
    let is_json = matches!(prepared.sink, Sink::StandardOutput);
    let table = limit_table(&limit, if is_json { Style::Plain } else { style() });
    let shown = prepared.sink.show(&limit, &table, &[]);
    Ok(Exit::from(limit.verdict).once_kept("bots", shown))
}

/// The same run with fewer bots, whose beginnings are spread over the same ramp.
fn with_clients(prepared: &Prepared, clients: u32) -> Prepared {
    let plan = &prepared.plan;
    let numbers: BTreeSet<u32> = plan.lives.iter().map(|life| life.number).collect();
    let last = plan.lives.iter().map(|life| life.from).max().unwrap_or_default();
    let ramp = last.mul_f64(numbers.len() as f64 / (numbers.len().max(2) - 1) as f64).min(plan.duration);
    let stages = [Stage::To { clients, over: ramp }, Stage::Hold(plan.duration.saturating_sub(ramp))];
    let lives: Vec<Life> = lives(&stages);
    let mut blank = prepared.blank.clone();
    blank.bots.asked = u64::from(clients);
    Prepared {
        plan: RunPlan { lives, ..plan.clone() },
        thresholds: prepared.thresholds.clone(),
        blank,
        sink: Sink::Nowhere,
        report: None,
        is_quiet: prepared.is_quiet,
        watched: prepared.watched,
    }
}

/// The server forgets the bots of the trial before.
fn pause(span: Duration, signals: &Signals) {
    let began = Instant::now();
    while began.elapsed() < span && !signals.is_set() {
        sleep(Duration::from_millis(20));
    }
}

/// Trials that fail until a number counts as failed.
const FAILURES: u32 = 2;
/// Trials of a number that prove nothing until the search ends.
const INVALID_MAX: u32 = 3;
