//! A stress run, phase by phase: connect, send, drain, close; and its result.

use super::arguments::StressArguments;
use super::child::{ServerProcess, server_of};
use super::connects;
use super::costs::CostMeter;
use super::generator::{ClientState, Generator};
use super::keep;
use super::lead::{self, AgreedStart, Lead, LeadWord, PartNews, PartOrder, Ready};
use super::outcome;
use super::outcome::Measured;
use super::plan::Plan;
use super::view::{LiveView, Viewer};
use super::vigil::Vigil;
use crate::qlog_flags::QlogWatch;
use crate::sharing;
use skipstone::{PacketLog, Qlog};
use skipstone_lab::measure::process::Probe;
use skipstone_lab::measure::stalls::StallWatch;
use skipstone_lab::report::format::counted;
use skipstone_lab::report::output;
use skipstone_lab::report::paint::style;
use skipstone_lab::report::stress::chronicle::Chronicle;
use skipstone_lab::report::stress::evidence::PartEvidence;
use skipstone_lab::report::stress::judge::{Ending, judge};
use skipstone_lab::report::stress::live::Phase;
use skipstone_lab::report::stress::result::StressResult;
use skipstone_lab::report::stress::table::{heading, table};
use skipstone_lab::report::{Exit, PageKind, ReportFile, Style, Verdict};
use skipstone_lab::signals::Signals;
use skipstone_lab::units::{Carrier, Rate, Span};
use skipstone_lab::workload::{StressTurn, Word};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

/// How long everything may take to connect.
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// Without any delivery for this long, missing lines count as lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(3);
/// Without any answer for this long, the server counts as unreachable.
const ANSWER_MAX: Duration = Duration::from_secs(5);
const DRAIN_MAX: Duration = Duration::from_secs(30);
/// The server's clock is asked for during this time, once all clients are connected and the server is calm.
const CLOCK_MIN: Duration = Duration::from_millis(900);
const CLOCK_MAX: Duration = Duration::from_secs(2);
const CLOSE_MAX: Duration = Duration::from_secs(3);
/// How long a round waits at most where an answer is waited for.
const STEP: Duration = Duration::from_millis(5);

/// Runs as the flags say.
pub(crate) fn run(arguments: &StressArguments) -> Exit {
    if let Some(rate) = arguments.connects {
        return connects::run(arguments, rate);
    }
    let signals = if arguments.piped { Signals::watch_as_child() } else { Signals::watch() };
    let mut lead = None;
    match &signals {
        Ok(signals) if arguments.part.is_some() => lead = Some(Lead::listen(signals.clone())),
        Ok(signals) if arguments.piped => end_with_parent(signals.clone()),
        _ => {}
    }
    let prepared = signals.and_then(|signals| Ok((Plan::from(arguments)?, signals)));
    let ended = prepared.and_then(|(plan, signals)| begin(&plan, signals, lead));
    if let (true, Err(sentence)) = (arguments.part.is_some(), &ended) {
        lead::tell(&PartNews::Failed(sentence.clone()));
    }
    Exit::of("stress", ended)
}

/// Plays a plan. The error is about what could not begin; what then goes wrong is no mistake in the flags.
fn begin(plan: &Plan, signals: Signals, lead: Option<Lead>) -> Result<Exit, String> {
    let qlog = plan.flags.qlog.begin()?;
    let (server, address) = match server_of(plan) {
        Ok(found) => found,
        Err(exit) => {
            if plan.order.is_some() {
                let url = plan.words.url.as_deref().unwrap_or_default();
                lead::tell(&PartNews::Failed(format!(
                    "the server {url} cannot be resolved to an address on this machine"
                )));
            }
            return Ok(exit);
        }
    };
    let mut view = LiveView::new(match (plan.flags.piped, plan.flags.quiet) {
        (true, _) => Viewer::Parent,
        (false, true) => Viewer::Nobody,
        (false, false) => Viewer::People,
    });
    let words = &plan.words;
    view.say(&format!(
        "{} clients ({}), each {} for {}, lines of size {}, seed {}",
        plan.clients, words.mix, words.rate, plan.flags.duration, words.size, plan.seed
    ));
    let run = Run { plan, signals, view, server, address, qlog, lead };
    let ended = run.play();
    if let (Some(_), Err(sentence)) = (&plan.order, &ended) {
        lead::tell(&PartNews::Failed(sentence.clone()));
    }
    Ok(ended.unwrap_or_else(|sentence| Exit::Invalid.told("stress", sentence)))
}

/// The run must stop when the parent ends or closes the standard input.
pub(crate) fn end_with_parent(signals: Signals) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        signals.flag().store(true, Ordering::Relaxed);
    });
}

/// A run under way.
struct Run<'p> {
    plan: &'p Plan,
    signals: Signals,
    view: LiveView,
    server: Option<ServerProcess>,
    address: SocketAddr,
    qlog: Option<Qlog>,
    /// The agent that gives the word to start, in a run on several machines.
    lead: Option<Lead>,
}

/// How a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Done,
    Interrupted,
    /// No client is left, or the server's process ended.
    Deserted,
}

impl Run<'_> {
    fn play(mut self) -> Result<Exit, String> {
        let plan = self.plan;
        let own = self.server.as_ref().map(|server| server.url.as_str());
        let web_hash = self.server.as_ref().and_then(|server| server.web_hash.as_deref());
        let mut generator = Generator::new(plan, self.address, own, web_hash, self.log_of("client"))?;
        let began = Instant::now();
        let mut step = self.connect(plan, &mut generator)?;
        let ramp = began.elapsed();
        if self.server.is_none() {
            // A server of this run warns by itself, and asks for more.
            sharing::warn_of(generator.pool.buffer_grants().and_then(|grants| grants.remedy()));
        }
        if let Some(order) = &plan.order {
            return self.play_part(order, &mut generator, ramp, step);
        }
        let mut exit = None;
        loop {
            let rate = match (plan.flags.wait, step) {
                (true, Step::Done) => match self.await_word(&mut generator)? {
                    Some(rate) => rate,
                    None => break,
                },
                _ => plan.flags.rate,
            };
            let (measured, ended) = self.measure(plan, &mut generator, rate, ramp, (step, None))?;
            let result = conclude(plan, &mut generator, &measured, rate, ended);
            exit = Some(worse(exit, self.report(plan, &generator, &result)));
            step = ended;
            if !plan.flags.wait || step != Step::Done {
                break;
            }
        }
        if generator.open_count() > 0 {
            self.close(&mut generator)?;
        }
        if let Some(qlog) = self.qlog.take() {
            QlogWatch::new("stress", qlog).tell();
        }
        // Without a signal, only the server ends the wait for its word.
        let unmeasured = if self.signals.is_set() { Exit::Interrupted } else { Exit::Unavailable };
        Ok(exit.unwrap_or(unmeasured))
    }

    fn log_of(&self, name: &str) -> Option<Arc<dyn PacketLog>> {
        self.qlog.as_ref().map(|qlog| qlog.endpoint(name))
    }

    /// Lets the clients connect. Returns when all are, or it is hopeless.
    fn connect(&mut self, plan: &Plan, generator: &mut Generator<'_>) -> Result<Step, String> {
        self.view.enter(Phase::Connecting);
        let began = Instant::now();
        loop {
            generator.connect_some(began.elapsed())?;
            generator.drive(STEP)?;
            self.view.show(generator, self.server.as_mut(), plan.flags.ramp.0.max(Duration::from_secs(1)), 0.0);
            // A simulated bad network may take longer.
            if plan.impairments.is_none() && began.elapsed() > ANSWER_MAX && !generator.was_answered() {
                generator.give_up(&format!(
                    "no answer from {} in {}: is a server listening there?",
                    self.address,
                    Span(ANSWER_MAX)
                ));
            }
            let pending = generator.count(ClientState::Waiting) + generator.count(ClientState::Connecting);
            if self.signals.is_set() {
                return Ok(Step::Interrupted);
            }
            if self.is_deserted() {
                return Ok(Step::Deserted);
            }
            if pending == 0 || began.elapsed() > plan.flags.ramp.0 + CONNECT_MAX {
                return Ok(if generator.has_clients() { Step::Done } else { Step::Deserted });
            }
        }
    }

    /// Waits for the console's `stress on`. `None` when the server or the user ends it.
    fn await_word(&mut self, generator: &mut Generator<'_>) -> Result<Option<Rate>, String> {
        self.view.waiting(generator.count(ClientState::Connected));
        self.tell(generator, StressTurn::Waits);
        loop {
            generator.drive(Duration::from_millis(20))?;
            if let Some(Word::StressOn(rate)) = generator.told.take()
                && let Ok(rate) = rate.parse()
            {
                self.tell(generator, StressTurn::Runs);
                return Ok(Some(rate));
            }
            if self.signals.is_set() || !generator.has_clients() {
                for (reason, count) in &generator.drops {
                    output::say(format_args!("{}: {reason}", counted(*count, "client")));
                }
                return Ok(None);
            }
        }
    }

    /// Tells the server what the clients do, unless a parent started them: it gives the word itself.
    fn tell(&self, generator: &mut Generator<'_>, turn: StressTurn) {
        if self.view.viewer != Viewer::Parent {
            generator.tell(turn);
        }
    }

    /// One measured run, from the first line to the last, and the goodbye if none follows.
    fn measure(
        &mut self,
        plan: &Plan,
        generator: &mut Generator<'_>,
        rate: Rate,
        ramp: Duration,
        (connected, at): (Step, Option<Instant>),
    ) -> Result<(Measured, Step), String> {
        let started = SystemTime::now();
        let own = Probe::of_self();
        if let Some(server) = &mut self.server {
            server.reset();
        }
        // A run that sends nothing says nothing about what sending costs.
        let own_before = own.sample().filter(|_| connected == Step::Done);
        let server_before = self.server.as_ref().and_then(|server| server.probe.sample());
        generator.start(rate, at)?;
        let stalls = StallWatch::start(generator.epoch).map_err(|error| format!("cannot start a thread: {error}"))?;
        let (mut step, mut sending) = (connected, Duration::ZERO);
        if connected == Step::Done {
            (step, sending) = self.send(plan, generator, rate)?;
        }
        let mut vigil = None;
        if step == Step::Done {
            let drained = self.drain(generator)?;
            (step, vigil) = (drained.0, Some(drained.1));
        }
        // Where others have clients too, nothing tells that the last line is there but that no more come.
        let idle = if plan.order.is_some() { generator.silence() } else { Duration::ZERO };
        let elapsed = generator.epoch.elapsed().saturating_sub(idle);
        let usage = |before: Option<_>, now: Option<skipstone_lab::measure::process::Sample>| {
            now.zip(before).map(|(now, before)| now.since(&before, elapsed))
        };
        let own_usage = usage(own_before, own.sample());
        let server_figures = self.server.as_mut().map(|server| {
            let sample = server.probe.sample();
            (usage(server_before, sample), server.figures())
        });
        let server_clock = generator.server_clock().map(|clock| (Instant::now(), clock));
        let mut stats = generator.stats_by_carrier();
        stats.iter_mut().zip(&generator.wire_before).for_each(|(now, before)| now.subtract(before));
        let is_silent = |vigil: &Vigil| vigil.is_silent() && !generator.has_own_back();
        let silence = vigil.filter(is_silent).map(|_| generator.silence());
        let missing = generator.drop_missing();
        let process_ended = self.server.as_mut().and_then(ServerProcess::ended);
        let close = if plan.flags.wait && step == Step::Done { Duration::ZERO } else { self.close(generator)? };
        let measured = Measured {
            started,
            elapsed,
            sending,
            ramp,
            close,
            generator: own_usage,
            server: server_figures,
            stalls: stalls.stop(),
            process_ended,
            silence,
            missing,
            stats,
            server_clock,
        };
        Ok((measured, step))
    }

    /// A part of a run on several machines: starts on the word, and leaves its evidence.
    fn play_part(
        &mut self,
        order: &PartOrder,
        generator: &mut Generator<'_>,
        ramp: Duration,
        connected: Step,
    ) -> Result<Exit, String> {
        if connected == Step::Interrupted {
            return Ok(Exit::Interrupted);
        }
        let plan = self.plan;
        self.find_clock(generator)?;
        lead::tell(&PartNews::Ready(Ready {
            connected: generator.count(ClientState::Connected) as u64,
            asked: generator.clients.len() as u64,
            why: generator.drops.keys().next().cloned(),
            server_clock_us: generator.server_clock().map(|it| (it.at.as_micros() as u64, it.error.as_micros() as u64)),
        }));
        let Some(start) = self.await_start(generator)? else { return Ok(Exit::Interrupted) };
        let (measured, ended) = self.measure(plan, generator, plan.flags.rate, ramp, (connected, Some(start.epoch)))?;
        let result = outcome::result(plan, generator, &measured);
        let is_interrupted = ended == Step::Interrupted;
        let folder = plan.flags.qlog.qlog.as_ref().map(|folder| {
            std::path::absolute(folder).map_or_else(|_| folder.clone(), |folder| folder.display().to_string())
        });
        let evidence = keep::evidence(order, &start, generator, &measured, result, is_interrupted);
        let evidence = PartEvidence { qlog: folder, ..evidence };
        if let Some(qlog) = self.qlog.take() {
            QlogWatch::new("stress", qlog).tell();
        }
        lead::tell(&PartNews::Kept(keep::write(order, &evidence)?));
        Ok(if is_interrupted { Exit::Interrupted } else { Exit::Pass })
    }

    /// Waits until the server has sent its time often enough for a good estimate, if it sends it.
    fn find_clock(&self, generator: &mut Generator<'_>) -> Result<(), String> {
        let began = Instant::now();
        generator.ask_server_clock();
        let is_known = |generator: &Generator<'_>| began.elapsed() > CLOCK_MIN && generator.server_clock().is_some();
        while began.elapsed() < CLOCK_MAX && !is_known(generator) && !self.signals.is_set() {
            generator.drive(STEP)?;
        }
        Ok(())
    }

    /// Waits for the word to start. `None` when there will be none.
    fn await_start(&mut self, generator: &mut Generator<'_>) -> Result<Option<AgreedStart>, String> {
        while !self.signals.is_set() {
            generator.drive(STEP)?;
            if let Some(LeadWord::Start(at)) = self.lead.as_ref().and_then(Lead::poll) {
                return at.agree(generator.server_clock()).map(Some);
            }
        }
        Ok(None)
    }

    /// Sends on schedule. Returns for how long lines were due.
    fn send(&mut self, plan: &Plan, generator: &mut Generator<'_>, rate: Rate) -> Result<(Step, Duration), String> {
        self.view.enter(Phase::Running);
        let until = if plan.flags.wait { Duration::MAX } else { plan.flags.duration.0 };
        let offered = rate.per_second() * generator.clients.len() as f64;
        let mut look = Instant::now();
        let mut costs = CostMeter::new(self.server.as_ref().map(|server| server.probe.clone()), generator);
        loop {
            costs.look(generator);
            generator.send_due(rate, until);
            generator.roam_due()?;
            let now = generator.epoch.elapsed();
            let due = generator.next_due(rate, until);
            if due.is_none() && now >= until {
                return Ok((Step::Done, until));
            }
            let wait = due.unwrap_or(until).saturating_sub(now).min(Duration::from_millis(20));
            generator.drive(wait)?;
            self.view.show(generator, self.server.as_mut(), plan.flags.duration.0, offered);
            if plan.flags.wait && generator.told.is_some() {
                return Ok((Step::Done, generator.epoch.elapsed()));
            }
            if self.signals.is_set() {
                return Ok((Step::Interrupted, generator.epoch.elapsed()));
            }
            if look.elapsed() > Duration::from_millis(100) {
                look = Instant::now();
                if !generator.has_clients() || self.is_deserted() || generator.is_unheard() {
                    return Ok((Step::Deserted, generator.epoch.elapsed()));
                }
            }
        }
    }

    /// Waits for what is on its way.
    fn drain(&mut self, generator: &mut Generator<'_>) -> Result<(Step, Vigil), String> {
        self.view.enter(Phase::Draining);
        let began = Instant::now();
        let mut vigil = Vigil::new(generator);
        let (mut progress, mut delivered) = (began, generator.proof.delivered);
        let mut is_clock_wanted = generator.is_part();
        while !generator.is_complete() {
            let until = Instant::now() + Duration::from_millis(10);
            while Instant::now() < until {
                generator.drive(STEP)?;
            }
            vigil.look(generator);
            if generator.proof.delivered > delivered {
                (progress, delivered) = (Instant::now(), generator.proof.delivered);
            }
            if is_clock_wanted && progress.elapsed() > DRAIN_PATIENCE / 2 {
                generator.ask_server_clock();
                is_clock_wanted = false;
            }
            if self.signals.is_set() {
                return Ok((Step::Interrupted, vigil));
            }
            if !generator.has_clients() || self.is_deserted() {
                return Ok((Step::Deserted, vigil));
            }
            if progress.elapsed() > DRAIN_PATIENCE || began.elapsed() > DRAIN_MAX {
                break;
            }
            self.view.show(generator, self.server.as_mut(), DRAIN_MAX, 0.0);
        }
        Ok((Step::Done, vigil))
    }

    /// Ends every connection, and says how long that took.
    fn close(&mut self, generator: &mut Generator<'_>) -> Result<Duration, String> {
        self.view.enter(Phase::Closing);
        let began = Instant::now();
        generator.close();
        while generator.open_count() > 0 && began.elapsed() < CLOSE_MAX {
            generator.drive(STEP)?;
        }
        Ok(began.elapsed())
    }

    fn is_deserted(&mut self) -> bool {
        self.server.as_mut().is_some_and(|server| server.ended().is_some())
    }

    /// Shows the result, and writes it where it was asked for.
    fn report(&mut self, plan: &Plan, generator: &Generator<'_>, result: &StressResult) -> Exit {
        if self.view.viewer == Viewer::Parent {
            output::say(serde_json::json!({ "result": result }));
            return result.verdict.into();
        }
        let carriers: Vec<Carrier> = plan.mix.iter().map(|(carrier, _)| *carrier).collect();
        let written = write_report(plan.report.as_ref(), &carriers, generator.proof.chronicle.as_ref(), result);
        let shown = plan.sink.show(result, &table(result, style()), &[]).and(written);
        Exit::from(result.verdict).once_kept("stress", shown)
    }
}

/// Writes the report, if one is wanted.
pub(crate) fn write_report(
    file: Option<&ReportFile>,
    carriers: &[Carrier],
    chronicle: Option<&Chronicle>,
    result: &StressResult,
) -> Result<(), String> {
    let Some((file, chronicle)) = file.zip(chronicle) else { return Ok(()) };
    file.write(PageKind::Stress, &heading(result), &chronicle.report(result, carriers), &table(result, Style::Plain))
}

/// Builds the result from the measurements, and judges it.
fn conclude(plan: &Plan, generator: &mut Generator<'_>, measured: &Measured, rate: Rate, step: Step) -> StressResult {
    let mut result = outcome::result(plan, generator, measured);
    if plan.flags.wait {
        result.plan.rate = rate.to_string();
        result.plan.duration_s = measured.sending.as_secs_f64();
    }
    generator.wire_before = generator.stats_by_carrier();
    let ending = if step == Step::Interrupted { Ending::Interrupted } else { Ending::Completed };
    judge(&mut result, &plan.flags.threshold, ending);
    if result.verdict != Verdict::Pass {
        result.reasons.extend(outcome::explanations(&result));
    }
    result
}

/// The exit code that says more.
fn worse(before: Option<Exit>, now: Exit) -> Exit {
    before.filter(|_| now == Exit::Pass).unwrap_or(now)
}
