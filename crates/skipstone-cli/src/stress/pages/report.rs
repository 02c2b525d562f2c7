//! The report of a page, in the format of `clients/web/stress/main.ts`.

use serde::Deserialize;
use serde_json::Value;
use skipstone::{ClosedBy, Figure, Stats};

/// The events of a page since its last report. Times are in µs of the run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Report {
    /// Clients, and the milliseconds that each needed.
    connected: Vec<f64>,
    pub(super) closed: Vec<ClosedGuest>,
    /// Triples: client, time at which the line was due, time at which it was sent.
    sent: Vec<f64>,
    /// Lines that were due and could not be sent.
    pub(crate) refused: u64,
    /// Groups of five: client, sender, sequence, time at which the line was due, time at which it was received.
    lines: Vec<f64>,
    pub(crate) corrupt: Vec<u32>,
    pub(crate) foreign: Vec<u32>,
    /// All lines of the run were sent.
    pub(super) is_done: bool,
    pub(super) counters: Vec<PageCounters>,
}

/// A connection that ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ClosedGuest {
    pub(crate) number: u32,
    pub(crate) code: u64,
    #[serde(with = "ClosedByName")]
    pub(crate) by: ClosedBy,
    pub(crate) reason: String,
}

/// The names of [`ClosedBy`] in pages.
#[derive(Deserialize)]
#[serde(remote = "ClosedBy", rename_all = "camelCase")]
enum ClosedByName {
    Local,
    Peer,
    Nobody,
}

/// A line that a client received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedLine {
    pub(crate) number: u32,
    pub(crate) client: u32,
    pub(crate) sequence: u32,
    pub(crate) scheduled_us: u64,
    pub(crate) received_us: u64,
}

/// State and counters of a connection, as pages name them: values, and groups of values.
pub(super) type PageCounters = serde_json::Map<String, Value>;

impl Report {
    /// Drops reports about clients of other pages.
    pub(super) fn keep_own(&mut self, numbers: &[u32]) {
        self.closed.retain(|closed| numbers.contains(&closed.number));
        self.corrupt.retain(|number| numbers.contains(number));
        self.foreign.retain(|number| numbers.contains(number));
        let is_own = |number: f64| number >= 0.0 && numbers.contains(&(number as u32));
        let keep = |flat: &mut Vec<f64>, of: usize| {
            *flat = flat.chunks_exact(of).filter(|one| is_own(one[0])).flatten().copied().collect();
        };
        keep(&mut self.connected, 2);
        keep(&mut self.sent, 3);
        keep(&mut self.lines, 5);
    }

    /// Clients that connected, and the milliseconds that each needed.
    pub(crate) fn connected(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.connected.chunks_exact(2).map(|one| (one[0] as u32, one[1].max(0.0)))
    }

    /// Clients that sent a line, when it was due, and when it was sent.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        self.sent.chunks_exact(3).map(|one| (one[0] as u32, one[1] as u64, one[2] as u64))
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = ReceivedLine> + '_ {
        self.lines.chunks_exact(5).map(|one| ReceivedLine {
            number: one[0] as u32,
            client: one[1] as u32,
            sequence: one[2] as u32,
            scheduled_us: one[3] as u64,
            received_us: one[4] as u64,
        })
    }

    pub(crate) fn closed(&self) -> &[ClosedGuest] {
        &self.closed
    }

    /// The counters of all its connections.
    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        for counters in &self.counters {
            stats.add(&Stats::from_figures(|figure| counter(counters, figure)));
        }
        stats
    }
}

/// One counter; what a page does not tell is 0.
fn counter(counters: &PageCounters, figure: &Figure) -> u64 {
    let (group, name) = match figure.group {
        "" => (Some(counters), camel(figure.name)),
        "drops" => (counters.get("drops").and_then(Value::as_object), figure.name.to_owned()),
        group => (counters.get(group).and_then(Value::as_object), camel(figure.name)),
    };
    group.and_then(|group| group.get(&name)).and_then(Value::as_u64).unwrap_or(0)
}

/// A field's name in JavaScript.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        all + &head.to_uppercase() + tail
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone::DropReason;

    #[test]
    fn a_page_report_is_parsed_and_covers_only_its_own_clients() {
        let text = r#"{ "connected": [3, 12.5, 9, 1], "closed": [{ "number": 9, "code": 1, "by": "peer", "reason": "x" }],
            "sent": [3, 10, 20, 9, 1, 2], "refused": 1, "lines": [3, 65535, 7, 1099511627775, 5, 9, 1, 1, 1, 1, 4],
            "corrupt": [9], "foreign": [3], "isDone": true, "counters": [
                { "sent": { "datagrams": 2, "ipBytes": 100 }, "packetsLost": 1, "rtt": { "smoothed": 1.5 },
                  "blackHoles": 2, "redundancy": { "packetsRecoveredByPeer": 4 }, "drops": { "stale_message": 6 },
                  "congestionWindow": null },
                { "sent": { "datagrams": 3, "ipBytes": 50 }, "drops": { "stale_message": 1 } }] }"#;
        let mut report: Report = serde_json::from_str(text).expect("a good report");
        report.keep_own(&[3, 4]);
        assert_eq!(report.connected().collect::<Vec<_>>(), [(3, 12.5)]);
        assert_eq!(report.sent().collect::<Vec<_>>(), [(3, 10, 20)]);
        let line = ReceivedLine { number: 3, client: 65_535, sequence: 7, scheduled_us: (1 << 40) - 1, received_us: 5 };
        assert_eq!(report.lines().collect::<Vec<_>>(), [line]);
        assert!(report.closed().is_empty() && report.corrupt.is_empty());
        assert_eq!(report.foreign, [3]);
        let stats = report.stats();
        assert_eq!((stats.sent.datagrams, stats.sent.ip_bytes, stats.packets_lost), (5, 150, 1));
        let recovered = stats.redundancy.packets_recovered_by_peer;
        assert_eq!((stats.black_holes, recovered, stats.drops.of(DropReason::StaleMessage)), (2, 4, 7));
    }
}
