//! Messages between a run's processes, in lines of JSON: the parent sends orders, the children messages.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::latency::LatencyCounts;
use crate::measure::ledger::Tally;
use crate::measure::worst_clients::WorstClient;
use crate::report::Exit;
use crate::report::output;

/// A message of a child to its parent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChildMessage {
    /// The child runs on its CPU, in its network.
    Ready,
    /// The server listens; clients connect by this URL.
    Listening { url: String },
    /// The server's counters.
    Counters(ServerCounters),
    /// All clients of the load that will connect are connected. The child waits.
    Connected { clients: u32, ms: f64 },
    /// All channels were used once. The child waits.
    Touched,
    /// The load is under way.
    Progress(Progress),
    /// The measured window begins.
    WindowBegins,
    /// The measured window is over.
    WindowEnds,
    /// All lines are sent; their number by client. The child waits.
    Sent { lines: Vec<u32> },
    /// No further line is expected. The child waits.
    Drained,
    /// The load's report; its last message.
    Report(Box<LoadReport>),
    /// The child cannot continue.
    Failed { reason: String },
}

/// An order that a child waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// The veth pair exists, or none is needed: set up the network.
    Go,
    /// Connect the clients to the server at this URL.
    Connect(String),
    /// Send the counters as they are now.
    Mark,
    /// End the server.
    Stop,
    /// All clients are connected: continue.
    GoOn,
    /// Some clients are not connected: report the results.
    Conclude,
    /// Lines are due from this moment on, by the clock that all processes share.
    Begin(u64),
    /// The number of lines sent by each client, over all processes.
    Sent(Vec<u32>),
    /// Close all connections.
    Close,
}

/// A server's counters since it began.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct ServerCounters {
    /// By the clock that all processes share.
    pub(crate) at_ns: u64,
    pub(crate) cpu_us: Option<u64>,
    pub(crate) ticks: u64,
    /// The times from when ticks were due until their work was done, since the last snapshot.
    pub(crate) slowest_tick_us: u64,
    /// Lines received.
    pub(crate) lines: u64,
    pub(crate) clients: u64,
    /// Both directions, with IP headers.
    pub(crate) ip_bytes: Option<u64>,
    pub(crate) rss_bytes: Option<u64>,
}

/// Progress of the load.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) connected: u32,
    /// Since the last line of progress.
    pub(crate) delivered_per_second: f64,
    pub(crate) p99: f64,
}

/// The load's report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LoadReport {
    pub(crate) connected: u32,
    pub(crate) connect_ms: f64,
    /// Clients whose connection ended before the run did.
    pub(crate) dropped: u32,
    /// Reasons for connections that ended or did not begin, with their number.
    pub(crate) reasons: BTreeMap<String, u64>,
    /// Lines that came due, and how many of them were sent.
    pub(crate) planned: u64,
    pub(crate) sent: u64,
    /// The fate of these lines. Lines that were never sent count as corrupted.
    pub(crate) tally: Tally,
    /// The measured window.
    pub(crate) window_ms: f64,
    pub(crate) sent_in_window: u64,
    pub(crate) deliveries_in_window: u64,
    pub(crate) latencies: LatencyCounts,
    /// If the load keeps clients apart.
    pub(crate) worst_clients: Vec<WorstClient>,
    /// The load itself.
    pub(crate) latest_send: f64,
    /// Of the busiest of its cores.
    pub(crate) cpu_percent: Option<f64>,
    pub(crate) close_ms: Option<f64>,
}

impl LoadReport {
    /// Adds what another process of the load found at the same time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.connected += other.connected;
        self.connect_ms = self.connect_ms.max(other.connect_ms);
        self.dropped += other.dropped;
        for (reason, count) in &other.reasons {
            *self.reasons.entry(reason.clone()).or_default() += count;
        }
        self.planned += other.planned;
        self.sent += other.sent;
        self.tally += other.tally;
        self.window_ms = self.window_ms.max(other.window_ms);
        self.sent_in_window += other.sent_in_window;
        self.deliveries_in_window += other.deliveries_in_window;
        self.latencies.add(&other.latencies);
        self.worst_clients.extend_from_slice(&other.worst_clients);
        WorstClient::keep_worst(&mut self.worst_clients);
        self.latest_send = self.latest_send.max(other.latest_send);
        self.close_ms = self.close_ms.zip(other.close_ms).map(|(one, other)| one.max(other));
    }

    /// The reports of all load processes as one. Process n runs on core `cpus[n]`, modulo the number of cores; on any
    /// core without `cpus`.
    pub(crate) fn together(parts: &[Self], cpus: &[usize]) -> Option<Self> {
        let (first, others) = parts.split_first()?;
        let mut all = first.clone();
        others.iter().for_each(|other| all.add(other));
        let cores = if cpus.is_empty() { parts.len() } else { cpus.len().min(parts.len()) };
        let of_core = |core: usize| parts.iter().skip(core).step_by(cores).map(|part| part.cpu_percent).sum();
        all.cpu_percent = (0..cores).filter_map(|core| -> Option<f64> { of_core(core) }).reduce(f64::max);
        Some(all)
    }
}

impl Progress {
    /// How all processes of the load go.
    pub(crate) fn together(parts: &[Self]) -> Self {
        Self {
            connected: parts.iter().map(|part| part.connected).sum(),
            delivered_per_second: parts.iter().map(|part| part.delivered_per_second).sum(),
            p99: parts.iter().map(|part| part.p99).fold(0.0, f64::max),
        }
    }
}

/// Sends the parent a message.
pub(crate) fn send(message: &ChildMessage) {
    output::say(serde_json::to_string(message).expect("it has only text keys"));
}

/// The parent's orders. The channel closes when the parent ends, or sends anything that is not an order.
pub(crate) fn orders() -> mpsc::Receiver<Order> {
    let (to, orders) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        let read = lines.map_while(|line| serde_json::from_str(&line).ok());
        let _ = read.map(|order| to.send(order)).try_for_each(|sent| sent);
        drop(to);
        // A thread that waits for orders ends now; a stuck one ends soon after its parent.
        std::thread::sleep(ORPHAN_MAX);
        std::process::exit(Exit::Interrupted.code().into());
    });
    orders
}

/// How long a process outlives its parent at most.
pub(super) const ORPHAN_MAX: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::latency::Latency;

    fn found(delivered: u64, latencies: std::ops::Range<u64>, cpu: f64) -> LoadReport {
        let mut latency = Latency::default();
        latencies.for_each(|number| latency.record(number * number % 99_991));
        LoadReport {
            connected: 5,
            tally: Tally { delivered, ..Tally::default() },
            reasons: BTreeMap::from([("late".to_owned(), 1)]),
            latencies: latency.counts(),
            cpu_percent: Some(cpu),
            close_ms: Some(cpu),
            ..LoadReport::default()
        }
    }

    #[test]
    fn the_parts_of_a_divided_load_sum_to_the_undivided_one() {
        let parts = [found(7, 0..500, 30.0), found(8, 500..900, 20.0), found(9, 900..2_000, 60.0)];
        let all = LoadReport::together(&parts, &[1]).unwrap();
        assert_eq!((all.connected, all.tally.delivered, all.reasons["late"]), (15, 24, 3));
        assert_eq!(all.latencies.latency().figures(), found(0, 0..2_000, 0.0).latencies.latency().figures());
        assert_eq!((all.cpu_percent, all.close_ms), (Some(110.0), Some(60.0)));
        assert_eq!(LoadReport::together(&parts, &[1, 2]).unwrap().cpu_percent, Some(90.0), "the first and the third");
        assert_eq!(LoadReport::together(&parts, &[]).unwrap().cpu_percent, Some(60.0));
        assert!(LoadReport::together(&[], &[]).is_none());
    }

    #[test]
    fn messages_between_processes_round_trip() {
        for order in [Order::GoOn, Order::Connect("udp".into()), Order::Begin(u64::MAX), Order::Sent(vec![1, 0, 7])] {
            let line = serde_json::to_string(&order).unwrap();
            assert_eq!(serde_json::from_str::<Order>(&line).unwrap(), order);
        }
        let told = serde_json::to_string(&ChildMessage::Report(Box::new(found(7, 0..500, 30.0)))).unwrap();
        let ChildMessage::Report(read) = serde_json::from_str(&told).unwrap() else { panic!("{told}") };
        assert_eq!(read.latencies.latency().figures(), found(7, 0..500, 30.0).latencies.latency().figures());
        assert_eq!(read.tally.delivered, 7);
    }
}
