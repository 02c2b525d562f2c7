//! `skipstone compare`: one plan, every transport, one clock. In virtual time, so that the same plan and seeds give the
//! same figures on every machine; or for real, through a link that loses the same packets.
//!
//! ```text
//! plan (TOML) + flags ──> condition ──> jobs (contender x seed) ──> simulation (peers, links, proof) ──> rows
//!                                                                       rows ──> judge ──> table, JSON, exit code
//! ```

pub(crate) mod beside;
pub(crate) mod condition;
pub(crate) mod contender;
pub(crate) mod delivery;
mod directions;
pub(crate) mod external;
mod jobs;
mod judge;
pub(crate) mod packet_logs;
pub(crate) mod payload;
pub(crate) mod peers;
pub(crate) mod plan;
pub(crate) mod proof;
mod real;
pub(crate) mod result;
mod results_page;
pub(crate) mod row;
pub(crate) mod series;
pub(crate) mod simulation;
mod table;
pub(crate) mod transport;
pub mod two_runs;
mod validity;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skipstone::Qlog;

use crate::measure::machine::{cores, this_machine};
use crate::report::format::{percent, rfc3339};
use crate::report::paint::style;
use crate::report::{Exit, PageKind, ReportFile, Sink, Style, command, output, replace};
use crate::signals::Signals;
use crate::units::{Mode, Named, Threshold};
use condition::Condition;
use contender::Contender;
use external::ExternalTransport;
use jobs::{Job, Played, run_all};
use plan::{ComparePlan, PlanFile, distinct};
use real::run::Traces;
use real::{Moment, Repeats};
use result::{ComparePlanWords, Comparison, ConditionWords, SCHEMA_VERSION};
use row::Summary;
use transport::Transport;
use validity::Validity;

/// Flags of `compare`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct CompareArguments {
    /// The plan: a TOML file, such as plans/spatialos-25.toml
    plan: String,
    /// Run in virtual time, over a model link: exact, with identical figures on every machine
    #[arg(long)]
    simulated: bool,
    /// Runs of each transport, each with another seed [default: 3, for real 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// Duration of sending in a real run [default: 25]
    #[arg(long, value_name = "S", conflicts_with_all = ["simulated", "minutes"],
        value_parser = clap::value_parser!(u32).range(1..=86400))]
    seconds: Option<u32>,
    /// A real run during which the machine stalled in more than 10% of its samples is repeated, at most this many
    /// times; the run with the fewest stalls counts, whatever its latencies [default: 2, but no more than a tenth of
    /// all runs; with --pcap or --qlog 0]
    #[arg(long, value_name = "N", conflicts_with = "simulated", value_parser = clap::value_parser!(u32).range(..=100))]
    repeats: Option<u32>,
    /// The first seed; the others follow
    #[arg(long, value_name = "FIRST", default_value_t = 1)]
    seed: u64,
    /// The transports to run, instead of the plan's:
    /// skipstone,skipstone-ageless,skipstone-plain,kcp,kcp-tuned,kcp-msg,kcp-fec,kcp-msg-fec,kcp-fec-1-1,kcp-fec-1-2,
    /// quinn,quinn-tuned,quinn-bbr,renet,renet-tuned; for real also skipstone-wt,skipstone-ws,skipstone-wss,tcp,enet
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    transports: Option<Vec<Transport>>,
    /// An external transport program, which joins a real run; may be given several times. Its interface:
    /// docs/guide/others-transports.md
    #[arg(long, value_name = "NAME=COMMAND", conflicts_with = "simulated")]
    external: Vec<ExternalTransport>,
    /// Skipstone's modes: off,lean,adaptive,fixed:10+3,repeat:2
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    modes: Option<Vec<Mode>>,
    /// A condition on every row, or on those that it names: 'skipstone.adaptive.p998<24ms', 'kcp.median.max<60ms',
    /// 'lost==0'; exit code 99 if missed
    #[arg(long, value_name = "CONDITION")]
    threshold: Vec<Threshold>,
    /// Write the result to this file, `-` for standard output instead of the table; its schema is
    /// schema/compare.schema.json
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Write the report to this file: one HTML file with curves, which needs no network
    #[arg(long, value_name = "FILE")]
    report: Option<String>,
    /// Write the tables to this file as a Markdown page, with the setup and the command that repeats it
    #[arg(long, value_name = "FILE")]
    results_page: Option<String>,
    /// Capture both ends of each real run into PREFIX-TRANSPORT-MODE-SEED-a.pcap and …-b.pcap
    #[arg(long, value_name = "PREFIX", conflicts_with = "simulated")]
    pcap: Option<String>,
    /// Write the packet events of Skipstone's ends into files in this directory, as qlog JSON, which qvis opens:
    /// TRANSPORT-MODE-SEED-client-1.sqlog and …-server-1.sqlog. Existing files stay
    #[arg(long, value_name = "DIR")]
    qlog: Option<String>,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    values: condition::Flags,
}

/// Runs as the flags say.
pub fn run(arguments: &CompareArguments) -> Exit {
    Exit::of("compare", compare(arguments))
}

fn compare(arguments: &CompareArguments) -> Result<Exit, String> {
    let file = ComparePlan::read(&arguments.plan)?;
    let mut conditions = conditions(&file, &arguments.values)?;
    let plan = file.plan;
    if !arguments.simulated && arguments.values.minutes.is_none() {
        let lasting = Duration::from_secs(arguments.seconds.map_or(SECONDS, u64::from));
        conditions.iter_mut().for_each(|condition| condition.last_for(lasting));
    }
    let contenders = contenders(&plan, arguments)?;
    if contenders.is_empty() {
        return Err("skipstone-ageless takes part in lean, adaptive and others that send copies, not in off".into());
    }
    judge::check(&arguments.threshold, &contenders)?;
    let seeds = arguments.seeds.unwrap_or(if arguments.simulated { 3 } else { 1 });
    let seeds: Vec<u64> = (0..seeds).map(|at| arguments.seed.wrapping_add(at)).collect();
    let sink = Sink::open(arguments.json.as_deref())?;
    let report = arguments.report.as_deref().map(ReportFile::open).transpose()?;
    if let Some(path) = &arguments.results_page {
        replace::check(path.as_ref()).map_err(|error| format!("cannot write --results-page {path}: {error}"))?;
    }
    let qlog = arguments.qlog.as_deref().map(packet_logs::begin).transpose()?;
    let traces = Traces { pcap: arguments.pcap.as_deref(), qlog: arguments.qlog.as_deref() };
    let started = SystemTime::now();
    let signals = Signals::watch()?;
    let jobs = jobs::all(&contenders, &seeds, conditions.len())?;
    let mut repeats = repeats(arguments.repeats, traces, jobs.len() * conditions.len());
    let bar = progress(jobs.len() * conditions.len(), arguments.quiet);
    let mut played = Played { is_whole: true, ..Played::default() };
    for condition in &conditions {
        let under_one = if arguments.simulated {
            simulate(&jobs, condition, qlog.as_ref(), signals.flag(), &bar)
        } else {
            play(&jobs, condition, (traces, &mut repeats), signals.flag(), &bar)?
        };
        played.add(under_one);
        if !played.is_whole {
            break;
        }
    }
    bar.finish_and_clear();
    if let Some(sentence) = qlog.as_ref().and_then(packet_logs::failure) {
        output::complain(format_args!("skipstone compare: {sentence}"));
    }
    let comparison = conclude(played, &conditions, &plan, seeds, &arguments.threshold, started);
    let shown = sink.show(&comparison, &table::table(&comparison, style()), &comparison.reasons);
    let kept = shown.and(write_pages(&comparison, report, arguments.results_page.as_deref()));
    Ok(Exit::from(comparison.verdict).once_kept("compare", kept))
}

/// Writes the pages that are wanted.
fn write_pages(comparison: &Comparison, report: Option<ReportFile>, results_page: Option<&str>) -> Result<(), String> {
    if let Some(report) = report {
        let (heading, text) = (table::heading(comparison), table::table(comparison, Style::Plain));
        report.write(PageKind::Comparison, &heading, comparison, &text)?;
    }
    let Some(path) = results_page else { return Ok(()) };
    replace::replace(path.as_ref(), results_page::results_page(comparison).as_bytes())
        .map_err(|error| format!("cannot write --results-page {path}: {error}"))
}

/// The plan's conditions with the flags' values. A mistake in the plan has its position there; a mistake in a flag has
/// none.
fn conditions(file: &PlanFile, flags: &condition::Flags) -> Result<Vec<Condition>, String> {
    Condition::all(&file.plan, flags).map_err(|misfit| {
        let is_the_plans = Condition::all(&file.plan, &condition::Flags::default()).err() == Some(misfit.clone());
        if is_the_plans { file.mistake(&misfit) } else { misfit.sentence }
    })
}

fn contenders(plan: &ComparePlan, arguments: &CompareArguments) -> Result<Vec<Contender>, String> {
    let is_distinct = arguments.transports.as_deref().map_or(Ok(()), distinct);
    is_distinct.map_err(|sentence| format!("--transports: {sentence}"))?;
    let is_distinct = arguments.modes.as_deref().map_or(Ok(()), distinct);
    is_distinct.map_err(|sentence| format!("--modes: {sentence}"))?;
    let named = arguments.transports.clone().or(plan.transports.clone());
    if let Some(transport) = named.iter().flatten().find(|transport| arguments.simulated && transport.needs_sockets()) {
        return Err(format!("{transport} opens its own sockets, so it runs only without --simulated"));
    }
    let takes_part = |transport: &Transport| {
        if arguments.simulated { !transport.needs_sockets() } else { transport.is_usual() }
    };
    let usual = || Transport::built_in().into_iter().filter(takes_part).collect();
    let transports = named.unwrap_or_else(usual);
    let modes = arguments.modes.as_deref().or(plan.modes.as_deref());
    let external = Contender::all_external(&arguments.external)?;
    Ok(Contender::all(&transports, modes).into_iter().chain(external).collect())
}

/// The default duration of a real run in seconds.
const SECONDS: u64 = 25;
/// The default limit for repeating a disturbed run.
const REPEATS: u32 = 2;
/// By default one of this many runs may be repeated, so that ten minutes stay about ten.
const RUNS_PER_REPEAT: u32 = 10;

fn repeats(asked: Option<u32>, traces: Traces<'_>, runs: usize) -> Repeats {
    match asked {
        Some(each) => Repeats { each, in_all: u32::MAX },
        None if traces.are_none() => Repeats { each: REPEATS, in_all: (runs as u32).div_ceil(RUNS_PER_REPEAT) },
        None => Repeats { each: 0, in_all: 0 },
    }
}

/// A row for each contender and seed; fewer, if it was stopped.
fn simulate(jobs: &[Job], condition: &Condition, qlog: Option<&Qlog>, stop: &AtomicBool, bar: &ProgressBar) -> Played {
    let rows = run_all(jobs, condition, cores(), qlog, stop, |job| {
        bar.set_message(told(job, condition));
        bar.inc(1);
    });
    let is_whole = rows.iter().all(Option::is_some);
    Played { rows: rows.into_iter().flatten().collect(), is_whole, ..Played::default() }
}

/// Runs real jobs one after another.
fn play(
    jobs: &[Job],
    condition: &Condition,
    (traces, repeats): (Traces<'_>, &mut Repeats),
    stop: &AtomicBool,
    bar: &ProgressBar,
) -> Result<Played, String> {
    let mut played = real::run_all(jobs, condition, traces, repeats, stop, |job, moment| match moment {
        Moment::Begins => bar.set_message(told(job, condition)),
        Moment::Again { stalled } => {
            bar.set_message(format!("{}, again: {} stalled", told(job, condition), percent(stalled * 100.0)));
        }
        Moment::Ended => bar.inc(1),
    })?;
    if let Some(name) = &condition.name {
        for failure in &mut played.failures {
            failure.insert_str(0, &format!("Under {name}: "));
        }
    }
    Ok(played)
}

/// The progress of a comparison, for its users.
fn told(job: &Job, condition: &Condition) -> String {
    let under = condition.name.as_ref().map_or(String::new(), |name| format!(", {name}"));
    table::job(job.contender, job.seed) + &under
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
    conditions: &[Condition],
    plan: &ComparePlan,
    seeds: Vec<u64>,
    thresholds: &[Threshold],
    started: SystemTime,
) -> Comparison {
    let Played { rows: results, is_whole, failures, over } = played;
    let summary = Summary::of(&results);
    let (thresholds, missed) = judge::judge(thresholds, &results, &summary);
    let validity = Validity::of(&results, over.is_some());
    let broken = [judge::never_connected(&summary), judge::delivered_nothing(&results), failures].concat();
    let (verdict, reasons) = judge::verdict(is_whole, broken, missed, &validity);
    Comparison {
        schema_version: SCHEMA_VERSION,
        verdict,
        reasons,
        clock: if over.is_some() { "real" } else { "simulated" },
        validity,
        command: command(),
        started: over.is_some().then(|| rfc3339(started)),
        machine: over.is_some().then(this_machine),
        sealing: over.is_none().then_some(peers::SEALING),
        over,
        plan: ComparePlanWords::of(&conditions[0], plan.about.as_deref()),
        conditions: ConditionWords::of(conditions),
        seeds,
        results,
        summary,
        thresholds,
    }
}
