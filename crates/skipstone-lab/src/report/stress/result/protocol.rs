//! Counters of the protocol beneath the lines: packets lost, redundancy paid and gained, addresses changed, drops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skipstone::Stats;

/// Counters of the protocol, as each side counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// All clients together.
    pub clients: Side,
    /// The server, since it began; `None` when it is remote.
    pub server: Option<Side>,
}

/// The counters of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Side {
    // catalogue: counters
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost whose acknowledgement came later.
    pub packets_spurious: u64,
    /// Messages and fragments retransmitted.
    pub resent: u64,
    /// Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
    pub probes: u64,
    /// Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused,
    /// an earlier acknowledgement was lost, or it does not follow the settings.
    pub acks_overdue: u64,
    /// Times that the connection moved to a new address.
    pub paths_changed: u64,
    /// New addresses that did not prove to be the peer's.
    pub paths_refused: u64,
    /// Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3).
    pub black_holes: u64,
    /// Messages refused or dropped by a full queue.
    pub queue_overflows: u64,
    // catalogue: end
    /// The cost of redundancy, and its gain.
    pub redundancy: Redundancy,
    /// Arrivals that it dropped, by reason; every reason, most of them 0.
    pub drops_by_reason: BTreeMap<String, u64>,
}

/// The cost of redundancy to one side, and its gain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Redundancy {
    // catalogue: redundancy
    /// Repair packets sent.
    pub repairs_sent: u64,
    /// Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
    /// earlier ones.
    pub copies_sent: u64,
    /// Bytes of repairs and copies, IP headers included, and of messages repeated.
    pub bytes_sent: u64,
    /// Packets of the peer that were lost and recovered here, each without waiting for a round trip.
    pub packets_recovered: u64,
    /// Packets sent here that were lost and that the peer recovered.
    #[serde(rename = "packets_recovered_by_peers")]
    pub packets_recovered_by_peer: u64,
    // catalogue: end
}

impl From<&Stats> for Side {
    fn from(stats: &Stats) -> Side {
        let redundancy = &stats.redundancy;
        Side {
            // catalogue: counters copied
            packets_lost: stats.packets_lost,
            packets_spurious: stats.packets_spurious,
            resent: stats.resent,
            probes: stats.probes,
            acks_overdue: stats.acks_overdue,
            paths_changed: stats.paths_changed,
            paths_refused: stats.paths_refused,
            black_holes: stats.black_holes,
            queue_overflows: stats.queue_overflows,
            // catalogue: end
            redundancy: Redundancy {
                // catalogue: redundancy copied
                repairs_sent: redundancy.repairs_sent,
                copies_sent: redundancy.copies_sent,
                bytes_sent: redundancy.bytes_sent,
                packets_recovered: redundancy.packets_recovered,
                packets_recovered_by_peer: redundancy.packets_recovered_by_peer,
                // catalogue: end
            },
            drops_by_reason: stats.drops.iter().map(|(reason, count)| (reason.name().to_owned(), count)).collect(),
        }
    }
}

impl Side {
    /// The reasons that occurred, the most frequent first.
    pub fn drops(&self) -> Vec<(&str, u64)> {
        let mut drops: Vec<(&str, u64)> =
            self.drops_by_reason.iter().map(|(reason, count)| (&**reason, *count)).filter(|drop| drop.1 > 0).collect();
        drops.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        drops
    }
}

/// The cost of redundancy and its gain, over all sides that are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// Repair packets.
    pub repairs: u64,
    /// Copies of what was late.
    pub copies: u64,
    /// IP bytes of both.
    pub bytes: u64,
    /// Lost packets that delayed no message.
    pub packets_recovered: u64,
}

impl Protocol {
    /// The cost of redundancy and its gain. Of a remote server the gain is known from its clients, but not what
    /// it paid.
    pub fn balance(&self) -> Balance {
        let (ours, theirs) = (&self.clients.redundancy, self.server.as_ref().map(|server| server.redundancy));
        let paid = theirs.unwrap_or_default();
        Balance {
            repairs: ours.repairs_sent + paid.repairs_sent,
            copies: ours.copies_sent + paid.copies_sent,
            bytes: ours.bytes_sent + paid.bytes_sent,
            packets_recovered: ours.packets_recovered
                + theirs.map_or(ours.packets_recovered_by_peer, |it| it.packets_recovered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(repairs_sent: u64, packets_recovered: u64, packets_recovered_by_peer: u64) -> Side {
        let redundancy =
            Redundancy { repairs_sent, packets_recovered, packets_recovered_by_peer, ..Redundancy::default() };
        Side { redundancy, ..Side::from(&Stats::default()) }
    }

    #[test]
    fn a_lost_packet_that_was_recovered_counts_once() {
        let both = Protocol { clients: side(10, 3, 2), server: Some(side(20, 2, 3)) };
        assert_eq!((both.balance().repairs, both.balance().packets_recovered), (30, 5));
        let remote = Protocol { server: None, ..both };
        assert_eq!((remote.balance().repairs, remote.balance().packets_recovered), (10, 5));
    }
}
