//! A call of a key-value store, as it waits for the thread of the bus.

use crate::bus::ids::{KvBucket, RequestId};
use bytes::Bytes;
use std::time::Instant;

/// A call.
#[derive(Debug)]
pub(in crate::bus) struct KvCall {
    pub(in crate::bus) request: RequestId,
    pub(in crate::bus) bucket: KvBucket,
    pub(in crate::bus) key: String,
    pub(in crate::bus) operation: KvOperation,
    pub(in crate::bus) deadline: Instant,
}

/// What it does to the entry.
#[derive(Clone, Debug)]
pub(in crate::bus) enum KvOperation {
    Create(Bytes),
    Put(Bytes),
    Update { value: Bytes, revision: u64 },
    Get,
    Delete,
    DeleteAt { revision: u64 },
}

impl KvCall {
    /// Bytes of its content.
    pub(in crate::bus) fn weight(&self) -> usize {
        self.key.len() + self.operation.value_bytes()
    }
}

impl KvOperation {
    pub(in crate::bus) fn value_bytes(&self) -> usize {
        match self {
            KvOperation::Create(value) | KvOperation::Put(value) | KvOperation::Update { value, .. } => value.len(),
            KvOperation::Get | KvOperation::Delete | KvOperation::DeleteAt { .. } => 0,
        }
    }
}
