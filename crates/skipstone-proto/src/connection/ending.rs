//! An end that has begun: its reason, and which frame tells the peer when.

use crate::time::Time;
use bytes::Bytes;

/// An end that has begun.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) code: u64,
    pub(super) reason: Bytes,
    /// What to send, and when.
    pub(super) answer: Answer,
    pub(super) send_at: Time,
    pub(super) deadline: Time,
}

/// Which frame tells the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// CLOSE: this side ended it.
    Close,
    /// CLOSED: the peer did, and we know.
    Closed,
}

impl Ending {
    pub(super) fn due(&self) -> Time {
        self.send_at.min(self.deadline)
    }

    pub(super) fn code(&self) -> u64 {
        self.code
    }

    pub(super) fn reason(&self) -> &str {
        core::str::from_utf8(&self.reason).unwrap_or_default()
    }
}
