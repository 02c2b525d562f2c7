//! Messages as the application hands them over, and why one of them may not arrive.

use crate::time::Duration;
use bytes::Bytes;

/// The application's name for a message that it sent, echoed in receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A message to be queued: the application's bytes and their metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The message.
    pub payload: Bytes,
    /// The application's name for it.
    pub id: MessageId,
    /// The age of the message at submission, for a message that answers or forwards one delayed by loss.
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
    /// The client stated that it takes no messages of this length (`ClientConfig::limits`), and the message was a
    /// broadcast's: a message to this client alone is refused at the call.
    TooLong,
    /// The connection ended first.
    Closed,
}
