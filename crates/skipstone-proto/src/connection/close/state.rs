//! A close that is in progress: its reason, and the frame that reports it to the peer.

use crate::time::Time;
use bytes::Bytes;

/// A close that is in progress.
#[derive(Debug)]
pub(in crate::connection) struct Ending {
    pub(super) code: u64,
    pub(super) reason: Bytes,
    /// The frame to send; `send_at` is its time.
    pub(super) answer: Answer,
    pub(super) send_at: Time,
    /// How often CLOSE was sent.
    pub(super) sent: u32,
    pub(super) deadline: Time,
}

/// The frame that reports it to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::connection) enum Answer {
    /// CLOSE: this side ended the connection.
    Close,
    /// CLOSED: the peer ended the connection, and this side confirms it.
    Closed,
}

impl Ending {
    pub(in crate::connection) fn due(&self) -> Time {
        self.send_at.min(self.deadline)
    }

    pub(in crate::connection) fn code(&self) -> u64 {
        self.code
    }

    pub(in crate::connection) fn reason(&self) -> &str {
        core::str::from_utf8(&self.reason).unwrap_or_default()
    }
}
