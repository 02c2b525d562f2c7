//! The load's process: it connects the clients, sends on schedule, checks every line, and reports what it found.
//!
//! Open loop: what is due when is fixed before the first line is sent, and latency counts from then. Several processes
//! may share a load: each has some of the clients, and clients are numbered through all of them. Where they need each
//! other, each waits for an order.

mod evidence;
mod flight;
mod schedule;

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use self::evidence::{Clientele, Evidence};
use self::flight::Flight;
use self::schedule::LoadSchedule;
use super::drivers;
use super::drivers::driver::{BenchClients, ClientSetup};
use super::line::{Line, Lines};
use super::messages::{ChildMessage, LoadReport, Order, Progress, send};
use super::network::CableEnd;
use super::place::{self, Place};
use super::setup::{Trial, TrialSetup};
use super::system::{self, now_ns};
use super::variant::LineDelivery;
use super::workers::ChildError;
use crate::report::Exit;

/// The task of one process of the load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoadTask {
    pub(crate) trial: Trial,
    pub(crate) setup: TrialSetup,
    /// Clients of this process.
    pub(crate) clients: u32,
    /// The number of its first.
    pub(crate) first: u32,
    pub(crate) place: Place,
}

/// All clients connect within this, or do not.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(20);
/// Handshakes at once.
const CONNECTING_MAX: u32 = 512;
/// Channels that wait for their answer at once.
const TOUCHED_MAX: u64 = 20_000;
/// Without a delivery for this long, missing lines count as lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);
const DRAIN_MAX: Duration = Duration::from_secs(8);
const CLOSE_MAX: Duration = Duration::from_secs(5);
/// How long a round waits at most where an answer is waited for.
const STEP: Duration = Duration::from_millis(5);
/// The longest that a round waits, so that orders are read.
const ROUND_MAX: Duration = Duration::from_millis(10);
/// The same, while nothing is due.
const ATTEND_MAX: Duration = Duration::from_millis(2);
/// The polling interval for scheduled lines.
const LOOK_SPAN: Duration = Duration::from_millis(1);

/// Runs a task, given as JSON, until all results are known, or the parent has ended.
pub fn run(task: &str) -> Exit {
    let (message, exit) = match place::task(task).and_then(|task| load(&task)) {
        Ok(report) => (ChildMessage::Report(Box::new(report)), Exit::Pass),
        Err(ChildError::Interrupted) => return Exit::Interrupted,
        Err(ChildError::Failed(reason)) => (ChildMessage::Failed { reason }, Exit::Fail),
    };
    send(&message);
    exit
}

/// Whatever the parent orders out of turn is an interruption.
fn load(task: &LoadTask) -> Result<LoadReport, ChildError> {
    let orders = task.place.settle(CableEnd::Load)?;
    send(&ChildMessage::Ready);
    let Order::Connect(url) = place::next(&orders)? else { return Err(ChildError::Interrupted) };
    let (trial, setup) = (task.trial, &task.setup);
    let clients = ClientSetup { first: task.first, trial, congestion: setup.resilience.congestion() };
    let clients = drivers::clients(&url, clients)?;
    let who = Clientele { first: task.first, count: task.clients, of: trial.clients };
    let mut evidence = Evidence::new(who, setup.workload, Lines::new(setup.line_bytes));
    if setup.tells_clients_apart {
        evidence.tell_clients_apart();
    }
    let mut load = Load { task, orders, clients, evidence, sent: vec![0; task.clients as usize], line: Vec::new() };
    load.run()
}

struct Load<'a> {
    task: &'a LoadTask,
    orders: Receiver<Order>,
    clients: Box<dyn BenchClients>,
    evidence: Evidence,
    /// Lines sent, by client.
    sent: Vec<u32>,
    line: Vec<u8>,
}

impl Load<'_> {
    fn run(&mut self) -> Result<LoadReport, ChildError> {
        let began = Instant::now();
        self.connect(began)?;
        let connect_ms = began.elapsed().as_secs_f64() * 1e3;
        let connected = self.evidence.connected;
        send(&ChildMessage::Connected { clients: connected, ms: connect_ms });
        let mut found = LoadReport { connected, connect_ms, ..LoadReport::default() };
        let sent_by_all = match self.attend()? {
            Order::Conclude => Vec::new(),
            _ => self.play(&mut found)?,
        };
        self.evidence.conclude(&self.sent, &sent_by_all, &mut found);
        Ok(found)
    }

    /// Runs from the first line to the last close. Returns how many lines every client of every process sent.
    fn play(&mut self, found: &mut LoadReport) -> Result<Vec<u32>, ChildError> {
        self.touch()?;
        send(&ChildMessage::Touched);
        let Order::Begin(epoch_ns) = self.attend()? else { return Err(ChildError::Interrupted) };
        self.talk(epoch_ns, found)?;
        send(&ChildMessage::Sent { lines: self.sent.clone() });
        let Order::Sent(sent) = self.attend()? else { return Err(ChildError::Interrupted) };
        self.drain(&sent)?;
        send(&ChildMessage::Drained);
        let Order::Close = self.attend()? else { return Err(ChildError::Interrupted) };
        self.close(found)?;
        Ok(sent)
    }

    /// Keeps the connections alive until the parent sends an order.
    fn attend(&mut self) -> Result<Order, ChildError> {
        loop {
            match self.orders.try_recv() {
                Ok(order) => return Ok(order),
                Err(TryRecvError::Disconnected) => return Err(ChildError::Interrupted),
                Err(TryRecvError::Empty) => self.poll(ATTEND_MAX)?,
            }
        }
    }

    /// The load stops if the parent has ended or has sent an order.
    fn go_on(&self) -> Result<(), ChildError> {
        let is_quiet = matches!(self.orders.try_recv(), Err(TryRecvError::Empty));
        if is_quiet { Ok(()) } else { Err(ChildError::Interrupted) }
    }

    fn poll(&mut self, wait_max: Duration) -> Result<(), String> {
        let evidence = &mut self.evidence;
        evidence.begin_round();
        let polled = self.clients.poll(wait_max, &mut |event| evidence.on_event(event));
        evidence.count_arrivals();
        polled
    }

    fn look(&mut self, after: Duration) -> Result<(), String> {
        let evidence = &mut self.evidence;
        evidence.begin_round();
        let looked = self.clients.look(after, &mut |event| evidence.on_event(event));
        evidence.count_arrivals();
        looked
    }

    /// Connects all clients.
    fn connect(&mut self, began: Instant) -> Result<(), ChildError> {
        let count = self.task.clients;
        let mut begun = 0;
        while self.evidence.connected + self.evidence.gone < count {
            while begun < count && begun < self.evidence.connected + self.evidence.gone + CONNECTING_MAX {
                self.clients.connect()?;
                begun += 1;
            }
            self.poll(STEP)?;
            self.go_on()?;
            if began.elapsed() > CONNECT_MAX {
                let missing = u64::from(count - self.evidence.connected - self.evidence.gone);
                self.evidence.reasons.insert("it was not connected in time".into(), missing);
                break;
            }
        }
        Ok(())
    }

    /// Uses every channel of every client once, and waits for the answers.
    fn touch(&mut self) -> Result<(), ChildError> {
        let began = Instant::now();
        let (mut begun, all) = (0, u64::from(self.task.trial.variant.channels() - 1) * u64::from(self.task.clients));
        while self.evidence.touched < all {
            while begun < all && begun < self.evidence.touched + TOUCHED_MAX {
                let clients = u64::from(self.task.clients);
                if !self.clients.touch((begun % clients) as u32, (begun / clients) as u16) {
                    break;
                }
                begun += 1;
            }
            self.clients.flush();
            self.poll(STEP)?;
            if began.elapsed() > CONNECT_MAX {
                return Err(format!("{} of {all} channels answered in time", self.evidence.touched).into());
            }
            self.go_on()?;
        }
        Ok(())
    }

    /// Warms up and measures.
    fn talk(&mut self, epoch_ns: u64, found: &mut LoadReport) -> Result<(), ChildError> {
        let task = self.task;
        let begin_ns = epoch_ns + task.setup.warmup.as_nanos() as u64;
        let end_ns = begin_ns + task.setup.duration.as_nanos() as u64;
        let mut schedule = task.setup.rate.map(|rate| LoadSchedule::new(epoch_ns, rate, self.evidence.who));
        self.evidence.measure(begin_ns, end_ns);
        let mut flight = task.trial.variant.in_flight().map(|in_flight| Flight::new(task.clients, in_flight));
        self.evidence.notes_returns = flight.is_some();
        self.evidence.returned = flight.as_ref().map_or(Vec::new(), Flight::begin);
        let (mut window, mut progress) = (None, Instant::now());
        let mut is_quiet = false;
        loop {
            let now = now_ns();
            if let Some(schedule) = &mut schedule {
                self.send_due(schedule, now, end_ns, found);
            }
            if let Some(flight) = &mut flight {
                self.keep_flying(flight, found);
            }
            if window.is_none() && now >= begin_ns {
                window = Some((now, system::cpu_time(), self.evidence.delivered));
                send(&ChildMessage::WindowBegins);
            }
            if now >= end_ns {
                break;
            }
            let next = schedule.as_ref().map_or(u64::MAX, |schedule| schedule.due().0);
            let until = next.min(if now < begin_ns { begin_ns } else { end_ns });
            let left = Duration::from_nanos(until.saturating_sub(now_ns()));
            let delivered = self.evidence.delivered;
            match schedule {
                Some(_) if is_quiet => self.look(left.min(LOOK_SPAN))?,
                Some(_) => self.poll(Duration::ZERO)?,
                None => self.poll(left.min(ROUND_MAX))?,
            }
            is_quiet = self.evidence.delivered == delivered;
            if progress.elapsed() >= Duration::from_secs(1) {
                let per_second = self.evidence.recent_per(progress.elapsed());
                progress = Instant::now();
                send(&ChildMessage::Progress(Progress {
                    connected: self.evidence.connected,
                    delivered_per_second: per_second,
                    p99: self.evidence.recent_p99(),
                }));
                self.go_on()?;
            }
        }
        send(&ChildMessage::WindowEnds);
        let (began_ns, cpu, delivered) = window.expect("the window begins before it ends");
        let window_s = (now_ns() - began_ns) as f64 / 1e9;
        found.window_ms = window_s * 1e3;
        found.deliveries_in_window = self.evidence.delivered - delivered;
        let cpu = system::cpu_time().zip(cpu).map(|(after, before)| (after - before).as_secs_f64());
        found.cpu_percent = cpu.map(|cpu| 100.0 * cpu / window_s);
        Ok(())
    }

    fn send_due(&mut self, schedule: &mut LoadSchedule, now: u64, end_ns: u64, found: &mut LoadReport) {
        let mut any = false;
        loop {
            let (due_ns, client) = schedule.due();
            if due_ns > now || due_ns >= end_ns {
                break;
            }
            schedule.advance();
            found.latest_send = found.latest_send.max((now - due_ns) as f64 / 1e6);
            any |= self.send_line(client, due_ns, found);
        }
        if any {
            self.clients.flush();
        }
    }

    /// A new line for each that came back.
    fn keep_flying(&mut self, flight: &mut Flight, found: &mut LoadReport) {
        let mut turns = std::mem::take(&mut self.evidence.returned);
        if self.task.trial.variant.delivery() == LineDelivery::Unreliable {
            turns.extend(flight.stranded());
        }
        for client in &turns {
            self.send_line(*client, now_ns(), found);
            flight.note(*client);
        }
        if !turns.is_empty() {
            self.clients.flush();
        }
    }

    /// Whether the line could be sent.
    fn send_line(&mut self, client: u32, due_ns: u64, found: &mut LoadReport) -> bool {
        self.line.clear();
        let sequence = self.sent[client as usize];
        self.evidence.lines.write(Line { sender: self.evidence.who.first + client, sequence, due_ns }, &mut self.line);
        found.planned += 1;
        let is_sent = self.clients.send(client, &self.line);
        if is_sent {
            self.sent[client as usize] += 1;
            found.sent_in_window += u64::from(self.evidence.is_measured(due_ns));
        }
        is_sent
    }

    /// Waits for the lines in flight.
    fn drain(&mut self, sent_by_all: &[u32]) -> Result<(), ChildError> {
        let began = Instant::now();
        let (mut progress, mut delivered) = (began, self.evidence.delivered);
        let expected = self.evidence.expected(&self.sent, sent_by_all);
        while self.evidence.delivered < expected && began.elapsed() < DRAIN_MAX {
            self.poll(STEP)?;
            if self.evidence.delivered > delivered {
                (progress, delivered) = (Instant::now(), self.evidence.delivered);
            }
            if progress.elapsed() > DRAIN_PATIENCE {
                break;
            }
            self.go_on()?;
        }
        Ok(())
    }

    /// Closes the connections, and waits until all have ended.
    fn close(&mut self, found: &mut LoadReport) -> Result<(), String> {
        self.evidence.is_closing = true;
        let began = Instant::now();
        self.clients.close();
        while self.evidence.connected > 0 && began.elapsed() < CLOSE_MAX {
            self.poll(STEP)?;
        }
        found.close_ms = (self.evidence.connected == 0).then(|| began.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }
}
