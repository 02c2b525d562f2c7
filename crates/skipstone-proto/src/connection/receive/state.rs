//! State of the receiving direction: which packets have arrived, and how much of the receive window is used.

use crate::channel::inbound::InboundLimits;
use crate::connection::event::EntryCost;
use crate::recovery::Received;

/// Packets of the peer, counted over all handshakes of this connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::connection) struct PacketCount {
    /// Packets that the peer has sent, as far as their numbers tell.
    pub(in crate::connection) due: u64,
    /// Packets of these that were received.
    pub(in crate::connection) received: u64,
}

/// State of received packets, the receive window and the inbound limits.
#[derive(Debug, Default)]
pub(in crate::connection) struct Receiving {
    pub(in crate::connection) received: Received,
    /// Packets of earlier handshakes; the numbers start again with each handshake.
    earlier: PacketCount,
    pub(in crate::connection) window: ReceiveWindow,
    /// A server's limits on the client's messages; `None` if there are none.
    pub(in crate::connection) inbound: Option<Box<InboundLimits>>,
}

impl Receiving {
    /// Packets of the peer since the connection exists. Neither count decreases when a handshake starts again.
    pub(in crate::connection) fn packet_count(&self) -> PacketCount {
        let PacketCount { due, received } = self.earlier;
        PacketCount { due: due + self.received.next(), received: received + self.received.count() }
    }

    /// The peer's packets are numbered from 0 again.
    pub(in crate::connection) fn begin_anew(&mut self) {
        self.earlier = self.packet_count();
        self.received = Received::default();
    }
}

/// State of the receive window, and what the peer knows about it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::connection) struct ReceiveWindow {
    /// The messages that wait for the application.
    pub(in crate::connection) undelivered: EntryCost,
    /// Receive window that the last acknowledgement reported; `None` if the whole window was free.
    pub(in crate::connection) told: Option<u64>,
    /// The peer was told, in a packet of this number or a later one, that there is room again, and has not confirmed
    /// it.
    pub(in crate::connection) news_from: Option<u64>,
}
