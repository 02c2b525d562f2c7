//! State of the receiving direction: which packets came, and how much of the receive window is taken.

use crate::channel::inbound::InboundLimits;
use crate::recovery::Received;

/// State of received packets, the receive window and the inbound limits.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) received: Received,
    pub(super) window: ReceiveWindow,
    /// A server's limits of what the client may send; `None` if there are none.
    pub(super) inbound: Option<Box<InboundLimits>>,
}

/// State of the receive window, and what the peer knows about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiveWindow {
    /// Cost of the messages that wait for the application.
    pub(super) undelivered: u64,
    /// Entries of the event queue that hold these messages.
    pub(super) entries: u32,
    /// Receive window that the last acknowledgement reported; `None` if the whole window was free.
    pub(super) told: Option<u64>,
    /// The peer was told that there is room again, in a packet of this number or a later one, and has not confirmed it.
    pub(super) news_from: Option<u64>,
}
