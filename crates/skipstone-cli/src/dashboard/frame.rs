//! One second of the server, as the charts show it.

use crate::client_figures::PacketLoss;
use crate::dashboard::bytes_split::BytesSplit;
use serde::Serialize;
use skipstone::Stats;
use skipstone_lab::measure::process::Sample;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The rates and levels of one second. Rates are per second.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Frame {
    /// Milliseconds since 1970.
    pub(super) t: u64,
    pub(super) up_s: u64,
    pub(super) clients: usize,
    pub(super) stress_clients: usize,
    /// Of these, the clients that wait for the command to start, and the clients that run until the command to stop.
    pub(super) stress_waiting: usize,
    pub(super) stress_told: usize,
    pub(super) carriers: BTreeMap<&'static str, usize>,
    /// Lines of clients.
    pub(super) lines: f64,
    pub(super) messages_sent: f64,
    pub(super) messages_received: f64,
    pub(super) datagrams_sent: f64,
    pub(super) datagrams_received: f64,
    /// Bytes a second.
    pub(super) sent: BytesSplit,
    /// Bytes a second.
    pub(super) received: BytesSplit,
    /// Round-trip times in milliseconds that 50, 90, 99 and 100 percent of the clients do not exceed.
    pub(super) rtt_ms: Option<[f64; 4]>,
    pub(super) lost: f64,
    /// The mean of the clients' packet losses.
    pub(super) packet_loss_percent: PacketLoss,
    pub(super) resent: f64,
    pub(super) repairs: f64,
    pub(super) copies: f64,
    /// Lost packets that redundancy recovered, in both directions.
    pub(super) recovered: f64,
    pub(super) probes: f64,
    pub(super) ticks: f64,
    pub(super) slowest_tick_ms: f64,
    /// Percent of one core; missing where the system does not report it.
    pub(super) cpu_percent: Option<f64>,
    pub(super) dashboard_cpu_percent: Option<f64>,
    pub(super) rss_bytes: Option<u64>,
    pub(super) queued_bytes: u64,
    /// Since the server began.
    pub(super) overflows: u64,
    /// Arrivals that were dropped since the server began.
    pub(super) drops: u64,
    /// Log lines that were skipped since the server began.
    pub(super) log_skipped: u64,
}

/// Counters at one moment, from which rates are computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    pub(super) at: Instant,
    pub(super) stats: Stats,
    pub(super) lines: u64,
    pub(super) ticks: u64,
    pub(super) process: Option<Sample>,
    /// CPU time of the dashboard's thread.
    pub(super) own_cpu: Option<Duration>,
}

impl Counters {
    /// Computes the rates between an earlier moment and this one.
    pub(super) fn rates_since(&self, before: &Counters, frame: &mut Frame) {
        let span = (self.at - before.at).as_secs_f64().max(1e-3);
        // A closed connection's counters disappear, so a sum may fall.
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / span;
        let (now, then) = (&self.stats, &before.stats);
        frame.lines = rate(self.lines, before.lines);
        frame.ticks = rate(self.ticks, before.ticks);
        frame.messages_sent = rate(now.sent.messages, then.sent.messages);
        frame.messages_received = rate(now.received.messages, then.received.messages);
        frame.datagrams_sent = rate(now.sent.datagrams, then.sent.datagrams);
        frame.datagrams_received = rate(now.received.datagrams, then.received.datagrams);
        frame.lost = rate(now.packets_lost, then.packets_lost);
        frame.resent = rate(now.resent, then.resent);
        frame.repairs = rate(now.redundancy.repairs_sent, then.redundancy.repairs_sent);
        frame.copies = rate(now.redundancy.copies_sent, then.redundancy.copies_sent);
        frame.recovered = rate(recovered(now), recovered(then));
        frame.probes = rate(now.probes, then.probes);
        let mut since = *now;
        since.subtract(then);
        let redundant = since.redundancy.repairs_sent + since.redundancy.copies_sent;
        frame.sent = per_second(&BytesSplit::of(&since.sent, since.redundancy.bytes_sent, redundant), span);
        frame.received = per_second(&BytesSplit::of(&since.received, 0, 0), span);
        let usage = self.process.zip(before.process).map(|(now, then)| now.since(&then, self.at - before.at));
        frame.cpu_percent = usage.map(|usage| usage.cpu_percent);
        frame.rss_bytes = usage.map(|usage| usage.rss_bytes);
        let own = self.own_cpu.zip(before.own_cpu);
        frame.dashboard_cpu_percent = own.map(|(now, then)| 100.0 * now.saturating_sub(then).as_secs_f64() / span);
    }
}

fn recovered(stats: &Stats) -> u64 {
    stats.redundancy.packets_recovered + stats.redundancy.packets_recovered_by_peer
}

fn per_second(split: &BytesSplit, span: f64) -> BytesSplit {
    let rate = |bytes: u64| (bytes as f64 / span) as u64;
    BytesSplit {
        payload: rate(split.payload),
        protocol: rate(split.protocol),
        redundancy: rate(split.redundancy),
        headers: rate(split.headers),
    }
}

/// 50, 90, 99 and 100 percent of the values are at most these. Sorts the values.
pub(super) fn percentiles(values: &mut [f64]) -> Option<[f64; 4]> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let index = ((values.len() as f64 * share).ceil() as usize).saturating_sub(1);
        values.get(index).copied()
    };
    Some([at(0.5)?, at(0.9)?, at(0.99)?, at(1.0)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(at: Instant, sent: u64) -> Counters {
        let mut stats = Stats::default();
        (stats.sent.datagrams, stats.sent.ip_bytes, stats.sent.payload_bytes) = (sent, 100 * sent, 50 * sent);
        stats.sent.datagram_bytes = 72 * sent;
        stats.packets_lost = sent / 10;
        Counters { at, stats, lines: sent, ticks: sent, process: None, own_cpu: Some(Duration::from_millis(sent)) }
    }

    #[test]
    fn rates_are_per_second_and_never_negative() {
        let began = Instant::now();
        let (first, second) = (counters(began, 100), counters(began + Duration::from_secs(2), 300));
        let mut frame = Frame::default();
        second.rates_since(&first, &mut frame);
        assert_eq!((frame.datagrams_sent, frame.lines, frame.lost), (100.0, 100.0, 10.0));
        assert_eq!(frame.sent, BytesSplit { payload: 5000, protocol: 2200, redundancy: 0, headers: 2800 });
        assert_eq!((frame.dashboard_cpu_percent, frame.cpu_percent), (Some(10.0), None));
        counters(began + Duration::from_secs(3), 0).rates_since(&second, &mut frame);
        assert_eq!((frame.datagrams_sent, frame.lost), (0.0, 0.0));
    }

    #[test]
    fn percentiles_are_computed_from_the_values() {
        let mut values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentiles(&mut values), Some([50.0, 90.0, 99.0, 100.0]));
        assert_eq!(percentiles(&mut [7.0]), Some([7.0; 4]));
        assert_eq!(percentiles(&mut []), None);
    }
}
