//! State of the receiving direction: which packets came, and how much of the receive window is taken.

use crate::channel::inbound::InboundLimits;
use crate::recovery::Received;

/// What this side has received, and told the peer about it.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) received: Received,
    pub(super) window: ReceiveWindow,
    /// A server's limits of what the client may send; `None` if there are none.
    pub(super) inbound: Option<Box<InboundLimits>>,
}

/// What this side tells the peer about its receive window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiveWindow {
    /// Cost of the messages that wait for the application.
    pub(super) undelivered: u64,
    /// Entries of the queue of events that these are.
    pub(super) entries: u32,
    /// What the last acknowledgement told the peer, if that was less than all of it.
    pub(super) told: Option<u64>,
    /// The peer was told that there is room again, in a packet of this number or a later one, and has not confirmed it.
    pub(super) news_from: Option<u64>,
}
