//! Messages submitted by the application, and the reasons why one may not arrive.

use crate::time::Duration;
use bytes::Bytes;

/// The id of a message, echoed in receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A message to be queued: the application's bytes and their metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The message.
    pub payload: Bytes,
    /// Its id.
    pub id: MessageId,
    /// The age of the message at submission, for a message that answers or forwards one delayed by loss.
    pub age: Duration,
}

/// Why a message will not be sent (again).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// The queue was full, and the channel's rule is to refuse.
    QueueFull,
    /// The queue was full, and the channel's rule is to drop its oldest message.
    Dropped,
    /// A newer message of a sequenced channel replaced it.
    Superseded,
    /// The packet that contained it was lost, and the channel does not retransmit.
    Lost,
    /// The client accepts no messages of this length (`ClientConfig::limits`), and the message was a broadcast: a
    /// message to only this client is refused at the call.
    TooLong,
    /// The connection ended first.
    Closed,
}
