//! Progress of long messages, in both directions, for a progress bar. It is computed on request: sending and receiving
//! keep no account of it.

use super::MessageId;

/// The long messages of a connection in transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfers {
    /// Messages that this side sends, channel by channel, the oldest of each first.
    pub outgoing: Vec<OutgoingTransfer>,
    /// Messages that are arriving.
    pub incoming: Vec<IncomingTransfer>,
}

/// Maximum number of listed messages in each direction.
pub const TRANSFERS_MAX: usize = 64;

/// A long message in transfer to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingTransfer {
    /// Its id, as returned by `send`.
    pub id: MessageId,
    /// Its channel.
    pub channel: u16,
    /// Bytes of it that the peer has acknowledged; 0 as long as it waits for its turn.
    pub acknowledged_bytes: u32,
    /// Its length.
    pub total_bytes: u32,
}

/// A long message from the peer that has arrived in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncomingTransfer {
    /// Its channel.
    pub channel: u16,
    /// Bytes of it that have arrived, in any order.
    pub received_bytes: u32,
    /// The length of the message, which its first fragment stated.
    pub total_bytes: u32,
}

impl Transfers {
    /// Whether there is a place for another outgoing message.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.len() < TRANSFERS_MAX
    }

    /// The message with this id, if it is long and in transfer.
    pub fn find(&self, id: MessageId) -> Option<&OutgoingTransfer> {
        self.outgoing.iter().find(|transfer| transfer.id == id)
    }
}
