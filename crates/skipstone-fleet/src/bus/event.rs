//! What a bus reports.

use super::ids::{KvWatchId, RequestId, SubscriptionId};
use super::kv::answer::{KvAnswer, KvChange, KvWatchState};
use bytes::Bytes;

/// A message of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusMessage {
    /// The subscription that it arrived by.
    pub subscription: SubscriptionId,
    /// Its subject.
    pub subject: String,
    /// Where an answer goes, if one is expected.
    pub reply: Option<String>,
    /// Its content.
    pub payload: Bytes,
}

/// Something that happened at a bus. Messages of one subscription are in the server's order; those of two
/// subscriptions may overtake each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusEvent {
    /// A message arrived.
    Message(BusMessage),
    /// A request ended: each does, exactly once.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer's content.
        result: Result<Bytes, NoAnswer>,
    },
    /// A call of a key-value store ended: each does, exactly once.
    KvAnswer(KvAnswer),
    /// An entry of a watched store.
    KvChange(KvChange),
    /// A watch began, or is complete.
    KvWatch {
        /// The watch.
        watch: KvWatchId,
        /// How far it is.
        state: KvWatchState,
    },
    /// The connection broke. The bus connects again by itself, until it succeeds.
    Disconnected {
        /// Messages that were sent and not confirmed by the server. Some of them may have arrived.
        unconfirmed: u64,
    },
    /// There is the first connection, of a bus that was made by [`Bus::start`](super::Bus::start).
    Connected,
    /// There is a connection again, and the server knows all subscriptions. Messages of others in between are lost.
    Reconnected,
    /// An attempt to connect failed; the next follows within a second.
    ConnectFailed {
        /// Why, and what to do.
        why: String,
    },
    /// This many events found the queue full and were dropped, where this event stands: messages, and if nothing is ever
    /// polled, others too.
    Lagged {
        /// Their number.
        dropped: u64,
    },
    /// The server does not allow what a call asked for.
    Refused {
        /// The server's words, which name the subject.
        why: String,
    },
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// Nobody subscribes to the subject.
    #[error("nobody answers requests to this subject")]
    NoResponder,
    /// No answer came in time.
    #[error("no answer in time")]
    TimedOut,
    /// The answer arrived, and found the queue of events full.
    #[error("the answer was dropped, because too many events wait")]
    Dropped,
}
