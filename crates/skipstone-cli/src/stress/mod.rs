//! `skipstone stress`: hundreds of clients that talk at a fixed rate, and the proof that every line arrived.
//!
//! ```text
//! plan (flags, checked) ──> generator (clients, schedule, proof) ──> outcome ──> judge ──> table, JSON, exit code
//!                           child (the server's process)   view (what is shown meanwhile)
//! ```

mod child;
mod generator;
mod impairment;
mod merge;
mod outcome;
pub(crate) mod output;
mod plan;
mod preset;
mod proof;
pub(crate) mod signals;
mod view;

use crate::measure::process::Probe;
use crate::measure::stalls::StallWatch;
use crate::report::exit::Exit;
use crate::report::format::counted;
use crate::report::judge::{Ending, judge};
use crate::report::live::Phase;
use crate::report::result::{StressResult, Verdict};
use crate::report::table::table;
use crate::resilience;
use crate::sharing;
use crate::trust;
use crate::units::mix::Mix;
use crate::units::rate::Rate;
use crate::units::size::Size;
use crate::units::span::Span;
use crate::units::threshold::Threshold;
use crate::workload::Word;
use child::ServerProcess;
use generator::{Generator, State};
use merge::Merge;
use outcome::Measured;
use plan::Plan;
pub(crate) use preset::{beside, demonstrate};
use signals::Signals;
use skipstone::Scheme;
use std::fs::File;
use std::io::{Seek, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};
use view::View;
pub(crate) use view::style;

/// Flags of `stress`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// The server, such as skip://127.0.0.1:7777#sha256=...; without one, a server is started in a process of its own
    pub(crate) url: Option<String>,
    /// Clients, each with a socket of its own
    #[arg(short, long, value_name = "N")]
    pub(crate) clients: Option<u32>,
    /// Lines that each client sends: 1/s, 1/10s, 30/min
    #[arg(short, long, value_name = "RATE", default_value = "1/s")]
    pub(crate) rate: Rate,
    /// How long lines are sent
    #[arg(short, long, value_name = "TIME", default_value = "10s")]
    pub(crate) duration: Span,
    /// Clients by carrier: udp=200,ws=100; a carrier without a number takes the rest
    #[arg(long, value_name = "MIX")]
    pub(crate) mix: Option<Mix>,
    /// Length of a line: `sentence` (random, 20 to 115 bytes), or bytes: 100, 1KiB
    #[arg(long, value_name = "SIZE", default_value = "sentence")]
    pub(crate) size: Size,
    /// Over how long the clients connect; 0s: as fast as they can
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) ramp: Span,
    /// How clients put messages together: `immediate`, or wait for so long for company: 5ms
    #[arg(long, value_name = "TIME")]
    pub(crate) merge: Option<Merge>,
    /// Each UDP client changes its port so often, as if its network changed: 2s
    #[arg(long, value_name = "TIME")]
    pub(crate) roam: Option<Span>,
    /// A condition on the result, such as 'latency.p99<50ms' or 'wire.overhead_percent<=20'; exit code 99 if missed
    #[arg(long, value_name = "CONDITION")]
    pub(crate) threshold: Vec<Threshold>,
    /// Write the result here (with --wait, that of the last run); its schema is schema/stress.schema.json
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<String>,
    /// Replays the random choices of lines and played network
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Connect, and send only while the server's console says `stress on`; each time is a run of its own
    #[arg(long, requires = "url")]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) sharing: sharing::SharingFlags,
    #[command(flatten)]
    pub(crate) resilience: resilience::ResilienceFlags,
    #[command(flatten)]
    pub(crate) protection: Protection,
    /// Show the result only
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) network: impairment::Flags,
}

/// How native clients are protected, and whom they trust.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Protection {
    #[command(flatten)]
    pub(crate) trust: trust::TrustFlags,
    /// Native clients without encryption, for comparison; the run's own server lets them in
    #[arg(long)]
    pub(crate) plain: bool,
    /// Offer this version of DTLS only
    #[arg(long, value_name = "VERSION", conflicts_with = "plain")]
    pub(crate) dtls: Option<trust::Dtls>,
}

/// How long everything may take to connect.
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// Without any delivery for so long, what is missing will not come.
const DRAIN_PATIENCE: Duration = Duration::from_secs(3);
/// When nobody at all has answered for so long, nobody will.
const ANSWER_MAX: Duration = Duration::from_secs(5);
const DRAIN_MAX: Duration = Duration::from_secs(30);
const CLOSE_MAX: Duration = Duration::from_secs(3);

/// Runs as the flags say.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    let watched = Signals::watch().map_err(|error| format!("cannot watch for signals: {error}"));
    let prepared = watched.and_then(|signals| Ok((Plan::from(arguments)?, signals)));
    let outcome = prepared.and_then(|(plan, signals)| Run::new(&plan, signals, arguments.quiet)?.play());
    outcome.unwrap_or_else(|sentence| {
        output::complain(format_args!("skipstone stress: {sentence}"));
        Exit::BadConfiguration
    })
}

/// A run under way.
struct Run<'p> {
    plan: &'p Plan,
    signals: Signals,
    view: View,
    server: Option<ServerProcess>,
    address: SocketAddr,
}

/// How a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Done,
    Interrupted,
    /// No client is left, or the server's process ended.
    Deserted,
}

impl<'p> Run<'p> {
    fn new(plan: &'p Plan, signals: Signals, is_quiet: bool) -> Result<Self, String> {
        let mut view = View::new(is_quiet);
        let words = &plan.words;
        let lasting = Span(plan.duration);
        let (server, address) = match &plan.target {
            Some(target) => (None, target.resolve().map_err(|error| error.to_string())?),
            None => {
                let mut flags = plan.resilience.words();
                flags.extend(plan.sharing.words());
                flags.extend((plan.native == Scheme::Plain).then(|| "--allow-plain".to_owned()));
                let server = ServerProcess::start(&flags)?;
                let address = server.address;
                (Some(server), address)
            }
        };
        view.say(&format!(
            "{} clients ({}), each {} for {lasting}, lines of size {}, seed {}",
            plan.clients, words.mix, words.rate, words.size, plan.seed
        ));
        Ok(Run { plan, signals, view, server, address })
    }

    fn play(mut self) -> Result<Exit, String> {
        let plan = self.plan;
        let own = self.server.as_ref().map(|server| server.url.as_str());
        let mut generator = Generator::new(plan, self.address, own)?;
        let began = Instant::now();
        let mut step = self.connect(plan, &mut generator)?;
        let ramp = began.elapsed();
        if self.server.is_none() {
            // A server of this run warns by itself, and asks for more.
            sharing::warn_of_small_buffers(generator.pool.buffer_grants());
        }
        let mut exit = None;
        loop {
            let rate = match (plan.waits, step) {
                (true, Step::Done) => match self.await_word(&mut generator)? {
                    Some(rate) => rate,
                    None => break,
                },
                _ => plan.rate,
            };
            let (result, ended) = self.measure(plan, &mut generator, rate, ramp, step)?;
            exit = Some(worse(exit, self.report(plan, &result)));
            step = ended;
            if !plan.waits || step != Step::Done {
                break;
            }
        }
        if generator.pool.open_count() > 0 {
            self.close(&mut generator)?;
        }
        let unmeasured = if self.signals.is_set() { Exit::Interrupted } else { Exit::Invalid };
        Ok(exit.unwrap_or(unmeasured))
    }

    /// Lets the clients connect. Returns when all are, or it is hopeless.
    fn connect(&mut self, plan: &Plan, generator: &mut Generator<'_>) -> Result<Step, String> {
        self.view.enter(Phase::Connecting);
        let began = Instant::now();
        loop {
            generator.connect_some(began.elapsed())?;
            generator.drive(Duration::from_millis(5))?;
            self.view.show(generator, self.server.as_mut(), plan.ramp.max(Duration::from_secs(1)), 0.0);
            // A network that is played badly may take longer.
            if plan.impairments.is_none() && began.elapsed() > ANSWER_MAX && !generator.was_answered() {
                generator.give_up(&format!(
                    "no answer from {} in {}: is a server listening there?",
                    self.address,
                    Span(ANSWER_MAX)
                ));
            }
            let pending = generator.count(State::Waiting) + generator.count(State::Connecting);
            if self.signals.is_set() {
                return Ok(Step::Interrupted);
            }
            if self.is_deserted() {
                return Ok(Step::Deserted);
            }
            if pending == 0 || began.elapsed() > plan.ramp + CONNECT_MAX {
                return Ok(if outcome::has_clients(generator) { Step::Done } else { Step::Deserted });
            }
        }
    }

    /// Waits for the console's `stress on`. `None` when the server or the user ends it.
    fn await_word(&mut self, generator: &mut Generator<'_>) -> Result<Option<Rate>, String> {
        self.view.say(&format!("{} clients wait for `stress on` on the console", generator.count(State::Connected)));
        loop {
            generator.drive(Duration::from_millis(20))?;
            if let Some(Word::StressOn(rate)) = generator.told()
                && let Ok(rate) = rate.parse()
            {
                return Ok(Some(rate));
            }
            if self.signals.is_set() || !outcome::has_clients(generator) {
                for (reason, count) in &generator.drops {
                    output::say(format_args!("{}: {reason}", counted(*count, "client")));
                }
                return Ok(None);
            }
        }
    }

    /// One measured run, from the first line to the last, and the goodbye if none follows.
    fn measure(
        &mut self,
        plan: &Plan,
        generator: &mut Generator<'_>,
        rate: Rate,
        ramp: Duration,
        connected: Step,
    ) -> Result<(StressResult, Step), String> {
        let started = SystemTime::now();
        let own = Probe::of_self();
        if let Some(server) = &mut self.server {
            server.reset();
        }
        // A run that sends nothing says nothing about what sending costs.
        let own_before = own.sample().filter(|_| connected == Step::Done);
        let server_before = self.server.as_ref().and_then(|server| server.probe.sample());
        generator.start();
        let stalls = StallWatch::start(generator.epoch).map_err(|error| format!("cannot start a thread: {error}"))?;
        let (mut step, mut sending) = (connected, Duration::ZERO);
        if connected == Step::Done {
            (step, sending) = self.send(plan, generator, rate)?;
        }
        if step == Step::Done {
            step = self.drain(generator)?;
        }
        let elapsed = generator.epoch.elapsed();
        let usage = |before: Option<_>, now: Option<crate::measure::process::Sample>| {
            now.zip(before).map(|(now, before)| now.since(&before, elapsed))
        };
        let own_usage = usage(own_before, own.sample());
        let server_figures = self.server.as_mut().map(|server| {
            let sample = server.probe.sample();
            (usage(server_before, sample), server.figures())
        });
        let stats = generator.stats_by_carrier();
        let protocol = outcome::protocol(&stats).since(&outcome::protocol(&generator.wire_before));
        let stats = outcome::since(stats, &generator.wire_before);
        let silence = generator.silence().filter(|silence| *silence > DRAIN_PATIENCE && step == Step::Done);
        let close = if plan.waits && step == Step::Done { Duration::ZERO } else { self.close(generator)? };
        let measured = Measured {
            started,
            elapsed,
            sending,
            ramp,
            close,
            generator: own_usage,
            server: server_figures,
            stalls: stalls.stop(),
            stats,
            protocol,
        };
        let mut result = outcome::result(plan, generator, &measured);
        if plan.waits {
            result.plan.rate = rate.to_string();
            result.plan.duration_s = sending.as_secs_f64();
        }
        generator.wire_before = generator.stats_by_carrier();
        let ending = if step == Step::Interrupted { Ending::Interrupted } else { Ending::Completed };
        judge(&mut result, &plan.thresholds, ending);
        if result.verdict != Verdict::Pass {
            result.reasons.extend(outcome::explanations(&result, silence));
        }
        Ok((result, step))
    }

    /// Sends on schedule. Returns for how long lines were due.
    fn send(&mut self, plan: &Plan, generator: &mut Generator<'_>, rate: Rate) -> Result<(Step, Duration), String> {
        self.view.enter(Phase::Running);
        let until = if plan.waits { Duration::MAX } else { plan.duration };
        let offered = rate.per_second() * generator.clients.len() as f64;
        let mut look = Instant::now();
        loop {
            generator.send_due(rate, until);
            generator.roam_due()?;
            let now = generator.epoch.elapsed();
            let due = generator.next_due(rate, until);
            if due.is_none() && now >= until {
                return Ok((Step::Done, until));
            }
            let wait = due.unwrap_or(until).saturating_sub(now).min(Duration::from_millis(20));
            generator.drive(wait)?;
            self.view.show(generator, self.server.as_mut(), plan.duration, offered);
            if plan.waits && generator.was_told() {
                return Ok((Step::Done, generator.epoch.elapsed()));
            }
            if self.signals.is_set() {
                return Ok((Step::Interrupted, generator.epoch.elapsed()));
            }
            if look.elapsed() > Duration::from_millis(100) {
                look = Instant::now();
                if !outcome::has_clients(generator) || self.is_deserted() {
                    return Ok((Step::Deserted, generator.epoch.elapsed()));
                }
            }
        }
    }

    /// Waits for what is on its way.
    fn drain(&mut self, generator: &mut Generator<'_>) -> Result<Step, String> {
        self.view.enter(Phase::Draining);
        let began = Instant::now();
        let (mut progress, mut delivered) = (began, generator.proof.delivered);
        while !generator.is_complete() {
            let until = Instant::now() + Duration::from_millis(10);
            while Instant::now() < until {
                generator.drive(Duration::from_millis(5))?;
            }
            if generator.proof.delivered > delivered {
                (progress, delivered) = (Instant::now(), generator.proof.delivered);
            }
            if self.signals.is_set() {
                return Ok(Step::Interrupted);
            }
            if !outcome::has_clients(generator) || self.is_deserted() {
                return Ok(Step::Deserted);
            }
            if progress.elapsed() > DRAIN_PATIENCE || began.elapsed() > DRAIN_MAX {
                break;
            }
            self.view.show(generator, self.server.as_mut(), DRAIN_MAX, 0.0);
        }
        Ok(Step::Done)
    }

    /// Ends every connection, and says how long that took.
    fn close(&mut self, generator: &mut Generator<'_>) -> Result<Duration, String> {
        self.view.enter(Phase::Closing);
        let began = Instant::now();
        generator.close();
        while generator.pool.open_count() > 0 && began.elapsed() < CLOSE_MAX {
            generator.drive(Duration::from_millis(5))?;
        }
        Ok(began.elapsed())
    }

    fn is_deserted(&mut self) -> bool {
        self.server.as_mut().is_some_and(|server| server.ended().is_some())
    }

    /// Shows the result, and writes it where it was asked for.
    fn report(&mut self, plan: &Plan, result: &StressResult) -> Exit {
        output::print(table(result, view::style()));
        if let Some(ended) = self.server.as_mut().and_then(ServerProcess::ended) {
            output::say(format_args!("The server's process ended before the run did: {ended}."));
        }
        if let Some((path, file)) = &plan.json {
            let text = serde_json::to_string_pretty(result).expect("a result has only text keys");
            if let Err(error) = replace(file, &format!("{text}\n")) {
                output::complain(format_args!("skipstone stress: cannot write --json {path}: {error}"));
                return Exit::BadConfiguration;
            }
        }
        result.verdict.into()
    }
}

/// Writes the result over that of the run before, if there was one. A pipe has both, one after the other.
fn replace(mut file: &File, text: &str) -> std::io::Result<()> {
    if file.rewind().is_ok() {
        let _ = file.set_len(0);
    }
    file.write_all(text.as_bytes())
}

/// The exit code that says more.
fn worse(before: Option<Exit>, now: Exit) -> Exit {
    before.filter(|_| now == Exit::Pass).unwrap_or(now)
}
