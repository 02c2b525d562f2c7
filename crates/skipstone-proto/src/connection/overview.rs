//! What a connection is doing, for whoever watches.

use super::state::Connection;
use super::stats::Stats;
use crate::channel::channels::Depth;
use crate::channel::transfers::Transfers;
use crate::path::Path;
use crate::rtt::Rtt;

/// What a connection is doing, for whoever watches.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Its counters.
    pub stats: Stats,
    /// Round-trip time.
    pub rtt: Rtt,
    /// Where the peer is.
    pub path: Path,
    /// How full its queues are.
    pub depth: Depth,
    /// Share of this side's packets that the path loses, 0 to 1.
    pub loss: f32,
    /// How many packets the peer has sent, as far as their numbers tell.
    pub packets_due: u64,
    /// How many of them came.
    pub packets_received: u64,
    /// Bytes in flight, and how many may be.
    pub bytes_in_flight: u32,
    /// The congestion window; `u64::MAX` without one.
    pub congestion_window: u64,
    /// Bytes of a datagram at present: what the path is known to carry.
    pub datagram_bytes: u16,
}

impl Connection {
    /// Messages and their bytes that wait on a channel or are in flight.
    pub(crate) fn queued(&self, channel: u16) -> (u64, u64) {
        self.channels.queued(channel)
    }

    /// The messages of so many bytes and more that are under way.
    pub(crate) fn transfers(&self, bytes_min: usize) -> Transfers {
        self.channels.transfers(bytes_min)
    }

    pub(crate) fn overview(&self) -> Overview {
        Overview {
            stats: self.stats,
            rtt: self.path.rtt,
            path: self.path.current,
            depth: self.channels.depth(),
            loss: if self.path.current.carrier.is_reliable { 0.0 } else { self.sending.ledger.losses().rate() },
            packets_due: self.receiving.received.next(),
            packets_received: self.receiving.received.count(),
            bytes_in_flight: self.sending.ledger.bytes_in_flight(),
            congestion_window: self.path.congestion.window(),
            datagram_bytes: self.datagram_bytes(),
        }
    }
}
