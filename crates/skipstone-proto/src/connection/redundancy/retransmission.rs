//! Content that waits to be retransmitted: since when, and how many copies are to follow it.

use crate::time::Time;

/// Content that waits to be retransmitted, and is to be copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    /// Time at which the content was first due to leave.
    pub(super) since: Time,
    /// How many copies shall follow the next packet with such content.
    pub(super) copies: u8,
}

/// How many copies shall follow a retransmission.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) enum CopyCount {
    /// As many as the path's losses and the channel's class ask for.
    ByLoss,
    /// So many.
    Exactly(u8),
}

impl Default for Retransmission {
    fn default() -> Self {
        Retransmission { since: Time::NEVER, copies: 0 }
    }
}
