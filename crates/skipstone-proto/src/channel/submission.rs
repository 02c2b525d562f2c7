//! Messages as the application hands them over, and why one of them may not arrive.

use crate::time::Duration;
use bytes::Bytes;

/// The application's name for a message that it sent, echoed in receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A message on its way in: the application's bytes and what belongs to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The message.
    pub payload: Bytes,
    /// The application's name for it.
    pub id: MessageId,
    /// How late it is already: it answers, or passes on, a message that was lost on its way before.
    pub age: Duration,
}

/// Why a message will not be sent (again).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// The queue was full, and the channel refuses then.
    QueueFull,
    /// The queue was full, and the channel drops its oldest message then.
    Dropped,
    /// A newer message of a sequenced channel took its place.
    Superseded,
    /// The packet that held it was lost, and the channel does not retransmit.
    Lost,
    /// The connection ended first.
    Closed,
}
