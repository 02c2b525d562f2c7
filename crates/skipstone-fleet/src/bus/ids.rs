//! Names for what a bus was asked for. Each is unique among those of its bus.

use std::time::Duration;

/// A subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(pub(super) u64);

/// A request, or a call of a key-value store, that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(super) u64);

/// A key-value store of a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KvBucket {
    pub(super) id: u64,
    /// How long its calls may take.
    pub(super) answer_within: Duration,
}

/// A watch of a key-value store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KvWatchId(pub(super) u64);
