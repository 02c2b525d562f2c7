//! One run: a transport, a number of clients, the processes of server and load, and the result.

use std::time::Duration;

use super::load::{CONNECT_MAX, LoadTask};
use super::messages::{ChildMessage, LoadReport, Order, Progress, ServerCounters};
use super::network::{self, Network};
use super::place::Place;
use super::row::{BenchFigures, BenchRow};
use super::server::ServerTask;
use super::setup::{Priority, Trial, TrialSetup};
use super::system::now_ns;
use super::variant::LineDelivery;
use super::workers::{ChildError, MemoryPages, Workers};
use crate::measure::latency_steps::LatencySteps;
use crate::signals::Signals;
use crate::units::Named;

/// The messages of the processes, as far as a row needs them.
#[derive(Debug, Clone, Default)]
struct Findings {
    /// Before the first client.
    idle: Option<ServerCounters>,
    begin: Option<ServerCounters>,
    end: Option<ServerCounters>,
    found: Option<LoadReport>,
}

const START_MAX: Duration = Duration::from_secs(15);
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Between the last handshake and the first line.
const BREATH: Duration = Duration::from_millis(100);
/// The end of a load: draining, closing, counting.
const END_MAX: Duration = Duration::from_secs(25);

impl Trial {
    /// Plays the trial. Failures are in the row; an error is an interruption.
    pub(crate) fn play(
        self,
        setup: &TrialSetup,
        signals: &Signals,
        mut show: impl FnMut(Progress),
    ) -> Result<BenchRow, ChildError> {
        let mut evidence = Findings::default();
        if let Some(most) = self.transport.clients_max().filter(|most| self.clients > *most) {
            return Ok(self.untried(setup, format!("it serves {most} clients at most")));
        }
        if !self.transport.has(self.variant) {
            return Ok(self.untried(setup, format!("it is not driven with {}", self.variant)));
        }
        match self.run(setup, signals, &mut evidence, &mut show) {
            Ok(()) => Ok(self.row(setup, &evidence, None)),
            Err(ChildError::Failed(reason)) => Ok(self.row(setup, &evidence, Some(reason))),
            Err(ChildError::Interrupted) => Err(ChildError::Interrupted),
        }
    }

    fn run(
        self,
        setup: &TrialSetup,
        signals: &Signals,
        evidence: &mut Findings,
        show: &mut dyn FnMut(Progress),
    ) -> Result<(), ChildError> {
        let (mut server, mut load) = self.processes(setup, signals)?;
        let (_, ChildMessage::Listening { url }) = server.receive(START_MAX, signals)? else {
            return Err(ChildError::Failed("the server printed something other than its URL".into()));
        };
        evidence.idle = Some(counters(&mut server, signals)?);
        load.order(&Order::Connect(url));
        let patience = CONNECT_MAX + setup.warmup + setup.duration + END_MAX;
        let count = self.load_processes(setup);
        let (mut progress, mut sent) = (vec![Progress::default(); count], vec![Vec::new(); count]);
        let mut found = Vec::new();
        while found.len() < count {
            let (number, message) = load.receive(patience, signals)?;
            match message {
                ChildMessage::Connected { clients, .. } => {
                    progress[number].connected = clients;
                    let connected = Progress::together(&progress);
                    show(connected);
                    if load.has_arrived() {
                        let all = connected.connected == self.clients;
                        load.order(&if all { Order::GoOn } else { Order::Conclude });
                    }
                }
                ChildMessage::Touched if load.has_arrived() => {
                    load.order(&Order::Begin(now_ns() + BREATH.as_nanos() as u64))
                }
                ChildMessage::Progress(now) => {
                    progress[number] = now;
                    show(Progress::together(&progress));
                }
                // The window is the same for all load processes, so the first report counts for all.
                ChildMessage::WindowBegins if evidence.begin.is_none() => {
                    evidence.begin = Some(counters(&mut server, signals)?)
                }
                ChildMessage::WindowEnds if evidence.end.is_none() => {
                    evidence.end = Some(counters(&mut server, signals)?)
                }
                ChildMessage::Sent { lines } => {
                    sent[number] = lines;
                    if load.has_arrived() {
                        load.order(&Order::Sent(sent.concat()));
                    }
                }
                ChildMessage::Drained if load.has_arrived() => load.order(&Order::Close),
                ChildMessage::Report(part) => found.push((number, *part)),
                _ => {}
            }
        }
        found.sort_by_key(|(number, _)| *number);
        let parts: Vec<LoadReport> = found.into_iter().map(|(_, part)| part).collect();
        evidence.found = LoadReport::together(&parts, &setup.load_cpus);
        server.order(&Order::Stop);
        Ok(())
    }

    /// Each has at least one client.
    fn load_processes(self, setup: &TrialSetup) -> usize {
        setup.load_processes.clamp(1, self.clients.max(1)) as usize
    }

    /// Server and load, each in its place, with a cable between them.
    fn processes(self, setup: &TrialSetup, signals: &Signals) -> Result<(Workers, Workers), ChildError> {
        // The load is not measured, and must not be the bottleneck.
        let (mut server, mut load) =
            (Workers::new("bench-server", MemoryPages::Usual), Workers::new("bench-load", MemoryPages::Huge));
        let apart = || Place { apart: setup.network == Network::Veth, ..Place::default() };
        // WHY: a process that waits for the end of another program must not have its priority: on one core with a
        // reader of /proc of that program, the kernel's clean-up can wait for the reader forever.
        let priority = if self.server.is_some() { Priority::Usual } else { setup.priority };
        server.add(&self.server_task(setup, apart()), priority)?;
        load.add(&self.load_task(setup, 0, apart()), setup.priority)?;
        for workers in [&server, &load] {
            workers.receive(START_MAX, signals)?;
        }
        if setup.network == Network::Veth {
            network::connect(server.process(0), load.process(0))?;
        }
        load.order(&Order::Go);
        // The server's end of the cable comes up with it, and the load waits for that.
        server.order(&Order::Go);
        load.receive(START_MAX, signals)?;
        let first = load.process(0);
        for number in 1..self.load_processes(setup) {
            let beside = (setup.network == Network::Veth).then_some(first);
            load.add(&self.load_task(setup, number, Place { beside, ..Place::default() }), setup.priority)?;
            load.receive(START_MAX, signals)?;
            load.order_one(number, &Order::Go);
            load.receive(START_MAX, signals)?;
        }
        Ok((server, load))
    }

    fn server_task(self, setup: &TrialSetup, place: Place) -> ServerTask {
        ServerTask { trial: self, setup: setup.clone(), place: Place { cpu: setup.server_cpu, ..place } }
    }

    fn load_task(self, setup: &TrialSetup, number: usize, place: Place) -> LoadTask {
        let of = self.load_processes(setup) as u64;
        let share = |number: usize| (u64::from(self.clients) * number as u64 / of) as u32;
        let (first, end) = (share(number), share(number + 1));
        let cpu = setup.load_cpus.get(number % setup.load_cpus.len().max(1)).copied();
        let place = Place { cpu, ..place };
        LoadTask { trial: self, setup: setup.clone(), clients: end - first, first, place }
    }

    fn untried(self, setup: &TrialSetup, why: String) -> BenchRow {
        BenchRow { is_untried: true, ..self.row(setup, &Findings::default(), Some(why)) }
    }

    fn row(self, setup: &TrialSetup, evidence: &Findings, failure: Option<String>) -> BenchRow {
        let figures = evidence.figures(setup);
        let mut reasons: Vec<String> = failure.into_iter().collect();
        if reasons.is_empty() {
            reasons = evidence.shortcomings(self, setup, &figures);
        }
        let found = evidence.found.as_ref();
        BenchRow {
            transport: self.transport.name(),
            server: self.server_name(setup).map(str::to_owned),
            variant: self.variant.name(),
            clients: self.clients,
            rate: setup.rate.map_or(0.0, |rate| rate.per_second()),
            passed: reasons.is_empty(),
            reasons,
            is_untried: false,
            rounds: 1,
            figures,
            latencies: found.map_or_else(LatencySteps::default, |found| found.latencies.steps()),
            worst_clients: found.map_or_else(Vec::new, |found| found.worst_clients.clone()),
        }
    }
}

fn counters(server: &mut Workers, signals: &Signals) -> Result<ServerCounters, ChildError> {
    server.order(&Order::Mark);
    match server.receive(ANSWER_MAX, signals)?.1 {
        ChildMessage::Counters(counters) => Ok(counters),
        _ => Err(ChildError::Failed("the server answered with something other than its counters".into())),
    }
}

impl Findings {
    fn figures(&self, setup: &TrialSetup) -> BenchFigures {
        let mut figures = BenchFigures::default();
        if let Some(found) = &self.found {
            figures.take_found(found);
        }
        let (Some(begin), Some(end), Some(found)) = (self.begin, self.end, &self.found) else { return figures };
        let seconds = ((end.at_ns - begin.at_ns) as f64 / 1e9).max(1e-6);
        // Under overload the server's window begins and ends later than the load's. Rates are compared, which is
        // correct for a steady load.
        let deliveries = figures.deliveries_per_second.unwrap_or(0.0);
        let sent = found.sent_in_window as f64 / setup.duration.as_secs_f64();
        figures.ticks_per_second = Some((end.ticks - begin.ticks) as f64 / seconds);
        figures.slowest_tick = Some(end.slowest_tick_us as f64 / 1e3);
        figures.rss_bytes = end.rss_bytes;
        if let Some((before, after)) = begin.cpu_us.zip(end.cpu_us) {
            let cpu = (after - before) as f64 / seconds;
            figures.server_cpu_percent = Some(cpu / 1e4);
            figures.cpu_us_per_delivery = (deliveries > 0.0).then(|| cpu / deliveries);
        }
        if let Some((before, after)) = begin.ip_bytes.zip(end.ip_bytes) {
            let bytes = after.saturating_sub(before) as f64 / seconds;
            let payload = (deliveries + sent) * setup.line_bytes as f64;
            figures.ip_bytes_per_second = Some(bytes);
            figures.overhead_percent = (payload > 0.0).then(|| (bytes / payload - 1.0) * 100.0);
        }
        let rss = self.idle.and_then(|idle| idle.rss_bytes).zip(end.rss_bytes);
        figures.rss_bytes_per_client =
            rss.map(|(before, after)| after.saturating_sub(before) as f64 / f64::from(found.connected.max(1)));
        figures
    }

    /// Why it did not pass, one sentence each.
    fn shortcomings(&self, trial: Trial, setup: &TrialSetup, figures: &BenchFigures) -> Vec<String> {
        let Some(found) = &self.found else { return vec!["the load found nothing".into()] };
        let (tally, mut reasons) = (&found.tally, Vec::new());
        let mut unless = |good: bool, reason: String| reasons.extend((!good).then_some(reason));
        let told: Vec<String> = found.reasons.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
        if found.connected < trial.clients {
            let why = if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) };
            return vec![format!("{} of {} clients were connected{why}", found.connected, trial.clients)];
        }
        unless(found.dropped == 0, format!("{} clients were dropped ({})", found.dropped, told.join("; ")));
        unless(tally.corrupted == 0, format!("{} lines came changed", tally.corrupted));
        // Unreliable lines may be lost, but not all of them.
        let is_quiet = setup.rate.is_none() && trial.variant.in_flight().is_none();
        unless(is_quiet || tally.delivered > 0, format!("none of {} lines was delivered", found.sent));
        if trial.variant.delivery() == LineDelivery::Unreliable {
            return reasons;
        }
        unless(tally.lost == 0, format!("{} lines were lost", tally.lost));
        unless(tally.duplicated == 0, format!("{} lines came twice", tally.duplicated));
        unless(tally.reordered == 0, format!("{} lines came after later ones", tally.reordered));
        unless(found.sent == found.planned, format!("{} of {} lines could be sent", found.sent, found.planned));
        if trial.variant.in_flight().is_some() {
            // As fast as it goes is as late as it gets.
            return reasons;
        }
        let p99_max = setup.p99_max.as_secs_f64() * 1e3;
        let p99 = figures.p99.unwrap_or(0.0);
        unless(p99 <= p99_max, format!("p99 was {p99:.1} ms, but at most {p99_max} ms are allowed"));
        let ticks_min = f64::from(setup.ticks_per_second) * 59.0 / 60.0;
        let ticks = figures.ticks_per_second.unwrap_or(0.0);
        unless(
            ticks >= ticks_min,
            format!("the server made {ticks:.1} ticks per second, but {ticks_min} are required"),
        );
        reasons
    }
}
