//! How far long messages have got, in both directions, for a progress bar. Worked out when it is asked for: sending and
//! receiving keep no account of it.

use super::MessageId;

/// The long messages of a connection that are under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfers {
    /// Messages that this side sends, channel by channel, the oldest of each first.
    pub outgoing: Vec<OutgoingTransfer>,
    /// Messages that are arriving.
    pub incoming: Vec<IncomingTransfer>,
}

/// Messages of each direction that are listed at most.
pub const TRANSFERS_MAX: usize = 64;

/// A long message on its way to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingTransfer {
    /// Its name, as `send` gave it.
    pub id: MessageId,
    /// Its channel.
    pub channel: u16,
    /// Bytes of it that the peer has acknowledged; 0 as long as it waits for its turn.
    pub acknowledged_bytes: u32,
    /// Its length.
    pub total_bytes: u32,
}

/// A long message of the peer's of which a part has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncomingTransfer {
    /// Its channel.
    pub channel: u16,
    /// Bytes of it that have arrived, in whatever order.
    pub received_bytes: u32,
    /// The length of the message, which its first fragment stated.
    pub total_bytes: u32,
}

impl Transfers {
    /// Whether another outgoing message has a place.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.len() < TRANSFERS_MAX
    }

    /// The message with this name, if it is long and under way.
    pub fn find(&self, id: MessageId) -> Option<&OutgoingTransfer> {
        self.outgoing.iter().find(|transfer| transfer.id == id)
    }
}
