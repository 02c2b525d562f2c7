//! A process of a real comparison: a server that returns what it receives, or the client that measures.

use std::io::BufRead;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::end::RealEnd;
use super::messages::{BEGIN_AT, EndMessage, EndReport, EndTask, OVER, OwnFindings, Role};
use super::skipstone_end::{SkipstoneClientEnd, SkipstoneServerEnd};
use super::socket_end::{BEGIN, SocketEnd};
use crate::compare::condition::Condition;
use crate::compare::packet_logs::{PacketLogs, failure};
use crate::compare::payload::Stamp;
use crate::compare::peers::ends;
use crate::compare::peers::ends::EndsSetup;
use crate::compare::peers::peer::Update;
use crate::compare::proof::Proof;
#[cfg(feature = "peers")]
use crate::compare::transport::Transport;
use crate::measure::monotonic::{monotonic, next_multiple};
use crate::measure::process::Probe;
use crate::measure::stalls::{Stall, StallLog, StallWatch};
use crate::netem::{Before, make_punctual};
use crate::recording::schedule::Sender;
use crate::report::{Exit, output};

/// Runs a task, given as JSON, until it is done or the parent process has ended.
pub(crate) fn run(task: &str) -> Exit {
    let task = serde_json::from_str(task).map_err(|error| format!("no task: {error}"));
    match task.and_then(|task: EndTask| play(&task)) {
        Ok(()) => Exit::Pass,
        Err(reason) => {
            say(&EndMessage::Failed { reason });
            Exit::Fail
        }
    }
}

fn say(message: &EndMessage) {
    output::say(serde_json::to_string(message).expect("a message has only text keys"));
}

fn play(task: &EndTask) -> Result<(), String> {
    crate::signals::Signals::watch_as_child()?;
    if let Some(namespace) = &task.namespace {
        enter(namespace)?;
    }
    // If the priority is allowed, other programs do not disturb the measurement. The thread that detects stalls
    // inherits it.
    let _ = make_punctual(Before::Others);
    let condition = task.workload.condition()?;
    let qlog = task.qlog.as_ref().map(|place| Ok::<_, String>((place, place.begin()?))).transpose()?;
    let logs = qlog.as_ref().map_or_else(PacketLogs::default, |(place, qlog)| place.logs(qlog));
    let played = match &task.role {
        Role::Server { listen } => serve(task, &condition, &logs, listen),
        Role::Client { connect } => measure(task, &condition, &logs, connect),
    };
    if let Some(sentence) = qlog.and_then(|(_, qlog)| failure(&qlog)) {
        output::complain(format_args!("skipstone compare: {sentence}"));
    }
    played
}

#[cfg(target_os = "linux")]
fn enter(namespace: &str) -> Result<(), String> {
    crate::netem::namespaces::enter(namespace)
}

#[cfg(not(target_os = "linux"))]
fn enter(_namespace: &str) -> Result<(), String> {
    Err("namespaces exist on Linux only".into())
}

/// The commands of the parent process.
struct Orders {
    lines: Receiver<String>,
    /// It reported the end of the run.
    is_over: Arc<AtomicBool>,
    is_gone: Arc<AtomicBool>,
}

impl Orders {
    fn hear() -> Orders {
        let [is_over, is_gone] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (send, lines) = channel();
        let (over, gone) = (Arc::clone(&is_over), Arc::clone(&is_gone));
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                match line == OVER {
                    true => over.store(true, Ordering::Relaxed),
                    // A parent that no longer reads is about to end.
                    false => drop(send.send(line)),
                }
            }
            gone.store(true, Ordering::Relaxed);
        });
        Orders { lines, is_over, is_gone }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_gone()
    }

    fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

/// The clocks of both ends begin at multiples of this on the machine's, as they begin at one moment in virtual time. A
/// transport with its own clock, such as KCP's of 10 ms, has the seed's phases then, and with them that seed's
/// latencies.
const CLOCKS_BEGIN: Duration = Duration::from_millis(100);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const CONNECT_MAX: Duration = Duration::from_secs(20);

fn serve(task: &EndTask, condition: &Condition, logs: &PacketLogs, listen: &str) -> Result<(), String> {
    let listen: SocketAddr = listen.parse().map_err(|error| format!("{listen}: {error}"))?;
    let mut end = server(task, condition, logs, listen)?;
    let epoch = Instant::now();
    let begun = monotonic();
    say(&EndMessage::Listening { address: end.address() });
    let orders = Orders::hear();
    if !condition.is_echoed() {
        let own = Player::new(end, condition, Sender::Server, epoch);
        return own.serve(&orders, begun.ok_or(NO_CLOCK)?);
    }
    let mut wait = LOOK_EVERY;
    while !orders.is_over() {
        end.drive(wait)?;
        // Answers leave in the next round, which may receive more: those are answered before anything is waited for.
        wait = LOOK_EVERY;
        while let Some(update) = end.poll_message() {
            end.send(update);
            wait = Duration::ZERO;
        }
    }
    say(&EndMessage::Served { telemetry: end.telemetry(), own: OwnFindings::default() });
    Ok(())
}

const NO_CLOCK: &str =
    "a recording in both directions needs a clock that processes share, which this machine does not have";
/// The time between the connection and the first update, in which the server must learn of the connection.
const LEAD: Duration = Duration::from_millis(300);

fn server(
    task: &EndTask,
    condition: &Condition,
    logs: &PacketLogs,
    listen: SocketAddr,
) -> Result<Box<dyn RealEnd>, String> {
    Ok(match task.transport {
        own if own.is_ours() => Box::new(SkipstoneServerEnd::start(task.contender(), condition, logs, listen)?),
        #[cfg(feature = "peers")]
        Transport::Tcp => Box::new(super::tcp_end::TcpEnd::listen(listen, waiting_bytes(condition))?),
        #[cfg(feature = "peers")]
        Transport::Enet => Box::new(super::enet_end::EnetEnd::open(listen, None, condition.entities)?),
        _ => {
            // The client's end that is created with it is not used, but requires the server's address.
            let server = SocketAddr::new(listen.ip(), listen.port().max(1));
            let setup = EndsSetup { now: BEGIN, server, seed: task.seed, condition, logs };
            let epoch = next_multiple(CLOCKS_BEGIN);
            Box::new(SocketEnd::new(ends(task.contender(), setup).server, listen, epoch)?)
        }
    })
}

fn client(task: &EndTask, condition: &Condition, logs: &PacketLogs, connect: &str) -> Result<Box<dyn RealEnd>, String> {
    #[cfg(feature = "peers")]
    if task.transport == Transport::SkipstoneWebTransport {
        return Ok(Box::new(super::webtransport_end::WebTransportEnd::connect(connect, task.seed, logs)?));
    }
    if task.transport.is_ours() {
        return Ok(Box::new(SkipstoneClientEnd::connect(connect, logs)?));
    }
    let server: SocketAddr = connect.parse().map_err(|error| format!("{connect}: {error}"))?;
    let any = SocketAddr::new(std::net::Ipv4Addr::UNSPECIFIED.into(), 0);
    Ok(match task.transport {
        #[cfg(feature = "peers")]
        Transport::Tcp => Box::new(super::tcp_end::TcpEnd::connect(server, waiting_bytes(condition))?),
        #[cfg(feature = "peers")]
        Transport::Enet => Box::new(super::enet_end::EnetEnd::open(any, Some(server), condition.entities)?),
        _ => {
            let epoch = next_multiple(CLOCKS_BEGIN);
            let setup = EndsSetup { now: BEGIN, server, seed: task.seed, condition, logs };
            Box::new(SocketEnd::new(ends(task.contender(), setup).client, any, epoch)?)
        }
    })
}

const GONE: &str = "the process that started it is gone";

/// The number of updates, of all entities together, that may wait at a sender.
#[cfg(feature = "peers")]
fn waiting_bytes(condition: &Condition) -> Option<usize> {
    let each = condition.payload_bytes + 2;
    condition.waiting_max.map(|updates| updates as usize * usize::from(condition.entities) * each)
}

fn measure(task: &EndTask, condition: &Condition, logs: &PacketLogs, connect: &str) -> Result<(), String> {
    let epoch = Instant::now();
    let begun = monotonic();
    let watch = StallWatch::start_on_each_cpu(epoch).map_err(|error| format!("no thread for the control: {error}"))?;
    let orders = Orders::hear();
    let mut end = client(task, condition, logs, connect)?;
    while !end.is_connected() && epoch.elapsed() < CONNECT_MAX && !orders.is_over() {
        end.drive(LOOK_EVERY)?;
    }
    let mut report = Player::new(end, condition, Sender::Client, epoch);
    let connected = report.end.is_connected().then(|| epoch.elapsed());
    let (probe, since) = (Probe::of_self(), Instant::now());
    let before = probe.sample();
    if let Some(took) = connected {
        let ms = took.as_secs_f64() * 1e3;
        if condition.is_echoed() {
            say(&EndMessage::Connected { ms, first_us: None });
            report.play(epoch.elapsed(), &orders)?;
        } else {
            let begun = begun.ok_or(NO_CLOCK)?;
            let first = epoch.elapsed() + LEAD;
            say(&EndMessage::Connected { ms, first_us: Some((begun + first).as_micros() as u64) });
            report.play(first, &orders)?;
            report.hear_of_the_server(&orders, begun)?;
        }
    }
    let telemetry = report.end.telemetry();
    let cpu_percent =
        before.zip(probe.sample()).map(|(before, after)| after.since(&before, since.elapsed()).cpu_percent);
    let first_due = begun.zip(report.proof.first_due()).map(|(begun, due)| (begun + due).as_micros() as u64);
    let done = conclude(report.proof, &watch.stop(), connected, telemetry);
    let done = EndReport { first_due_us: first_due, cpu_percent, ..done };
    say(&EndMessage::Done(Box::new(done)));
    Ok(())
}

fn conclude(
    proof: Proof,
    stalls: &StallLog,
    connected: Option<Duration>,
    telemetry: crate::compare::peers::peer::Telemetry,
) -> EndReport {
    let calm_us = proof.latencies_where(|due, arrived| !stalls.touches(due, arrived));
    let mut series = proof.series();
    let first = proof.first_due().unwrap_or_default();
    // Stalls that ended before the first update affect no update.
    let since_first = |stall: &Stall| (stall.start.saturating_sub(first), stall.length);
    let later = |stall: &&Stall| stall.start + stall.length >= first;
    series.take_stalls(stalls.stalls().iter().filter(later).map(since_first));
    let (counts, latencies_us, _) = proof.finish();
    let summary = stalls.summary();
    EndReport {
        connect_us: connected.map(|took| took.as_micros() as u64),
        counts,
        latencies_us,
        calm_us,
        stalls: summary.count,
        longest_stall_us: summary.longest.as_micros() as u64,
        telemetry,
        series,
        first_due_us: None,
        cpu_percent: None,
    }
}

/// An end that sends updates and receives them.
struct Player<'a> {
    end: Box<dyn RealEnd>,
    condition: &'a Condition,
    side: Sender,
    epoch: Instant,
    proof: Proof,
    /// A server's.
    own: OwnFindings,
}

impl<'a> Player<'a> {
    fn new(end: Box<dyn RealEnd>, condition: &'a Condition, side: Sender, epoch: Instant) -> Player<'a> {
        Player { end, condition, side, epoch, proof: Proof::of(condition), own: OwnFindings::default() }
    }

    /// Waits for the first moment, sends the server's updates, and reports which of the client's arrived. `begun` is
    /// the epoch by the clock that all processes share.
    fn serve(mut self, orders: &Orders, begun: Duration) -> Result<(), String> {
        let first = loop {
            self.end.drive(LOOK_EVERY)?;
            if orders.is_over() {
                return Ok(());
            }
            let line = orders.lines.try_recv().ok();
            let micros = line.as_deref().and_then(|line| line.strip_prefix(BEGIN_AT)?.parse().ok());
            if let Some(micros) = micros {
                break Duration::from_micros(micros).saturating_sub(begun);
            }
        };
        self.play(first, orders)?;
        while !orders.is_over() {
            self.end.drive(LOOK_EVERY)?;
            self.take_arrived();
        }
        self.own.arrived.iter_mut().for_each(|(.., at_us, _)| *at_us += begun.as_micros() as u64);
        say(&EndMessage::Served { telemetry: self.end.telemetry(), own: self.own });
        Ok(())
    }

    /// Keeps the connection until the server's findings arrive, and adds them to its own.
    fn hear_of_the_server(&mut self, orders: &Orders, begun: Duration) -> Result<(), String> {
        say(&EndMessage::Played);
        let line = loop {
            match orders.lines.try_recv() {
                Ok(line) => break line,
                Err(_) if orders.is_over() => return Err(GONE.into()),
                // The server ends its connection when it has reported everything.
                Err(_) => drop(self.end.drive(LOOK_EVERY)),
            }
        };
        let own: OwnFindings = serde_json::from_str(&line).map_err(|error| format!("no findings: {error}"))?;
        own.refused.iter().for_each(|entity| self.proof.on_refused(*entity));
        self.proof.on_corrupted(own.corrupted);
        for (entity, sequence, at_us, bytes) in own.arrived {
            let at = Duration::from_micros(at_us).saturating_sub(begun);
            self.proof.on_delivered(at, Stamp { entity, sequence }, bytes);
        }
        Ok(())
    }

    /// Sends all updates from `first` since the epoch on, and waits for the last of them.
    fn play(&mut self, first: Duration, orders: &Orders) -> Result<(), String> {
        let (condition, ticks) = (self.condition, self.condition.ticks());
        let tick_at = |tick: u64| first + condition.tick_at(tick);
        let bulk_at = |number: u64| match self.condition.bulk {
            Some(bulk) if number < self.condition.bulk_messages() => first + bulk.every.0 * number as u32,
            _ => Duration::MAX,
        };
        let deadline = tick_at(ticks) + self.condition.patience;
        let (mut tick, mut bulk) = (0, 0);
        let side = self.side;
        let comes = |entity| condition.is_echoed() || condition.sender_of(entity) != side;
        // After the end of the run, a server still waits for updates in flight to it.
        let ends = || if side == Sender::Server { orders.is_gone() } else { orders.is_over() };
        while !ends() {
            let now = self.epoch.elapsed();
            let is_sent = tick == ticks && bulk_at(bulk) == Duration::MAX;
            if now >= deadline || (is_sent && self.proof.is_complete_of(comes)) {
                return Ok(());
            }
            while tick < ticks && now >= tick_at(tick) {
                self.proof.on_tick(tick_at(tick));
                condition.updates_at(tick).for_each(|(entity, bytes)| self.send(entity, bytes));
                tick += 1;
            }
            while now >= bulk_at(bulk) {
                self.send(self.condition.entities, self.condition.bulk.expect("it is due").bytes);
                bulk += 1;
            }
            let next = if tick < ticks { tick_at(tick) } else { deadline }.min(bulk_at(bulk));
            self.end.drive(next.saturating_sub(self.epoch.elapsed()).min(LOOK_EVERY))?;
            if tick == ticks || self.epoch.elapsed() < tick_at(tick) {
                self.take_arrived();
            }
        }
        Err(GONE.into())
    }

    /// Sends an update, or notes that the other end does.
    fn send(&mut self, entity: u16, bytes: usize) {
        let stamp = self.proof.send(entity);
        if self.condition.sender_of(entity) != self.side {
            return self.proof.on_accepted(stamp);
        }
        let update = Update { entity, payload: stamp.encode(bytes), age: Duration::ZERO };
        if self.end.send(update) {
            self.proof.on_accepted(stamp);
        } else {
            self.proof.on_refused(entity);
            if self.side == Sender::Server {
                self.own.refused.push(entity);
            }
        }
    }

    fn take_arrived(&mut self) {
        let now = self.epoch.elapsed();
        while let Some(update) = self.end.poll_message() {
            self.proof.on_echo(now, update.entity, &update.payload);
            if self.side == Sender::Client {
                continue;
            }
            match Stamp::decode(&update.payload).filter(|stamp| stamp.entity == update.entity) {
                Some(Stamp { entity, sequence }) => {
                    let arrived = (entity, sequence, now.as_micros() as u64, update.payload.len());
                    self.own.arrived.push(arrived);
                }
                None => self.own.corrupted += 1,
            }
        }
    }
}
