//! Content that waits to be retransmitted: its age, and the number of copies to follow it.

use crate::time::Time;

/// Content that waits to be retransmitted and copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    /// Time at which the content was first due to leave.
    pub(super) since: Time,
    /// Number of copies to follow the next packet with such content.
    pub(super) copies: u8,
}

/// Number of copies to follow a retransmission.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) enum CopyCount {
    /// By the path's losses and the channel's class.
    ByLoss,
    /// This number.
    Exactly(u8),
}

impl Default for Retransmission {
    fn default() -> Self {
        Retransmission { since: Time::NEVER, copies: 0 }
    }
}
