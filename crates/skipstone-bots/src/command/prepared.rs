//! The plan from flags and script, checked before anything runs.

use super::arguments::BotsArguments;
use super::outcome;
use super::probe::Probed;
use crate::plan::{ScriptOptions, Stage, lives, lives_max};
use crate::protocols::table;
use crate::run::{Places, RunPlan};
use crate::script::ScriptFolder;
use skipstone_lab::measure::machine::cores;
use skipstone_lab::measure::process::Probe;
use skipstone_lab::open_files::{self, Beside};
use skipstone_lab::report::bots::{BotsResult, MetricFigures, check_thresholds};
use skipstone_lab::report::{ReportFile, Sink, output};
use skipstone_lab::units::{Span, Threshold};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A run, ready to start.
pub(super) struct Prepared {
    pub(super) plan: RunPlan,
    pub(super) thresholds: Vec<Threshold>,
    /// The result before anything happened.
    pub(super) blank: BotsResult,
    pub(super) sink: Sink,
    pub(super) report: Option<ReportFile>,
    pub(super) is_quiet: bool,
    /// The server's process, if it was named.
    pub(super) watched: Option<u32>,
}

/// Reads script and flags. `None` if the script was to be checked only. The error is one sentence with the remedy.
pub(super) fn prepare(arguments: &BotsArguments) -> Result<Option<Prepared>, String> {
    let script = ScriptFolder::open(&arguments.script)?;
    let probed = Probed::of(&script)?;
    let url = arguments.url.clone();
    for url in url.iter().chain(&probed.url) {
        table::find(url).map_err(|error| error.to_string())?;
    }
    let stages = stages(arguments, &probed.options)?;
    if let Some(pid) = arguments.watch_pid
        && Probe::of(pid).sample().is_none()
    {
        return Err(format!("--watch-pid {pid}: there is no such process that can be watched"));
    }
    let most = lives_max(&stages);
    if most > LIVES_MAX {
        return Err(format!("the stages begin bots {most} times; a run has at most {LIVES_MAX}"));
    }
    let lives = lives(&stages);
    let bots = lives.iter().map(|life| life.number + 1).max().unwrap_or(0);
    if lives.is_empty() {
        return Err("the run has no bots: give -c, or clients or stages in skipstone.options".into());
    }
    let mut thresholds = probed.options.thresholds.clone();
    thresholds.extend(arguments.threshold.iter().cloned());
    if arguments.find_limit && thresholds.is_empty() {
        return Err("--find-limit needs a threshold that breaks: give --threshold, or thresholds in the script".into());
    }
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let duration = stages.iter().map(Stage::span).sum();
    let mut blank = outcome::blank(arguments, &probed, seed, u64::from(bots), duration);
    add_checks(&mut blank, &thresholds, &script);
    check_thresholds(&thresholds, &blank).map_err(|error| format!("a threshold: {error}"))?;
    if arguments.check {
        output::say(format_args!("{}: in order; {bots} bots for {}", arguments.script, Span(duration)));
        return Ok(None);
    }
    // Resolved before the run, so that a wrong name is a mistake and no late bot.
    if let Some(url) = url.as_ref().or(probed.url.as_ref()) {
        Places::default().find(url)?;
    }
    open_files::check(lives.len() as u32, Beside { files: 64, also: "" })?;
    let sink = Sink::open(arguments.json.as_deref())?;
    let report = arguments.report.as_deref().map(ReportFile::open).transpose()?;
    let is_quiet = arguments.quiet || matches!(sink, Sink::StandardOutput);
    let workers = arguments.workers.map_or_else(|| cores().div_ceil(2), usize::from);
    let plan = RunPlan { script, url, lives, duration, seed, workers };
    Ok(Some(Prepared { plan, thresholds, blank, sink, report, is_quiet, watched: arguments.watch_pid }))
}

/// The number of bots over time, of the flags or else of the script.
fn stages(arguments: &BotsArguments, options: &ScriptOptions) -> Result<Vec<Stage>, String> {
    if arguments.find_limit && !options.stages.is_empty() {
        return Err("--find-limit chooses the number of bots itself: leave stages out of skipstone.options".into());
    }
    let has_flags = arguments.clients.is_some() || arguments.duration.is_some() || arguments.ramp.is_some();
    if !options.stages.is_empty() && !has_flags {
        return Ok(options.stages.clone());
    }
    let clients = arguments.clients.or(options.clients).unwrap_or(CLIENTS_DEFAULT);
    let clients = if arguments.find_limit { arguments.limit_bounds.high } else { clients };
    let duration = arguments.duration.map(|span| span.0).or(options.duration).unwrap_or(DURATION_DEFAULT);
    let ramp = arguments.ramp.map(|span| span.0).or(options.ramp);
    // A tenth of the run, and no more than half a minute, unless somebody says otherwise.
    let ramp = ramp.unwrap_or_else(|| (duration / 10).min(RAMP_MAX));
    if ramp > duration || duration.is_zero() {
        return Err(format!(
            "the bots begin over {}, and the run lasts {}: give -d a longer time, or --ramp a shorter one",
            Span(ramp),
            Span(duration)
        ));
    }
    Ok(vec![Stage::To { clients, over: ramp }, Stage::Hold(duration - ramp)])
}

/// A check has no declaration: one that a threshold names and the script contains will be there.
fn add_checks(blank: &mut BotsResult, thresholds: &[Threshold], script: &ScriptFolder) {
    for threshold in thresholds {
        let Some((name, figure)) = threshold.path().split_once('.') else { continue };
        let is_check = matches!(figure, "share" | "passed" | "failed");
        if is_check && [format!("\"{name}\""), format!("'{name}'")].iter().any(|text| script.source.contains(text)) {
            let never = MetricFigures::Check { passed: 0, failed: 0, share: None };
            blank.metrics.entry(name.to_owned()).or_insert(never);
        }
    }
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // 48 bits, so that the seed survives programs that read JSON numbers as floating point.
    (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) & ((1 << 48) - 1)
}

/// Each is known from the beginning: some hundred bytes.
const LIVES_MAX: u64 = 2_000_000;
const CLIENTS_DEFAULT: u32 = 10;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
const RAMP_MAX: Duration = Duration::from_secs(30);
