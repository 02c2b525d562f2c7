//! `skipstone compare`: one plan, every transport, one clock. In virtual time, so that the same plan and seeds give the
//! same figures on every machine; or for real, through a link that loses the same packets.
//!
//! ```text
//! plan (TOML) + flags ──> condition ──> jobs (contender x seed) ──> simulation (peers, links, proof) ──> rows
//!                                                                       rows ──> judge ──> table, JSON, exit code
//! ```

mod beside;
pub(crate) mod condition;
pub(crate) mod contender;
pub(crate) mod delivery;
mod directions;
mod jobs;
mod judge;
pub(crate) mod payload;
mod peer;
pub(crate) mod peers;
pub(crate) mod plan;
pub(crate) mod proof;
mod real;
pub(crate) mod result;
pub(crate) mod row;
pub(crate) mod simulation;
mod table;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skipstone::RedundancyMode;

use crate::report::paint::style;
use crate::report::{Exit, Sink, Verdict};
use crate::signals::Signals;
use crate::units::Threshold;
use crate::units::transport_name::Named;
use condition::Condition;
use contender::{Contender, Mode, SimulatedTransport};
use jobs::{Job, run_all};
use plan::{ComparePlan, PlanFile};
use result::{ComparePlanWords, Comparison, SCHEMA_VERSION};
use row::{CompareRow, Summary};

/// Flags of `compare`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct CompareArguments {
    /// The plan: a TOML file, such as plans/spatialos-25.toml
    plan: String,
    /// In virtual time, over a model link: exact, and the same to the digit on every machine
    #[arg(long)]
    simulated: bool,
    /// Runs of each transport, each with other chances [default: 3, for real 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// How long updates are sent in a real run [default: 25]
    #[arg(long, value_name = "S", conflicts_with_all = ["simulated", "minutes"],
        value_parser = clap::value_parser!(u32).range(1..=86400))]
    seconds: Option<u32>,
    /// The first seed; the others follow
    #[arg(long, value_name = "FIRST", default_value_t = 1)]
    seed: u64,
    /// The transports to run, in place of the plan's:
    /// skipstone,skipstone-ageless,skipstone-plain,kcp,kcp-tuned,kcp-msg,kcp-fec,kcp-msg-fec,kcp-fec-1-1,kcp-fec-1-2,quinn,
    /// quinn-tuned,quinn-bbr,renet,renet-tuned; for real also tcp,enet
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    transports: Option<Vec<SimulatedTransport>>,
    /// In which modes Skipstone takes part: off,lean,adaptive,fixed:10+3,repeat:2
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    modes: Option<Vec<Mode>>,
    /// A condition on every row, or on those that it names: 'skipstone.adaptive.p998<24ms', 'kcp.median.max<60ms',
    /// 'lost==0'; exit code 99 if missed
    #[arg(long, value_name = "CONDITION")]
    threshold: Vec<Threshold>,
    /// Write the result here, `-` for standard output in place of the table; its schema is schema/compare.schema.json
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// No progress
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    values: condition::Flags,
}

/// The modes that a plan does not name.
const MODES: [Mode; 4] = [
    Mode(RedundancyMode::Off),
    Mode(RedundancyMode::Lean),
    Mode(RedundancyMode::Adaptive),
    Mode(RedundancyMode::Fixed { sources: 10, repairs: 3 }),
];

/// Runs as the flags say.
pub fn run(arguments: &CompareArguments) -> Exit {
    Exit::of("compare", compare(arguments))
}

fn compare(arguments: &CompareArguments) -> Result<Exit, String> {
    let file = ComparePlan::read(&arguments.plan)?;
    let mut condition = condition(&file, &arguments.values)?;
    let plan = file.plan;
    if !arguments.simulated && !arguments.values.has_minutes() {
        condition.lasting = Duration::from_secs(arguments.seconds.map_or(SECONDS, u64::from));
    }
    let contenders = contenders(&plan, arguments)?;
    if contenders.is_empty() {
        return Err("skipstone-ageless takes part in lean, adaptive and others that send copies, not in off".into());
    }
    judge::check(&arguments.threshold, &contenders)?;
    let seeds = arguments.seeds.unwrap_or(if arguments.simulated { 3 } else { 1 });
    let seeds: Vec<u64> = (0..seeds).map(|at| arguments.seed.wrapping_add(at)).collect();
    let sink = Sink::open(arguments.json.as_deref())?;
    let signals = Signals::watch()?;
    let jobs = all_jobs(&contenders, &seeds);
    let played = if arguments.simulated {
        simulate(&jobs, &condition, signals.flag(), arguments.quiet)
    } else {
        play(&jobs, &condition, signals.flag(), arguments.quiet)?
    };
    let comparison = conclude(played, &condition, &plan, seeds, &arguments.threshold);
    sink.show(&comparison, &table::table(&comparison, style()), &comparison.reasons)?;
    Ok(comparison.verdict.into())
}

/// The plan with the flags' values. A mistake of the plan has its place there, one of the flags has none.
fn condition(file: &PlanFile, flags: &condition::Flags) -> Result<Condition, String> {
    Condition::from(&file.plan, flags).map_err(|misfit| {
        let is_the_plans = Condition::from(&file.plan, &condition::Flags::default()).err() == Some(misfit.clone());
        if is_the_plans { file.mistake(&misfit) } else { misfit.sentence }
    })
}

fn contenders(plan: &ComparePlan, arguments: &CompareArguments) -> Result<Vec<Contender>, String> {
    let named = arguments.transports.clone().or(plan.transports.clone());
    if let Some(transport) = named.iter().flatten().find(|transport| arguments.simulated && transport.needs_sockets()) {
        return Err(format!(
            "{transport} has sockets of its own, and takes part in real runs only: without --simulated"
        ));
    }
    let takes_part = |transport: &SimulatedTransport| {
        if arguments.simulated { !transport.needs_sockets() } else { REAL_TRANSPORTS.contains(transport) }
    };
    let usual = || SimulatedTransport::built_in().into_iter().filter(takes_part).collect();
    let transports = named.unwrap_or_else(usual);
    let modes = arguments.modes.clone().or(plan.modes.clone()).unwrap_or(MODES.to_vec());
    Ok(Contender::all(&transports, &modes))
}

/// How long a real run lasts if nobody says.
const SECONDS: u64 = 25;

/// Those of a real comparison that names none: ten minutes have room for so many.
const REAL_TRANSPORTS: [SimulatedTransport; 12] = {
    use SimulatedTransport as Transport;
    [
        Transport::Skipstone,
        Transport::SkipstonePlain,
        Transport::Kcp,
        Transport::KcpMsg,
        Transport::KcpMsgFec,
        Transport::Quinn,
        Transport::QuinnTuned,
        Transport::QuinnBbr,
        Transport::Renet,
        Transport::RenetTuned,
        Transport::Tcp,
        Transport::Enet,
    ]
};

fn all_jobs(contenders: &[Contender], seeds: &[u64]) -> Vec<Job> {
    let of_one = |contender: &Contender| {
        let contender = *contender;
        seeds.iter().map(move |seed| Job { contender, seed: *seed })
    };
    contenders.iter().flat_map(of_one).collect()
}

/// What came of all runs.
struct Played {
    rows: Vec<CompareRow>,
    is_whole: bool,
    /// A sentence for each run that failed.
    failures: Vec<String>,
    /// Over what a real comparison went.
    over: Option<String>,
}

/// A row for each contender and seed; fewer, if it was stopped.
fn simulate(jobs: &[Job], condition: &Condition, stop: &AtomicBool, is_quiet: bool) -> Played {
    let bar = progress(jobs.len(), is_quiet);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = run_all(jobs, condition, threads, stop, |job| {
        bar.set_message(table::job(job.contender, job.seed));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let is_whole = rows.iter().all(Option::is_some);
    Played { rows: rows.into_iter().flatten().collect(), is_whole, failures: Vec::new(), over: None }
}

/// The same for real: one after another.
fn play(jobs: &[Job], condition: &Condition, stop: &AtomicBool, is_quiet: bool) -> Result<Played, String> {
    let bar = progress(jobs.len(), is_quiet);
    let mut begun = 0;
    let played = real::run_all(jobs, condition, stop, |job| {
        bar.set_message(table::job(job.contender, job.seed));
        bar.set_position(begun);
        begun += 1;
    });
    bar.finish_and_clear();
    let real::RealRows { rows, failures, was_interrupted, over } = played?;
    Ok(Played { rows, is_whole: !was_interrupted, failures, over: Some(over) })
}

fn progress(runs: usize, is_quiet: bool) -> ProgressBar {
    let target = if is_quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(runs as u64), target);
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} runs, {elapsed}  {msg}");
    bar.set_style(style.expect("a good template"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A process of a real comparison, whose task is JSON.
pub fn run_end(task: &str) -> Exit {
    real::process::run(task)
}

fn conclude(
    played: Played,
    condition: &Condition,
    plan: &ComparePlan,
    seeds: Vec<u64>,
    thresholds: &[Threshold],
) -> Comparison {
    let Played { rows: results, is_whole, failures, over } = played;
    let summary = Summary::of(&results);
    let (thresholds, missed) = judge::judge(thresholds, &results, &summary);
    let mut reasons = judge::never_connected(&summary);
    reasons.extend(failures);
    reasons.extend(missed);
    let verdict = Verdict::of_rows("comparison", is_whole, &mut reasons);
    Comparison {
        schema_version: SCHEMA_VERSION,
        verdict,
        reasons,
        clock: if over.is_some() { "real" } else { "simulated" },
        sealing: over.is_none().then_some(peers::SEALING),
        over,
        plan: ComparePlanWords::of(condition, plan.about.as_deref()),
        seeds,
        results,
        summary,
        thresholds,
    }
}
