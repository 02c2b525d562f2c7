//! A stress run over time, by carrier and by client, for its report.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::result::StressResult;
use super::table;
use crate::measure::latency_steps::LatencySteps;
use crate::measure::worst_clients::WorstClient;
use crate::units::Carrier;

/// The data of a run for its report.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Chronicle {
    block: Duration,
    blocks: Vec<LatencySteps>,
    /// Indexed by carrier, then by its clients.
    clients: Vec<Vec<LatencySteps>>,
    costs: Vec<CostPoint>,
}

/// The cost at a moment of the run: means since the previous one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CostPoint {
    /// Seconds since the first line was due.
    pub at: f64,
    /// CPU of the server's process, in percent of a core; `None` for a server that is not the run's own.
    pub server_cpu: Option<f64>,
    /// CPU of the clients' process.
    pub generator_cpu: Option<f64>,
    /// IP bytes that all clients sent, a second.
    pub sent_bytes: f64,
    /// IP bytes that all clients received, a second.
    pub received_bytes: f64,
}

impl CostPoint {
    /// Adds what other processes used in the same second.
    fn add(&mut self, other: &CostPoint) {
        let sum = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
        self.server_cpu = sum(self.server_cpu, other.server_cpu);
        self.generator_cpu = sum(self.generator_cpu, other.generator_cpu);
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
    }
}

/// A report's data.
#[derive(Debug, Serialize)]
pub struct StressReport<'a> {
    kind: &'static str,
    result: &'a StressResult,
    /// The sentence of the verdict, and the notes beneath the figures, as on the terminal.
    verdict_sentence: &'static str,
    notes: Vec<(&'static str, String)>,
    block_s: f64,
    /// Figures of the lines that were due within each block.
    blocks: Vec<StressBlock>,
    curves: Vec<StressCurve>,
    /// The latest first.
    worst_clients: Vec<WorstClient>,
    costs: &'a [CostPoint],
}

#[derive(Debug, Serialize)]
struct StressBlock {
    delivered: u64,
    max: Option<f64>,
    latencies: String,
}

#[derive(Debug, Serialize)]
struct StressCurve {
    name: String,
    max: Option<f64>,
    latencies: String,
}

/// Enough for a curve.
const BLOCKS_MAX: u64 = 64;

impl Chronicle {
    /// For a run of this duration with this number of clients on each carrier.
    pub fn new(lasting: Duration, clients: &[u32]) -> Chronicle {
        let block = Duration::from_secs(lasting.as_secs().div_ceil(BLOCKS_MAX).max(1));
        let clients = clients.iter().map(|count| vec![LatencySteps::default(); *count as usize]).collect();
        Chronicle { block, blocks: Vec::new(), clients, costs: Vec::new() }
    }

    /// A client received a line, which was due at this time of the run.
    pub fn on_line(&mut self, carrier: usize, receiver: u32, due_us: u64, took_us: u64) {
        let at = (u128::from(due_us) / self.block.as_micros()) as usize;
        // A line's time is what its sender says.
        if at < 2 * BLOCKS_MAX as usize {
            self.blocks.resize(self.blocks.len().max(at + 1), LatencySteps::default());
            self.blocks[at].record(took_us);
        }
        if let Some(client) = self.clients.get_mut(carrier).and_then(|clients| clients.get_mut(receiver as usize)) {
            client.record(took_us);
        }
    }

    /// Adds what the time since the last call cost.
    pub fn on_cost(&mut self, point: CostPoint) {
        if self.costs.len() < COSTS_MAX {
            self.costs.push(point);
        }
    }

    /// Adds the chronicle of other clients of the same run, whose numbers follow these clients' numbers.
    pub fn append(&mut self, other: &Chronicle) {
        let blocks = self.blocks.len().max(other.blocks.len());
        self.blocks.resize(blocks, LatencySteps::default());
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(block, more)| block.merge(more));
        self.clients.iter_mut().zip(&other.clients).for_each(|(clients, more)| clients.extend_from_slice(more));
        for point in &other.costs {
            match self.costs.iter_mut().find(|own| own.at.round() == point.at.round()) {
                Some(own) => own.add(point),
                None => self.on_cost(*point),
            }
        }
    }

    /// Adds it to the result, which has these carriers.
    pub fn report<'a>(&'a self, result: &'a StressResult, carriers: &[Carrier]) -> StressReport<'a> {
        let block = |steps: &LatencySteps| StressBlock {
            delivered: steps.count(),
            max: steps.longest_ms(),
            latencies: steps.text(),
        };
        StressReport {
            kind: "stress",
            result,
            verdict_sentence: table::verdict_words(result.verdict).2,
            notes: table::notes(result),
            block_s: self.block.as_secs_f64(),
            blocks: self.blocks.iter().map(block).collect(),
            curves: self.clients.iter().zip(carriers).map(|(clients, carrier)| curve(carrier, clients)).collect(),
            worst_clients: self.worst_clients(carriers),
            costs: &self.costs,
        }
    }

    /// The worst clients, ranked by their slowest 1% of received lines.
    fn worst_clients(&self, carriers: &[Carrier]) -> Vec<WorstClient> {
        let named = self.clients.iter().zip(carriers).flat_map(|(clients, carrier)| {
            (1..).zip(clients).map(move |(number, steps): (usize, _)| (format!("{carrier} {number}"), steps))
        });
        WorstClient::all(named)
    }
}

/// A run of days has no more points than this.
const COSTS_MAX: usize = 10_000;

fn curve(carrier: &Carrier, clients: &[LatencySteps]) -> StressCurve {
    let mut all = LatencySteps::default();
    clients.iter().for_each(|client| all.merge(client));
    StressCurve { name: carrier.to_string(), max: all.longest_ms(), latencies: all.text() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_clients_come_first_and_blocks_follow_the_due_time() {
        let mut chronicle = Chronicle::new(Duration::from_secs(10), &[20, 1]);
        for receiver in 0..20 {
            (0..100).for_each(|line| chronicle.on_line(0, receiver, line * 100_000, 1_000 + u64::from(receiver) * 100));
        }
        chronicle.on_line(1, 0, 9_500_000, 40_000);
        // A sender that lies about the time.
        chronicle.on_line(1, 0, u64::MAX, 5);
        let result = StressResult::default();
        let report = chronicle.report(&result, &[Carrier::Udp, Carrier::Ws]);
        assert_eq!((report.block_s, report.blocks.len()), (1.0, 10));
        assert_eq!((report.blocks[0].delivered, report.blocks[9].delivered), (200, 201));
        let names: Vec<&str> = report.worst_clients.iter().map(|client| client.name.as_str()).collect();
        assert_eq!((names.len(), names[0], names[1], names[9]), (10, "ws 1", "udp 20", "udp 12"));
        assert_eq!(report.worst_clients[0].max, Some(40.0));
        let curves: Vec<&str> = report.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(curves, ["udp", "ws"]);
    }
}
