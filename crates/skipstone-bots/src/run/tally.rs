//! What a worker found; several add up to a run.

use super::bot_records::BotRecords;
use super::lateness::Lateness;
use crate::metrics::Metrics;
use crate::protocol::{Ending, ProtocolCounts, SocketCounts};
use serde::{Deserialize, Serialize};
use skipstone_lab::measure::latency::Latency;
use skipstone_lab::report::bots::MessageCounts;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a worker found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Bots that began.
    pub(crate) started: u64,
    /// Bots that were ever connected.
    pub(crate) connected: u64,
    /// Connections that were attempted.
    pub(crate) attempts: u64,
    /// Connections that were made.
    pub(crate) connects: u64,
    /// Bots that lost their connection without learning of it.
    pub(crate) dropped: u64,
    /// Bots that the run's end found before their first connection was made, or had failed.
    pub(crate) cut_off: u64,
    /// Endings that the bots did not want, by cause and text.
    pub(crate) endings: BTreeMap<String, u64>,
    /// Errors of the script, with the number of bots and the first one.
    pub(crate) faults: BTreeMap<String, (u64, u32)>,
    /// How long each connection took.
    pub(crate) connect_us: Latency,
    /// Estimates of the round-trip time.
    pub(crate) rtt: Latency,
    /// Messages of the script.
    pub(crate) messages: MessageCounts,
    /// Messages that were refused, by reason.
    pub(crate) refused: BTreeMap<String, u64>,
    /// Traffic of sockets that have ended.
    pub(crate) socket: SocketCounts,
    /// Counters of connections that have ended.
    pub(crate) protocol: ProtocolCounts,
    /// Whether the schedule was kept.
    pub(crate) lateness: Lateness,
    /// What the script measured.
    pub(crate) metrics: Metrics,
    /// What is known of each bot. It stays on its machine; [`WorstBots`](super::WorstBots) leave it.
    #[serde(skip)]
    pub(crate) bots: BotRecords,
    /// Calls of the script.
    pub(crate) calls: u64,
    /// Time in them.
    pub(crate) in_scripts: Duration,
    /// Memory of the VM at the end.
    pub(crate) memory_bytes: u64,
}

impl Tally {
    /// An ending that the bot did not want.
    pub(super) fn count_ending(&mut self, ending: &Ending) {
        count(&mut self.endings, ending.to_string());
    }

    /// A message that was refused.
    pub(super) fn count_refusal(&mut self, why: &str) {
        count(&mut self.refused, why.to_owned());
    }

    /// An error of the script.
    pub(super) fn count_fault(&mut self, fault: String, bot: u32) {
        self.bots.on_fault(bot, &fault);
        let is_known = self.faults.contains_key(&fault) || self.faults.len() < TEXTS_MAX;
        let of = self.faults.entry(if is_known { fault } else { OTHERS.into() }).or_insert((0, bot));
        of.0 += 1;
    }

    /// A copy without what is known of each bot, which is much.
    pub(super) fn without_bots(&mut self) -> Tally {
        let bots = std::mem::take(&mut self.bots);
        let copy = self.clone();
        self.bots = bots;
        copy
    }

    /// Adds all of another worker's.
    pub(crate) fn merge(&mut self, other: Tally) {
        self.started += other.started;
        self.connected += other.connected;
        self.attempts += other.attempts;
        self.connects += other.connects;
        self.dropped += other.dropped;
        self.cut_off += other.cut_off;
        for (text, more) in other.endings {
            *self.endings.entry(text).or_default() += more;
        }
        for (text, more) in other.refused {
            *self.refused.entry(text).or_default() += more;
        }
        for (text, (more, first)) in other.faults {
            let own = self.faults.entry(text).or_insert((0, first));
            *own = (own.0 + more, own.1.min(first));
        }
        self.connect_us.merge(&other.connect_us);
        self.rtt.merge(&other.rtt);
        self.messages.sent += other.messages.sent;
        self.messages.received += other.messages.received;
        self.messages.bytes_sent += other.messages.bytes_sent;
        self.messages.bytes_received += other.messages.bytes_received;
        self.socket += other.socket;
        self.protocol += other.protocol;
        self.lateness.merge(other.lateness);
        self.metrics.merge(&other.metrics);
        self.bots.merge(other.bots);
        self.calls += other.calls;
        self.in_scripts += other.in_scripts;
        self.memory_bytes += other.memory_bytes;
    }
}

/// Texts come from servers and scripts: their number has a bound.
fn count(texts: &mut BTreeMap<String, u64>, text: String) {
    let is_known = texts.contains_key(&text) || texts.len() < TEXTS_MAX;
    *texts.entry(if is_known { text } else { OTHERS.into() }).or_default() += 1;
}

const TEXTS_MAX: usize = 100;
const OTHERS: &str = "others";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Cause;

    #[test]
    fn texts_of_servers_have_a_bound() {
        let mut tally = Tally::default();
        for number in 0..TEXTS_MAX + 50 {
            tally.count_ending(&Ending::new(Cause::ByServer, format!("{number}")));
            tally.count_fault(format!("oops {number}"), 7);
        }
        assert_eq!((tally.endings.len(), tally.endings[OTHERS]), (TEXTS_MAX + 1, 50));
        assert_eq!((tally.faults.len(), tally.faults[OTHERS]), (TEXTS_MAX + 1, (50, 7)));
    }
}
