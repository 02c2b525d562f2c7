//! A row of the result: one transport with one number of clients.

use serde::Serialize;

use super::words::Found;
use crate::compare::row::whole;

/// What the runs of one transport with one number of clients found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) transport: &'static str,
    /// What the preset varies besides; null where it varies nothing.
    pub(crate) variant: Option<String>,
    pub(crate) clients: u32,
    /// Lines of each client, a second.
    pub(crate) rate: f64,
    /// In every round: everything arrived once and in order, in time, nobody was dropped, the ticks were kept.
    pub(crate) passed: bool,
    /// Why it did not pass, one sentence each.
    pub(crate) reasons: Vec<String>,
    pub(crate) rounds: u32,
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// The numbers of a row: of the round in the middle, by the server's CPU time. Times in ms; what was not measured is null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Of the lines that had to be delivered, of 1.
    pub(crate) delivered_share: Option<f64>,
    pub(crate) cpu_us_per_delivery: Option<f64>,
    /// The same over that of the transport that everything is compared with.
    pub(crate) ratio: Option<f64>,
    /// Over the rounds.
    pub(crate) cpu_us_per_delivery_least: Option<f64>,
    pub(crate) cpu_us_per_delivery_most: Option<f64>,
    /// Latency from when a line was due until it was delivered.
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p999: Option<f64>,
    pub(crate) max: Option<f64>,
    /// IP bytes of both directions beyond the payload of both, in percent of it.
    pub(crate) overhead_percent: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) rss_bytes: Option<f64>,
    /// What the server's memory has grown by since before the first client, a client.
    pub(crate) rss_bytes_per_client: Option<f64>,
    pub(crate) ticks_per_second: Option<f64>,
    pub(crate) slowest_tick: Option<f64>,
    pub(crate) server_cpu_percent: Option<f64>,
    pub(crate) load_cpu_percent: Option<f64>,
    /// By how much the load was late at the worst.
    pub(crate) latest_send: Option<f64>,
    pub(crate) deliveries_per_second: Option<f64>,
    pub(crate) ip_bytes_per_second: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) connected: Option<f64>,
    pub(crate) connect: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) dropped: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) expected: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) delivered: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) lost: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) duplicated: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) reordered: Option<f64>,
    #[serde(serialize_with = "whole")]
    pub(crate) corrupted: Option<f64>,
    /// From the first goodbye until all clients knew that they were gone.
    pub(crate) close: Option<f64>,
}

impl Figures {
    pub(crate) fn take_found(&mut self, found: &Found) {
        let tally = &found.tally;
        let share = tally.delivered as f64 / tally.expected as f64;
        self.delivered_share = (tally.expected > 0).then_some(share);
        if let Some(latency) = found.latencies.latency().figures() {
            (self.p50, self.p99) = (Some(latency.p50), Some(latency.p99));
            (self.p999, self.max) = (Some(latency.p999), Some(latency.max));
        }
        self.load_cpu_percent = found.cpu_percent;
        self.latest_send = Some(found.latest_send);
        let seconds = found.window_ms / 1e3;
        self.deliveries_per_second = (seconds > 0.0).then(|| found.deliveries_in_window as f64 / seconds);
        self.connected = Some(f64::from(found.connected));
        self.connect = Some(found.connect_ms);
        self.dropped = Some(f64::from(found.dropped));
        let counts = [tally.expected, tally.delivered, tally.lost, tally.duplicated, tally.reordered, tally.corrupted];
        let [expected, delivered, lost, duplicated, reordered, corrupted] = counts.map(|count| Some(count as f64));
        (self.expected, self.delivered, self.lost) = (expected, delivered, lost);
        (self.duplicated, self.reordered, self.corrupted) = (duplicated, reordered, corrupted);
        self.close = found.close_ms;
    }
}

impl Row {
    /// The transport, and its variant if there are several.
    pub(crate) fn name(&self) -> String {
        self.variant.as_ref().map_or(self.transport.to_owned(), |variant| format!("{} ({variant})", self.transport))
    }

    /// Whether it is Skipstone's.
    pub(crate) fn is_ours(&self) -> bool {
        self.transport.starts_with("skipstone")
    }

    /// Whether the load could hardly keep its schedule.
    pub(crate) fn is_load_short(&self) -> bool {
        self.figures.load_cpu_percent.is_some_and(|percent| percent > 95.0)
            || self.figures.latest_send.is_some_and(|late| late > 20.0)
    }

    /// Several rounds of one transport with one number of clients as one row.
    pub(crate) fn of_rounds(mut rounds: Vec<Row>) -> Option<Row> {
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

    /// Says of each row how it compares: with this transport's of the same number of clients and variant; or, where the
    /// variants themselves are compared, with the first of its own transport.
    pub(crate) fn compare(rows: &mut [Row], against: Against) {
        let all: Vec<Row> = rows.to_vec();
        for row in rows {
            let is_base = |other: &&Row| match against {
                Against::Transport(name) => other.transport == name && other.variant == row.variant,
                Against::FirstVariant => other.transport == row.transport,
            };
            let base = all.iter().filter(|other| other.clients == row.clients).find(is_base);
            let base = base.and_then(|base| base.figures.cpu_us_per_delivery);
            row.figures.ratio = row.figures.cpu_us_per_delivery.zip(base).map(|(own, base)| own / base);
        }
    }
}

/// What ratios are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    Transport(&'static str),
    FirstVariant,
}

/// What has no cost comes last.
fn cost(row: &Row) -> f64 {
    row.figures.cpu_us_per_delivery.unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transport: &'static str, clients: u32, cost: Option<f64>, passed: bool) -> Row {
        let figures = Figures { cpu_us_per_delivery: cost, ..Figures::default() };
        let reasons = if passed { Vec::new() } else { vec!["late".into()] };
        Row { transport, variant: None, clients, rate: 1.0, passed, reasons, rounds: 1, figures }
    }

    #[test]
    fn the_round_in_the_middle_stands_for_all_and_one_that_failed_fails_all() {
        let rounds = [(Some(3.0), true), (Some(1.0), false), (Some(2.0), true)];
        let one = Row::of_rounds(rounds.map(|(cost, passed)| row("a", 5, cost, passed)).to_vec()).unwrap();
        assert_eq!((one.rounds, one.passed, one.reasons.len()), (3, false, 1));
        assert_eq!(one.figures.cpu_us_per_delivery, Some(2.0));
        assert_eq!(
            (one.figures.cpu_us_per_delivery_least, one.figures.cpu_us_per_delivery_most),
            (Some(1.0), Some(3.0))
        );
        assert_eq!(Row::of_rounds(Vec::new()), None);
    }

    #[test]
    fn ratios_are_of_the_same_number_of_clients() {
        let mut rows = [
            row("tcp", 5, Some(2.0), true),
            row("a", 5, Some(1.0), true),
            row("a", 9, Some(1.0), true),
            row("b", 5, None, true),
        ];
        Row::compare(&mut rows, Against::Transport("tcp"));
        assert_eq!(rows.map(|row| row.figures.ratio), [Some(1.0), Some(0.5), None, None]);
    }
}
