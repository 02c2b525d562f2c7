//! `skipstone fairness`: bottlenecks drawn from seeds, each shared in virtual time by flows of several controllers.
//!
//! ```text
//! seed ──> bottleneck ──> play (each line-up) ──> judge ──> line
//! ```

mod bottleneck;
mod finding;
mod flow;
mod judge;
mod line_up;
mod play;
mod table;

use std::ops::Range;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::measure::in_order::work_in_order;
use crate::measure::machine::cores;
use crate::report::Exit;
use crate::report::output;
use crate::report::paint::style;
use crate::signals::Signals;
use crate::units::seed_range;
use finding::find;
use judge::TOGETHER_MIN;

/// Flags of `fairness`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct FairnessArguments {
    /// The bottlenecks: seeds from A up to, not including, B
    #[arg(long, value_name = "A..B", value_parser = seed_range)]
    seeds: Range<u64>,
    /// Simulated minutes for which all flows of a run share the link
    #[arg(long, value_name = "M", default_value_t = 2.0, value_parser = minutes)]
    minutes: f64,
    /// Bottlenecks that run in parallel; by default one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: Option<u64>,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs as the flags say.
pub fn run(arguments: &FairnessArguments) -> Exit {
    Exit::of("fairness", fairness(arguments))
}

fn fairness(arguments: &FairnessArguments) -> Result<Exit, String> {
    let signals = Signals::watch()?;
    let bar = progress(arguments);
    let together = Duration::from_secs((arguments.minutes * 60.0) as u64);
    let threads = arguments.jobs.map_or_else(cores, |jobs| jobs as usize);
    output::print(table::heads(style()));
    let mut findings = Vec::new();
    work_in_order(
        arguments.seeds.clone(),
        threads,
        |seed| find(seed, together, signals.flag()),
        |finding| {
            bar.suspend(|| output::print(table::line(&finding, style())));
            bar.inc(1);
            findings.push(finding);
        },
    );
    bar.finish_and_clear();
    output::print(table::summary(&findings, style()));
    let is_whole = findings.len() as u64 == arguments.seeds.end - arguments.seeds.start;
    Ok(match table::breaches(&findings).is_empty() {
        _ if !is_whole => Exit::Interrupted,
        true => Exit::Pass,
        false => Exit::Fail,
    })
}

fn progress(arguments: &FairnessArguments) -> ProgressBar {
    let target = if arguments.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(arguments.seeds.end - arguments.seeds.start), target);
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} bottlenecks, {elapsed}, {eta} to go");
    bar.set_style(style.expect("a good template"));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn minutes(text: &str) -> Result<f64, String> {
    let least = TOGETHER_MIN.as_secs_f64() / 60.0;
    match text.parse() {
        Ok(minutes) if (least..=60.0).contains(&minutes) => Ok(minutes),
        _ => Err("flows share a link for 20 seconds (0.34) to 60 simulated minutes".into()),
    }
}
