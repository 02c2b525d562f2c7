//! State and counters of a connection, for monitoring.

use super::state::Connection;
use super::stats::Stats;
use crate::channel::channels::Depth;
use crate::channel::transfers::Transfers;
use crate::path::Path;
use crate::rtt::Rtt;

/// State and counters of a connection, for monitoring.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// Counters of the connection.
    pub stats: Stats,
    /// Round-trip time.
    pub rtt: Rtt,
    /// Path to the peer.
    pub path: Path,
    /// Fill level of the connection's queues.
    pub depth: Depth,
    /// Share of this side's packets that the path lost recently, 0 to 1; 0 before the first packet.
    pub loss: f32,
    /// Packets that the peer has sent, according to their numbers.
    pub packets_due: u64,
    /// The packets of these that were received.
    pub packets_received: u64,
    /// Bytes in flight.
    pub bytes_in_flight: u32,
    /// The congestion window; `u64::MAX` without one.
    pub congestion_window: u64,
    /// How often the congestion controller asked for a window or a pace of which no connection is able to make use, and
    /// was corrected: 0 for those of this library.
    pub controller_corrections: u32,
    /// Bytes of datagrams per second that may be sent to the peer, as far as the path is known: a congestion window
    /// each round trip, and no more than `bandwidth_max_per_peer`. `u64::MAX` where neither limits them.
    pub available_bytes_per_second: u64,
    /// Current size of a datagram, in bytes: the largest that the path is known to carry.
    pub datagram_bytes: u16,
}

impl Connection {
    /// Messages and their bytes that wait on a channel or are in flight.
    pub(crate) fn queued(&self, channel: u16) -> (u64, u64) {
        self.channels.queued(channel)
    }

    /// The messages in transfer with at least `bytes_min` bytes.
    pub(crate) fn transfers(&self, bytes_min: usize) -> Transfers {
        self.channels.transfers(bytes_min)
    }

    fn available_bytes_per_second(&self) -> u64 {
        let cap = self.sending.bandwidth.as_ref().map_or(u64::MAX, |bandwidth| bandwidth.rate());
        self.path.congestion.send_rate().min(cap)
    }

    pub(crate) fn overview(&self) -> Overview {
        let packets = self.receiving.packet_count();
        Overview {
            stats: self.stats,
            rtt: self.path.rtt,
            path: self.path.current,
            depth: self.channels.depth(),
            loss: if self.path.current.carrier.is_reliable { 0.0 } else { self.sending.ledger.losses().observed() },
            packets_due: packets.due,
            packets_received: packets.received,
            bytes_in_flight: self.sending.ledger.bytes_in_flight(),
            congestion_window: self.path.congestion.window(),
            controller_corrections: self.path.congestion.corrections(),
            available_bytes_per_second: self.available_bytes_per_second(),
            datagram_bytes: self.datagram_bytes(),
        }
    }
}
