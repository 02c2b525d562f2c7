//! `skipstone sweep`: settings drawn from seeds, each run in virtual time by ours and by peers, judged by rules that
//! hold on every path.
//!
//! ```text
//! seed ──> draw (a plan's text) ──> setting ──> play (contenders x loss seeds) ──> pool ──> judge ──> line, JSON
//! ```

mod against;
mod change;
mod draw;
mod judge;
mod noise;
mod play;
mod pool;
pub(crate) mod result;
mod rule;
mod setting;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::compare::transport::Transport;
use crate::measure::machine::cores;
use crate::report::output;
use crate::report::paint::style;
use crate::report::{Exit, Sink, Verdict};
use crate::signals::Signals;
use crate::units::seed_range;
use against::Earlier;
use change::RuleChange;
use play::Extent;
use result::{RuleResult, SCHEMA_VERSION, SettingResult, Sweep};
use rule::Tolerance;
use setting::Setting;

/// Flags of `sweep`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct SweepArguments {
    /// The settings: seeds from A up to, not including, B
    #[arg(long, value_name = "A..B", value_parser = seed_range)]
    seeds: Range<u64>,
    /// Simulated minutes of each run, at most; less where 1,500,000 updates (peers: 300,000) are sent before
    #[arg(long, value_name = "M", default_value_t = 5.0, value_parser = minutes)]
    minutes: f64,
    /// Runs of each contender in each setting; their updates are judged together
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    loss_seeds: u64,
    /// Settings that run in parallel; by default one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: Option<u64>,
    /// The peers to run with off, lean and adaptive: any transport of `compare`, or `none`
    #[arg(long, value_name = "A,B,…", value_parser = peers, default_value = PEERS)]
    transports: Peers,
    /// For short runs, whose percentiles depend on few losses: promises must hold everywhere, other rules in half of
    /// the settings
    #[arg(long)]
    tolerant: bool,
    /// Write the result to this file, `-` for standard output instead of the table; its schema is
    /// schema/sweep.schema.json
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Compare with this result of another build, made by --json with the same --seeds, --minutes, --loss-seeds and
    /// --transports: each rule, and each setting's figures that differ by more than chance explains
    #[arg(long, value_name = "FILE", conflicts_with = "print")]
    against: Option<String>,
    /// Run nothing: print the settings as plans for `compare`
    #[arg(long)]
    print: bool,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Each as it comes, and as its experts drive it.
const PEERS: &str = "kcp,kcp-tuned,kcp-fec,kcp-fec-1-1,quinn,quinn-tuned,quinn-bbr,renet,renet-tuned";

/// Other transports that take part.
#[derive(Debug, Clone)]
struct Peers(Vec<Transport>);

/// Runs as the flags say.
pub fn run(arguments: &SweepArguments) -> Exit {
    Exit::of("sweep", sweep(arguments))
}

fn sweep(arguments: &SweepArguments) -> Result<Exit, String> {
    if arguments.print {
        let settings = arguments.seeds.clone().map(|seed| Setting::of(seed, arguments.minutes));
        settings.for_each(|setting| output::print(setting.text));
        return Ok(Exit::Pass);
    }
    let read = |path: &String| Earlier::read(path, &arguments.seeds, arguments.minutes, arguments.loss_seeds);
    let earlier = arguments.against.as_ref().map(read).transpose()?;
    let sink = Sink::open(arguments.json.as_deref())?;
    let signals = Signals::watch()?;
    let settings = play(arguments, &signals, matches!(sink, Sink::StandardOutput));
    let is_whole = settings.len() as u64 == arguments.seeds.end - arguments.seeds.start;
    let sweep = conclude(settings, is_whole, earlier.as_ref(), arguments);
    let kept = sink.show(&sweep, &table::summary(&sweep, style()), &sweep.reasons);
    Ok(Exit::from(sweep.verdict).once_kept("sweep", kept))
}

/// The settings in their order, each printed as it is found.
fn play(arguments: &SweepArguments, signals: &Signals, is_silent: bool) -> Vec<SettingResult> {
    let bar = progress(arguments);
    let show = |text: String| {
        bar.suspend(|| {
            if !is_silent {
                output::print(text)
            }
        })
    };
    show(table::heads(style()));
    let extent =
        Extent { minutes: arguments.minutes, loss_seeds: arguments.loss_seeds, peers: arguments.transports.0.clone() };
    let threads = arguments.jobs.map_or_else(cores, |jobs| jobs as usize);
    let mut settings = Vec::new();
    play::play(arguments.seeds.clone(), &extent, threads, signals.flag(), |finding| {
        let setting = SettingResult::of(finding);
        show(table::line(&setting, style()));
        bar.inc(1);
        settings.push(setting);
    });
    bar.finish_and_clear();
    settings
}

fn progress(arguments: &SweepArguments) -> ProgressBar {
    let target = if arguments.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(arguments.seeds.end - arguments.seeds.start), target);
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} settings, {elapsed}, {eta} to go");
    bar.set_style(style.expect("a good template"));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn conclude(
    settings: Vec<SettingResult>,
    is_whole: bool,
    earlier: Option<&Earlier>,
    arguments: &SweepArguments,
) -> Sweep {
    let rules = RuleResult::all(&settings, if arguments.tolerant { Tolerance::Half } else { Tolerance::None });
    let reason = |result: &RuleResult| {
        format!("{} holds in {} of {}: {}.", result.rule, result.kept, result.applied, result.rule.about())
    };
    let mut reasons: Vec<String> = rules.iter().filter(|result| !result.passed).map(reason).collect();
    let changes = earlier.map(|earlier| earlier.changes(&settings));
    let worse = changes.iter().flat_map(|changes| &changes.rules).filter(|rule| rule.is_worse());
    reasons.extend(worse.map(|RuleChange { rule, before, now, .. }| {
        format!("{rule} holds in {now:.1}% of the settings, and held in {before:.1}% before: {}.", rule.about())
    }));
    let verdict = Verdict::of_rows("sweep", is_whole, &mut reasons);
    let (minutes, loss_seeds) = (arguments.minutes, arguments.loss_seeds);
    Sweep { schema_version: SCHEMA_VERSION, verdict, reasons, minutes, loss_seeds, settings, rules, changes }
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.5..=60.0).contains(&minutes) => Ok(minutes),
        _ => Err("a run lasts 0.5 to 60 simulated minutes".into()),
    }
}

fn peers(text: &str) -> Result<Peers, String> {
    if text == "none" {
        return Ok(Peers(Vec::new()));
    }
    let peers: Result<Vec<Transport>, String> = text.split(',').map(str::parse).collect();
    let peers = peers?;
    match peers.iter().find(|peer| peer.is_ours() || peer.needs_sockets()) {
        Some(own) if own.is_ours() => Err(format!("{own} takes part in any case; name its peers")),
        Some(real) => Err(format!("{real} has a clock and sockets of its own and cannot be simulated: see `compare`")),
        None => Ok(Peers(peers)),
    }
}
