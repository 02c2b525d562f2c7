//! One run: a transport, a number of clients, two processes; and what came of it.

use std::time::Duration;

use super::child::{Child, Priority, Silence};
use super::drivers::Drive;
use super::network::{self, Network};
use super::row::{Figures, Row};
use super::server::Workload;
use super::transport::Transport;
use super::variant::{Delivery, Variant};
use super::words::{Found, Progress, Snapshot, Told};
use crate::resilience::ResilienceFlags;
use crate::stress::signals::Signals;
use crate::units::rate::Rate;
use crate::units::span::Span;

/// What all trials of a bench have in common.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) workload: Workload,
    /// Lines of each client; `None`: nothing is sent.
    pub(crate) rate: Option<Rate>,
    pub(crate) line_bytes: usize,
    pub(crate) warmup: Duration,
    pub(crate) duration: Duration,
    pub(crate) ticks_per_second: u32,
    pub(crate) network: Network,
    pub(crate) server_cpu: Option<usize>,
    pub(crate) load_cpu: Option<usize>,
    pub(crate) drive: Drive,
    pub(crate) priority: Priority,
    /// How Skipstone answers loss and shares a link.
    pub(crate) resilience: ResilienceFlags,
    /// The most that a delivery may take at the 99th percentile.
    pub(crate) p99_max: Duration,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trial {
    pub(crate) transport: Transport,
    pub(crate) clients: u32,
    pub(crate) variant: Variant,
}

/// What the processes said.
#[derive(Debug, Clone, Default)]
struct Evidence {
    /// Before the first client.
    idle: Option<Snapshot>,
    begin: Option<Snapshot>,
    end: Option<Snapshot>,
    found: Option<Found>,
}

const START_MAX: Duration = Duration::from_secs(15);
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// All clients connect within this, or do not.
const CONNECT_MAX: Duration = Duration::from_secs(20);
/// The end of a load: draining, closing, counting.
const END_MAX: Duration = Duration::from_secs(25);

impl Trial {
    /// Plays it. What goes wrong is in the row; an error is an interruption.
    pub(crate) fn play(self, setup: &Setup, signals: &Signals, mut show: impl FnMut(Progress)) -> Result<Row, Silence> {
        let mut evidence = Evidence::default();
        if let Some(most) = self.transport.clients_max().filter(|most| self.clients > *most) {
            return Ok(self.row(setup, &evidence, Some(format!("it serves {most} clients at most"))));
        }
        if !self.transport.has(self.variant) {
            return Ok(self.row(setup, &evidence, Some(format!("it is not driven with {}", self.variant))));
        }
        match self.run(setup, signals, &mut evidence, &mut show) {
            Ok(()) => Ok(self.row(setup, &evidence, None)),
            Err(Silence::Failed(reason)) => Ok(self.row(setup, &evidence, Some(reason))),
            Err(Silence::Interrupted) => Err(Silence::Interrupted),
        }
    }

    fn run(
        self,
        setup: &Setup,
        signals: &Signals,
        evidence: &mut Evidence,
        show: &mut dyn FnMut(Progress),
    ) -> Result<(), Silence> {
        let (mut server, mut load) = self.processes(setup, signals)?;
        if setup.network == Network::Veth {
            network::connect(server.id(), load.id()).map_err(Silence::Failed)?;
        }
        server.tell("go");
        load.tell("go");
        let Told::Listening { url } = server.hear(START_MAX, signals)? else {
            return Err(Silence::Failed("the server said something else than its URL".into()));
        };
        load.hear(START_MAX, signals)?;
        evidence.idle = Some(snapshot(&mut server, signals)?);
        load.tell(&url);
        let patience = CONNECT_MAX + setup.warmup + setup.duration + END_MAX;
        loop {
            match load.hear(patience, signals)? {
                Told::Connected { clients, .. } => show(Progress { connected: clients, ..Progress::default() }),
                Told::Progress(progress) => show(progress),
                Told::WindowBegins => evidence.begin = Some(snapshot(&mut server, signals)?),
                Told::WindowEnds => evidence.end = Some(snapshot(&mut server, signals)?),
                Told::Found(found) => {
                    evidence.found = Some(*found);
                    break;
                }
                _ => {}
            }
        }
        server.tell("stop");
        Ok(())
    }

    fn processes(self, setup: &Setup, signals: &Signals) -> Result<(Child, Child), Silence> {
        let workload = match setup.workload {
            Workload::Broadcast => "broadcast",
            Workload::Echo => "echo",
        };
        let mut common = vec![format!("--transport={}", self.transport), format!("--clients={}", self.clients)];
        common.push(format!("--workload={workload}"));
        common.push(format!("--channels={}", self.variant.channels()));
        common.push(format!("--delivery={}", self.variant.delivery().name()));
        common.extend((setup.network == Network::Veth).then(|| "--apart".to_owned()));
        common.extend(setup.resilience.words());
        let cpu = |cpu: Option<usize>| cpu.map(|cpu| format!("--cpu={cpu}"));
        let mut of_server = common.clone();
        of_server.extend([format!("--tick={}", setup.ticks_per_second), format!("--drive={}", setup.drive.name())]);
        of_server.extend(cpu(setup.server_cpu));
        let mut of_load = common;
        of_load.extend(setup.rate.map(|rate| format!("--rate={rate}")));
        of_load.extend(self.variant.in_flight().map(|lines| format!("--in-flight={lines}")));
        of_load.extend([
            format!("--bytes={}", setup.line_bytes),
            format!("--warmup={}", Span(setup.warmup)),
            format!("--duration={}", Span(setup.duration)),
            format!("--connect-max={}", Span(CONNECT_MAX)),
        ]);
        of_load.extend(cpu(setup.load_cpu));
        let server = Child::start("bench-server", &of_server, setup.priority).map_err(Silence::Failed)?;
        let load = Child::start("bench-load", &of_load, setup.priority).map_err(Silence::Failed)?;
        for child in [&server, &load] {
            child.hear(START_MAX, signals)?;
        }
        Ok((server, load))
    }

    fn row(self, setup: &Setup, evidence: &Evidence, failure: Option<String>) -> Row {
        let figures = evidence.figures(setup);
        let mut reasons: Vec<String> = failure.into_iter().collect();
        if reasons.is_empty() {
            reasons = evidence.shortcomings(self, setup, &figures);
        }
        Row {
            transport: self.transport.name(),
            variant: self.variant.name(),
            clients: self.clients,
            rate: setup.rate.map_or(0.0, |rate| rate.per_second()),
            passed: reasons.is_empty(),
            reasons,
            rounds: 1,
            figures,
        }
    }
}

fn snapshot(server: &mut Child, signals: &Signals) -> Result<Snapshot, Silence> {
    server.tell("mark");
    match server.hear(ANSWER_MAX, signals)? {
        Told::Snapshot(snapshot) => Ok(snapshot),
        _ => Err(Silence::Failed("the server answered something else than its counters".into())),
    }
}

impl Evidence {
    fn figures(&self, setup: &Setup) -> Figures {
        let mut figures = Figures::default();
        if let Some(found) = &self.found {
            figures.take_found(found);
        }
        let (Some(begin), Some(end), Some(found)) = (self.begin, self.end, &self.found) else { return figures };
        let seconds = ((end.at_ns - begin.at_ns) as f64 / 1e9).max(1e-6);
        let deliveries = found.deliveries_in_window as f64;
        figures.ticks_per_second = Some((end.ticks - begin.ticks) as f64 / seconds);
        figures.slowest_tick = Some(end.slowest_tick_us as f64 / 1e3);
        figures.rss_bytes = end.rss_bytes.map(|bytes| bytes as f64);
        if let Some((before, after)) = begin.cpu_us.zip(end.cpu_us) {
            let cpu = (after - before) as f64;
            figures.server_cpu_percent = Some(cpu / seconds / 1e4);
            figures.cpu_us_per_delivery = (deliveries > 0.0).then(|| cpu / deliveries);
        }
        if let Some((before, after)) = begin.ip_bytes.zip(end.ip_bytes) {
            let bytes = after.saturating_sub(before) as f64;
            let payload = (deliveries + found.sent_in_window as f64) * setup.line_bytes as f64;
            figures.ip_bytes_per_second = Some(bytes / seconds);
            figures.overhead_percent = (payload > 0.0).then(|| (bytes / payload - 1.0) * 100.0);
        }
        let rss = self.idle.and_then(|idle| idle.rss_bytes).zip(end.rss_bytes);
        figures.rss_bytes_per_client =
            rss.map(|(before, after)| after.saturating_sub(before) as f64 / f64::from(found.connected.max(1)));
        figures
    }

    /// Why it did not pass, one sentence each.
    fn shortcomings(&self, trial: Trial, setup: &Setup, figures: &Figures) -> Vec<String> {
        let Some(found) = &self.found else { return vec!["the load found nothing".into()] };
        let mut reasons = Vec::new();
        let mut unless = |good: bool, reason: String| reasons.extend((!good).then_some(reason));
        let told: Vec<String> = found.reasons.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
        if found.connected < trial.clients {
            let why = if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) };
            return vec![format!("{} of {} clients were connected{why}", found.connected, trial.clients)];
        }
        unless(found.dropped == 0, format!("{} clients were dropped ({})", found.dropped, told.join("; ")));
        unless(found.corrupted == 0, format!("{} lines came changed", found.corrupted));
        if trial.variant.delivery() == Delivery::Unreliable {
            return reasons;
        }
        unless(found.lost == 0, format!("{} lines were lost", found.lost));
        unless(found.duplicated == 0, format!("{} lines came twice", found.duplicated));
        unless(found.reordered == 0, format!("{} lines came after later ones", found.reordered));
        unless(found.sent == found.planned, format!("{} of {} lines could be sent", found.sent, found.planned));
        if trial.variant.in_flight().is_some() {
            // As fast as it goes is as late as it gets.
            return reasons;
        }
        let p99_max = setup.p99_max.as_secs_f64() * 1e3;
        let p99 = found.p99.unwrap_or(0.0);
        unless(p99 <= p99_max, format!("p99 was {p99:.1} ms, and {p99_max} ms are allowed"));
        let ticks_min = f64::from(setup.ticks_per_second) * 59.0 / 60.0;
        let ticks = figures.ticks_per_second.unwrap_or(0.0);
        unless(ticks >= ticks_min, format!("the server made {ticks:.1} ticks a second, and {ticks_min} are wanted"));
        reasons
    }
}
