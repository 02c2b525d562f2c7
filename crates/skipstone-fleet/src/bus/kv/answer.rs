//! What a key-value store reports.

use crate::bus::ids::{KvBucket, KvWatchId, RequestId};
use bytes::Bytes;
use std::time::SystemTime;

/// The end of a call: each has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvAnswer {
    /// The store.
    pub bucket: KvBucket,
    /// The call.
    pub request: RequestId,
    /// Its outcome.
    pub outcome: KvOutcome,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KvOutcome {
    /// The entry was written or deleted, and has this revision now. Revisions of a store only grow.
    Stored {
        /// The revision.
        revision: u64,
    },
    /// The entry that was asked for.
    Found {
        /// Its value.
        value: Bytes,
        /// Its revision.
        revision: u64,
    },
    /// There is no such entry.
    NotFound,
    /// Another entry has this key, and nothing was created.
    Exists {
        /// Its value.
        value: Bytes,
        /// Its revision.
        revision: u64,
    },
    /// The entry has another revision than the call named, and nothing was changed. After an outage it may be that the call
    /// was done, and others have written the entry since.
    WrongRevision,
    /// The server refuses this call, and would again. Nothing was changed.
    Refused {
        /// Why, and what to do.
        why: String,
    },
    /// The store was not reached in time. Nothing was changed.
    Unavailable {
        /// Why.
        why: String,
    },
    /// The call was sent, and no answer came in time: it may have been done. Reading the entry tells.
    Unknown,
}

/// A change that a watch saw, or an entry that was there when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvChange {
    /// The watch.
    pub watch: KvWatchId,
    /// The entry's key.
    pub key: String,
    /// The entry's value; nothing if it was deleted.
    pub value: Option<Bytes>,
    /// The revision.
    pub revision: u64,
    /// When the server stored it, by its clock.
    pub stored_at: SystemTime,
}

/// How far a watch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvWatchState {
    /// All entries follow, whatever the watch has reported before: a copy begins anew, empty. This comes first, and again
    /// after each reconnection.
    Restarted,
    /// All entries were reported; changes follow as they happen.
    Current,
    /// The watch cannot begin, and tries again within a second.
    Failed {
        /// Why.
        why: String,
    },
}
