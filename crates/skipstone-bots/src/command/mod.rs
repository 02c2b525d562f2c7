//! `skipstone bots`: the plan from flags and script, the run, and its result.

mod arguments;
mod outcome;
mod probe;
mod show;

pub use arguments::BotsArguments;

use crate::plan::{ScriptOptions, Stage, lives};
use crate::protocols::table;
use crate::run::{self, Places, Progress, RunPlan};
use crate::script::ScriptFolder;
use outcome::Measured;
use probe::Probed;
use skipstone_lab::measure::machine::cores;
use skipstone_lab::measure::process::Probe;
use skipstone_lab::measure::stalls::StallWatch;
use skipstone_lab::open_files::{self, Beside};
use skipstone_lab::report::bots::{BotsResult, MetricFigures, check_thresholds, judge, table};
use skipstone_lab::report::paint::style;
use skipstone_lab::report::stress::judge::Ending;
use skipstone_lab::report::{Exit, Sink, Style};
use skipstone_lab::signals::Signals;
use skipstone_lab::units::{Span, Threshold};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A run, ready to start.
struct Prepared {
    plan: RunPlan,
    thresholds: Vec<Threshold>,
    /// The result before anything happened.
    blank: BotsResult,
    sink: Sink,
    is_quiet: bool,
}

/// Runs as the flags say.
pub fn run(arguments: &BotsArguments) -> Exit {
    let prepared = Signals::watch().and_then(|signals| Ok((prepare(arguments)?, signals)));
    let ended = prepared.map(|(prepared, signals)| match prepared {
        Some(prepared) => measure(&prepared, &signals).unwrap_or_else(|why| Exit::Invalid.told("bots", why)),
        None => Exit::Pass,
    });
    Exit::of("bots", ended)
}

/// Reads script and flags. `None` if the script was to be checked only. The error is one sentence with the remedy.
fn prepare(arguments: &BotsArguments) -> Result<Option<Prepared>, String> {
    let script = ScriptFolder::open(&arguments.script)?;
    let probed = Probed::of(&script)?;
    let url = arguments.url.clone();
    for url in url.iter().chain(&probed.url) {
        table::find(url).map_err(|error| error.to_string())?;
    }
    let stages = stages(arguments, &probed.options)?;
    let lives = lives(&stages);
    let bots = lives.iter().map(|life| life.number + 1).max().unwrap_or(0);
    if lives.is_empty() {
        return Err("the run has no bots: give -c, or clients or stages in skipstone.options".into());
    }
    let mut thresholds = probed.options.thresholds.clone();
    thresholds.extend(arguments.threshold.iter().cloned());
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let duration = stages.iter().map(Stage::span).sum();
    let mut blank = outcome::blank(arguments, &probed, seed, u64::from(bots), duration);
    add_checks(&mut blank, &thresholds, &script);
    check_thresholds(&thresholds, &blank).map_err(|error| format!("a threshold: {error}"))?;
    if arguments.check {
        skipstone_lab::report::output::say(format_args!(
            "{}: in order; {bots} bots for {}",
            arguments.script,
            Span(duration)
        ));
        return Ok(None);
    }
    // Resolved before the run, so that a wrong name is a mistake and no late bot.
    if let Some(url) = url.as_ref().or(probed.url.as_ref()) {
        Places::default().find(url)?;
    }
    open_files::check(lives.len() as u32, Beside { files: 64, also: "" })?;
    let sink = Sink::open(arguments.json.as_deref())?;
    let is_quiet = arguments.quiet || matches!(sink, Sink::StandardOutput);
    let workers = arguments.workers.map_or_else(|| cores().div_ceil(2), usize::from);
    let plan = RunPlan { script, url, lives, duration, seed, workers };
    Ok(Some(Prepared { plan, thresholds, blank, sink, is_quiet }))
}

/// The number of bots over time, of the flags or else of the script.
fn stages(arguments: &BotsArguments, options: &ScriptOptions) -> Result<Vec<Stage>, String> {
    let has_flags = arguments.clients.is_some() || arguments.duration.is_some() || arguments.ramp.is_some();
    if !options.stages.is_empty() && !has_flags {
        return Ok(options.stages.clone());
    }
    let clients = arguments.clients.or(options.clients).unwrap_or(CLIENTS_DEFAULT);
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

/// Plays the plan. The error is about what could not be carried out.
fn measure(prepared: &Prepared, signals: &Signals) -> Result<Exit, String> {
    let own = Probe::of_self();
    let before = own.sample();
    let (started, epoch) = (SystemTime::now(), Instant::now());
    let stalls = StallWatch::start(epoch).map_err(|error| format!("cannot start a thread: {error}"))?;
    let progress = Arc::new(Progress::default());
    let plan = &prepared.plan;
    let tally = std::thread::scope(|scope| {
        let player = scope.spawn(|| run::play(plan, epoch, signals.flag(), &progress));
        if !prepared.is_quiet {
            show::while_running(&progress, epoch, plan.duration, || player.is_finished());
        }
        player.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    let elapsed = epoch.elapsed();
    let usage = own.sample().zip(before).map(|(now, before)| now.since(&before, elapsed));
    let measured =
        Measured { started, elapsed, usage, stalls: stalls.stop(), connected_at_once: progress.connected().1 };
    let mut result = outcome::result(&prepared.blank, plan, &tally, &measured);
    let ending = if signals.is_set() { Ending::Interrupted } else { Ending::Completed };
    judge(&mut result, &prepared.thresholds, ending);
    let style = if matches!(prepared.sink, Sink::StandardOutput) { Style::Plain } else { style() };
    let reasons = if matches!(prepared.sink, Sink::StandardOutput) { result.reasons.as_slice() } else { &[] };
    let shown = prepared.sink.show(&result, &table(&result, style), reasons);
    Ok(Exit::from(result.verdict).once_kept("bots", shown))
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

const CLIENTS_DEFAULT: u32 = 10;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
const RAMP_MAX: Duration = Duration::from_secs(30);
