//! The evidence of a load's clients: which clients are connected, which lines arrived, and their delays.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::bench::drivers::driver::ClientEvent;
use crate::bench::line::{Head, Line, Lines};
use crate::bench::messages::LoadReport;
use crate::bench::system::now_ns;
use crate::clean;
use crate::measure::latency::Latency;
use crate::measure::latency_steps::LatencySteps;
use crate::measure::ledger::{Ledger, LineOutcome, Tally};
use crate::measure::worst_clients::WorstClient;
use crate::workload::Workload;

/// Which of all clients belong to this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clientele {
    /// The number of its first.
    pub(super) first: u32,
    pub(super) count: u32,
    /// In all processes.
    pub(super) of: u32,
}

/// Clients are numbered from 0 here, by their process; in lines they are numbered through all processes.
pub(super) struct Evidence {
    pub(super) who: Clientele,
    pub(super) lines: Lines,
    /// By sender: the head of a correct line, so that broadcast lines are computed once.
    heads: Vec<Head>,
    ledgers: Ledgers,
    /// Correct lines of this round, kept while their places in the ledger are prefetched.
    arrivals: Vec<Arrival>,
    /// Latencies of measured lines: up to the last progress report, and since. Each line is recorded once.
    latency: Latency,
    recent: Latency,
    /// Of the others, since the last progress.
    recent_beside: Latency,
    /// Latencies by client, for measured lines. Empty if not requested.
    by_client: Vec<LatencySteps>,
    window_ns: std::ops::Range<u64>,
    /// Lines that came, each counted once.
    pub(super) delivered: u64,
    delivered_before: u64,
    corrupted: u64,
    /// Clients that are connected, and clients that no longer are.
    pub(super) connected: u32,
    pub(super) gone: u32,
    is_connected: Vec<bool>,
    dropped: u32,
    pub(super) is_closing: bool,
    /// Answers on other channels.
    pub(super) touched: u64,
    /// Clients whose line arrived, once for each, if requested.
    pub(super) returned: Vec<u32>,
    pub(super) notes_returns: bool,
    pub(super) reasons: BTreeMap<String, u64>,
    /// The client whose line arrived last, and when: lines that arrive together have the same time.
    last: (u32, u64),
}

/// A line that reached a client.
struct Arrival {
    client: u32,
    line: Line,
    took_us: u64,
}

/// The number of ledger entries that are prefetched.
const ARRIVALS_MAX: usize = 32;

/// The lines that each client has to get.
enum Ledgers {
    /// All clients receive all lines.
    Broadcast(Box<Ledger>),
    /// Each client receives its own lines.
    Echo(Vec<Ledger>),
}

impl Evidence {
    pub(super) fn new(who: Clientele, workload: Workload, lines: Lines) -> Self {
        let count = who.count as usize;
        let ledgers = match workload {
            Workload::Broadcast => Ledgers::Broadcast(Box::new(Ledger::new(count, who.of as usize))),
            Workload::Echo => Ledgers::Echo((0..count).map(|_| Ledger::new(1, 1)).collect()),
        };
        Self {
            who,
            lines,
            heads: vec![Head::default(); who.of as usize],
            ledgers,
            arrivals: Vec::with_capacity(ARRIVALS_MAX),
            latency: Latency::default(),
            recent: Latency::default(),
            recent_beside: Latency::default(),
            by_client: Vec::new(),
            window_ns: 0..0,
            delivered: 0,
            delivered_before: 0,
            corrupted: 0,
            connected: 0,
            gone: 0,
            is_connected: vec![false; count],
            dropped: 0,
            is_closing: false,
            touched: 0,
            returned: Vec::new(),
            notes_returns: false,
            reasons: BTreeMap::new(),
            last: (u32::MAX, 0),
        }
    }

    /// Keeps the latencies of each client, too.
    pub(super) fn tell_clients_apart(&mut self) {
        self.by_client = vec![LatencySteps::default(); self.who.count as usize];
    }

    /// Latencies count of lines that are due in between.
    pub(super) fn measure(&mut self, begin_ns: u64, end_ns: u64) {
        self.window_ns = begin_ns..end_ns;
    }

    pub(super) fn is_measured(&self, due_ns: u64) -> bool {
        self.window_ns.contains(&due_ns)
    }

    /// Time has passed since the last line.
    pub(super) fn begin_round(&mut self) {
        self.last.0 = u32::MAX;
    }

    #[inline]
    pub(super) fn on_event(&mut self, event: ClientEvent<'_>) {
        match event {
            ClientEvent::Line { client, line, at_ns } => self.on_line(client, line, at_ns),
            ClientEvent::Connected(client) => {
                self.is_connected[client as usize] = true;
                self.connected += 1;
            }
            ClientEvent::Touched => self.touched += 1,
            ClientEvent::Gone { client, reason } => self.on_gone(client, clean::line(&reason)),
        }
    }

    #[inline]
    fn on_line(&mut self, client: u32, line: &[u8], at_ns: Option<u64>) {
        let Some(line) = self.lines.read_with(line, &mut self.heads) else {
            self.corrupted += 1;
            return;
        };
        if self.last.0 != client {
            self.last = (client, now_ns());
        }
        if let Ledgers::Broadcast(ledger) = &self.ledgers {
            ledger.prefetch(client, line.sender);
        }
        let took_us = at_ns.unwrap_or(self.last.1).saturating_sub(line.due_ns) / 1_000;
        self.arrivals.push(Arrival { client, line, took_us });
        if self.arrivals.len() >= ARRIVALS_MAX {
            self.count_arrivals();
        }
    }

    /// Counts the lines in `arrivals`: when there are many, and at the end of a round.
    pub(super) fn count_arrivals(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.drain(..).for_each(|arrival| self.count(&arrival));
        self.arrivals = arrivals;
    }

    fn count(&mut self, &Arrival { client, line, took_us }: &Arrival) {
        let outcome = match &mut self.ledgers {
            Ledgers::Broadcast(ledger) => ledger.on_line(client, line.sender, line.sequence),
            Ledgers::Echo(_) if line.sender != self.who.first + client => LineOutcome::Unexpected,
            Ledgers::Echo(ledgers) => ledgers[client as usize].on_line(0, 0, line.sequence),
        };
        match outcome {
            LineOutcome::InOrder | LineOutcome::Reordered => {}
            LineOutcome::Unexpected => return self.corrupted += 1,
            LineOutcome::Duplicate => return,
        }
        self.delivered += 1;
        if self.notes_returns {
            self.returned.push(client);
        }
        if !self.is_measured(line.due_ns) {
            return self.recent_beside.record(took_us);
        }
        self.recent.record(took_us);
        if let Some(own) = self.by_client.get_mut(client as usize) {
            own.record(took_us);
        }
    }

    fn on_gone(&mut self, client: u32, reason: String) {
        let was_connected = std::mem::take(&mut self.is_connected[client as usize]);
        self.connected -= u32::from(was_connected);
        self.gone += 1;
        if !self.is_closing {
            self.dropped += u32::from(was_connected);
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// Deliveries since the last call, a second.
    pub(super) fn recent_per(&mut self, span: Duration) -> f64 {
        let since = self.delivered - std::mem::replace(&mut self.delivered_before, self.delivered);
        since as f64 / span.as_secs_f64().max(1e-3)
    }

    /// Of the lines since the last call, in ms.
    pub(super) fn recent_p99(&mut self) -> f64 {
        self.recent_beside.merge(&self.recent);
        let p99 = self.recent_beside.quantile_ms(0.99);
        self.recent_beside.clear();
        self.keep_recent();
        p99
    }

    fn keep_recent(&mut self) {
        self.latency.merge(&self.recent);
        self.recent.clear();
    }

    /// The expected deliveries of all lines that this process and the others sent.
    pub(super) fn expected(&self, sent: &[u32], sent_by_all: &[u32]) -> u64 {
        let sum = |sent: &[u32]| sent.iter().map(|sent| u64::from(*sent)).sum::<u64>();
        match &self.ledgers {
            Ledgers::Broadcast(_) => sum(sent_by_all) * u64::from(self.who.count),
            Ledgers::Echo(_) => sum(sent),
        }
    }

    fn tally(&self, sent: &[u32], sent_by_all: &[u32]) -> Tally {
        match &self.ledgers {
            Ledgers::Broadcast(ledger) => ledger.finish(sent_by_all),
            Ledgers::Echo(ledgers) => {
                let own = ledgers.iter().zip(sent);
                own.map(|(ledger, sent)| ledger.finish(&[*sent])).sum()
            }
        }
    }

    /// `sent_by_all` is empty if no client sent.
    pub(super) fn conclude(&mut self, sent: &[u32], sent_by_all: &[u32], found: &mut LoadReport) {
        let nobody = vec![0; self.who.of as usize];
        found.tally = self.tally(sent, if sent_by_all.is_empty() { &nobody } else { sent_by_all });
        found.tally.corrupted += self.corrupted + std::mem::take(&mut found.tally.unexpected);
        found.sent = sent.iter().map(|sent| u64::from(*sent)).sum();
        found.dropped = self.dropped;
        found.reasons = std::mem::take(&mut self.reasons);
        self.keep_recent();
        found.latencies = self.latency.counts();
        let named = (self.who.first + 1..).zip(&self.by_client);
        found.worst_clients = WorstClient::all(named.map(|(number, steps)| (format!("client {number}"), steps)));
    }
}
