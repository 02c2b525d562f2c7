//! A row of the result: one transport with one number of clients.

use serde::Serialize;

use super::messages::LoadReport;
use super::setup::row_name;
use crate::measure::latency_steps::LatencySteps;
use crate::measure::worst_clients::WorstClient;
use crate::report::figures::figures;
use crate::report::format::three_digits;

/// The findings of the runs of one transport with one number of clients.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct BenchRow {
    pub(crate) transport: &'static str,
    /// The server's name if it is another program; null if it is this one.
    pub(crate) server: Option<String>,
    /// The preset's variant; null where it varies nothing.
    pub(crate) variant: Option<String>,
    pub(crate) clients: u32,
    /// Lines of each client, a second.
    pub(crate) rate: f64,
    /// In every round: everything arrived once, in order and in time, no client was dropped, and the ticks were kept.
    pub(crate) passed: bool,
    /// Why it did not pass, one sentence each.
    pub(crate) reasons: Vec<String>,
    /// It was not tried, because the transport cannot serve this number of clients, or does not have this variant.
    #[serde(skip)]
    pub(crate) is_untried: bool,
    pub(crate) rounds: u32,
    #[serde(flatten)]
    pub(crate) figures: BenchFigures,
    /// All latencies of the median round, for the report.
    #[serde(skip)]
    pub(crate) latencies: LatencySteps,
    /// The same.
    #[serde(skip)]
    pub(crate) worst_clients: Vec<WorstClient>,
}

figures! {
    /// The numbers of a row, from the median round by the server's CPU time. Times in ms; what was not measured is
    /// null.
    pub(crate) struct BenchFigures {
        /// The delivered share of the lines that had to be delivered, from 0 to 1.
        delivered_share: f64,
        cpu_us_per_delivery: f64,
        /// The same figure, divided by the figure of the reference transport.
        ratio: f64,
        /// Over the rounds.
        cpu_us_per_delivery_least: f64,
        cpu_us_per_delivery_most: f64,
        /// Latency from when a line was due until it was delivered.
        p50: f64,
        p99: f64,
        p999: f64,
        max: f64,
        /// IP bytes of both directions beyond the payload of both, in percent of it.
        overhead_percent: f64,
        rss_bytes: u64,
        /// The growth of the server's memory since before the first client, per client.
        rss_bytes_per_client: f64,
        ticks_per_second: f64,
        slowest_tick: f64,
        server_cpu_percent: f64,
        load_cpu_percent: f64,
        /// By how much the load was late at the worst.
        latest_send: f64,
        deliveries_per_second: f64,
        ip_bytes_per_second: f64,
        connected: u64,
        connect: f64,
        dropped: u64,
        expected: u64,
        delivered: u64,
        lost: u64,
        duplicated: u64,
        reordered: u64,
        corrupted: u64,
        /// The time from the first close until all clients were disconnected.
        close: f64,
    }
}

impl BenchFigures {
    pub(crate) fn take_found(&mut self, found: &LoadReport) {
        let tally = &found.tally;
        let share = tally.delivered as f64 / tally.expected as f64;
        self.delivered_share = (tally.expected > 0).then_some(share);
        if let Some(latency) = found.latencies.latency().figures() {
            (self.p50, self.p99) = (latency.p50, latency.p99);
            (self.p999, self.max) = (latency.p999, latency.max);
        }
        self.load_cpu_percent = found.cpu_percent;
        self.latest_send = Some(found.latest_send);
        let seconds = found.window_ms / 1e3;
        self.deliveries_per_second = (seconds > 0.0).then(|| found.deliveries_in_window as f64 / seconds);
        self.connected = Some(found.connected.into());
        self.connect = Some(found.connect_ms);
        self.dropped = Some(found.dropped.into());
        (self.expected, self.delivered) = (Some(tally.expected), Some(tally.delivered));
        (self.lost, self.duplicated) = (Some(tally.lost), Some(tally.duplicated));
        (self.reordered, self.corrupted) = (Some(tally.reordered), Some(tally.corrupted));
        self.close = found.close_ms;
    }
}

impl BenchRow {
    /// Transport and server, and the variant if there are several.
    pub(crate) fn name(&self) -> String {
        let name = row_name(self.transport, self.server.as_deref());
        self.variant.as_ref().map_or(name.clone(), |variant| format!("{name} ({variant})"))
    }

    /// In a sentence, for those who watch.
    pub(crate) fn sentence(&self) -> String {
        let cost = self.figures.cpu_us_per_delivery.map(|cost| format!("{} us/delivery", three_digits(cost)));
        let p99 = self.figures.p99.map(|p99| format!("p99 {p99:.1} ms"));
        let figures: Vec<String> = [cost, p99].into_iter().flatten().collect();
        let how = if self.passed { "passed".to_owned() } else { format!("did not pass: {}", self.reasons.join("; ")) };
        [vec![how], figures].concat().join(", ")
    }

    /// Whether it is Skipstone's.
    pub(crate) fn is_ours(&self) -> bool {
        self.transport.starts_with("skipstone")
    }

    /// Whether the figures are about anything: deliveries, or clients that are meant to be silent.
    pub(crate) fn has_measured(&self) -> bool {
        let is_some = |count: Option<u64>| count.is_some_and(|count| count > 0);
        is_some(self.figures.delivered) || self.rate == 0.0 && is_some(self.figures.connected)
    }

    /// Whether the load could hardly keep its schedule.
    pub(crate) fn is_load_short(&self) -> bool {
        self.figures.load_cpu_percent.is_some_and(|percent| percent > 95.0)
            || self.figures.latest_send.is_some_and(|late| late > 20.0)
    }

    /// Several rounds of one transport with one number of clients as one row.
    pub(crate) fn of_rounds(mut rounds: Vec<Self>) -> Option<Self> {
        rounds.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let costs = || rounds.iter().filter_map(|row| row.figures.cpu_us_per_delivery);
        let (least, most) = (costs().reduce(f64::min), costs().reduce(f64::max));
        let passed = rounds.iter().all(|row| row.passed);
        let mut reasons: Vec<String> = rounds.iter().flat_map(|row| row.reasons.clone()).collect();
        reasons.dedup();
        let mut row = rounds.get((rounds.len().max(1) - 1) / 2)?.clone();
        (row.passed, row.reasons, row.rounds) = (passed, reasons, rounds.len() as u32);
        (row.figures.cpu_us_per_delivery_least, row.figures.cpu_us_per_delivery_most) = (least, most);
        Some(row)
    }

    /// Fills in each row's ratio: to the reference transport's row with the same number of clients and variant; or, if
    /// variants or servers are compared, to the first row of its own transport.
    pub(crate) fn compare(rows: &mut [Self], against: Against) {
        let all: Vec<Self> = rows.to_vec();
        for row in rows {
            let is_alike = |other: &Self| other.server.is_none() && other.variant == row.variant;
            let is_base = |other: &&Self| match against {
                Against::BenchTransport(name) => other.transport == name && is_alike(other),
                Against::OwnServer => other.transport == row.transport && is_alike(other),
                Against::FirstVariant => other.transport == row.transport,
            };
            let base = all.iter().filter(|other| other.clients == row.clients).find(is_base);
            let base = base.and_then(|base| base.figures.cpu_us_per_delivery);
            row.figures.ratio = row.figures.cpu_us_per_delivery.zip(base).map(|(own, base)| own / base);
        }
    }
}

/// The base of the ratios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    BenchTransport(&'static str),
    /// The same transport with the server of this program.
    OwnServer,
    FirstVariant,
}

/// Rows without a cost come last.
fn cost(row: &BenchRow) -> f64 {
    row.figures.cpu_us_per_delivery.unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transport: &'static str, clients: u32, cost: Option<f64>, passed: bool) -> BenchRow {
        let figures = BenchFigures { cpu_us_per_delivery: cost, ..BenchFigures::default() };
        let reasons = if passed { Vec::new() } else { vec!["late".into()] };
        BenchRow { transport, clients, rate: 1.0, passed, reasons, rounds: 1, figures, ..BenchRow::default() }
    }

    #[test]
    fn the_median_round_represents_all_and_one_failure_fails_all() {
        let rounds = [(Some(3.0), true), (Some(1.0), false), (Some(2.0), true)];
        let one = BenchRow::of_rounds(rounds.map(|(cost, passed)| row("a", 5, cost, passed)).to_vec()).unwrap();
        assert_eq!((one.rounds, one.passed, one.reasons.len()), (3, false, 1));
        assert_eq!(one.figures.cpu_us_per_delivery, Some(2.0));
        assert_eq!(
            (one.figures.cpu_us_per_delivery_least, one.figures.cpu_us_per_delivery_most),
            (Some(1.0), Some(3.0))
        );
        assert_eq!(BenchRow::of_rounds(Vec::new()), None);
    }

    #[test]
    fn ratios_compare_the_same_number_of_clients() {
        let mut rows = [
            row("tcp", 5, Some(2.0), true),
            row("a", 5, Some(1.0), true),
            row("a", 9, Some(1.0), true),
            row("b", 5, None, true),
        ];
        BenchRow::compare(&mut rows, Against::BenchTransport("tcp"));
        assert_eq!(rows.map(|row| row.figures.ratio), [Some(1.0), Some(0.5), None, None]);
    }

    #[test]
    fn other_servers_are_compared_with_the_built_in_one() {
        let by = |server: &str, row: BenchRow| BenchRow { server: Some(server.into()), ..row };
        let mut rows = [
            by("c", row("a", 5, Some(3.0), true)),
            row("a", 5, Some(2.0), true),
            row("b", 5, Some(9.0), true),
            by("go", row("b", 5, Some(9.0), true)),
        ];
        BenchRow::compare(&mut rows, Against::OwnServer);
        assert_eq!(rows.clone().map(|row| row.figures.ratio), [Some(1.5), Some(1.0), Some(1.0), Some(1.0)]);
        assert_eq!(rows.map(|row| row.name()), ["a/c", "a", "b", "b/go"]);
    }
}
