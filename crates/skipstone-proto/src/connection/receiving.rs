//! State of the receiving direction: which packets came, and how much of the receive window is taken.

use super::event::EntryCost;
use crate::channel::inbound::InboundLimits;
use crate::recovery::Received;

/// Packets of the peer, counted over all handshakes of this connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PacketCount {
    /// Packets that the peer has sent, as far as their numbers tell.
    pub(super) due: u64,
    /// Packets of these that were received.
    pub(super) received: u64,
}

/// State of received packets, the receive window and the inbound limits.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) received: Received,
    /// Packets of earlier handshakes, whose numbers began anew with this one.
    earlier: PacketCount,
    pub(super) window: ReceiveWindow,
    /// A server's limits of what the client may send; `None` if there are none.
    pub(super) inbound: Option<Box<InboundLimits>>,
}

impl Receiving {
    /// Packets of the peer since the connection exists. Neither count decreases when a handshake begins anew.
    pub(super) fn packet_count(&self) -> PacketCount {
        let PacketCount { due, received } = self.earlier;
        PacketCount { due: due + self.received.next(), received: received + self.received.count() }
    }

    /// The peer's packets are numbered from 0 again.
    pub(super) fn begin_anew(&mut self) {
        self.earlier = self.packet_count();
        self.received = Received::default();
    }
}

/// State of the receive window, and what the peer knows about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiveWindow {
    /// The messages that wait for the application.
    pub(super) undelivered: EntryCost,
    /// Receive window that the last acknowledgement reported; `None` if the whole window was free.
    pub(super) told: Option<u64>,
    /// The peer was told that there is room again, in a packet of this number or a later one, and has not confirmed it.
    pub(super) news_from: Option<u64>,
}
