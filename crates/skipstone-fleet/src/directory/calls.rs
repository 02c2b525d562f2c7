//! Calls of the store: those to send, and those that wait for their answers.

use super::name::{NodeName, RoomName};
use super::record::Incarnation;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A call. Unique in its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

/// A call of the store. Each is answered once, by [`Directory::handle_answer`](super::Directory::handle_answer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryCall {
    /// The call.
    pub id: CallId,
    /// The entry.
    pub key: String,
    /// What to do with it.
    pub operation: StoreOperation,
}

/// What a call does with its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOperation {
    /// Writes it unless there is one.
    Create(Bytes),
    /// Writes it if it has this revision.
    Update {
        /// The value.
        value: Bytes,
        /// The revision.
        revision: u64,
    },
    /// Reads it from the store's leader.
    Get,
    /// Deletes it if it has this revision.
    DeleteAt {
        /// The revision.
        revision: u64,
    },
}

/// What a call is for.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    WriteLease {
        incarnation: Incarnation,
    },
    ReadLease,
    DeleteLease,
    /// Ends the lease of another node that has not renewed it.
    Fence {
        node: NodeName,
    },
    /// Reads a node's entry. `as_of` is a revision of the store before the call.
    Look {
        node: NodeName,
        as_of: u64,
    },
    WriteRoom {
        room: RoomName,
        incarnation: Incarnation,
        claim: u64,
    },
    ReadRoom {
        room: RoomName,
    },
    /// Deletes a room's entry that is this node's and not used.
    Discard {
        room: RoomName,
        revision: u64,
    },
}

/// A call that was sent.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) purpose: Purpose,
    pub(super) sent_at: Duration,
}

/// All calls of a directory.
#[derive(Debug, Default)]
pub(super) struct Calls {
    next: u64,
    queue: VecDeque<DirectoryCall>,
    pending: BTreeMap<CallId, Pending>,
}

impl Calls {
    pub(super) fn send(&mut self, now: Duration, key: String, operation: StoreOperation, purpose: Purpose) {
        let id = CallId(self.next);
        self.next += 1;
        self.pending.insert(id, Pending { purpose, sent_at: now });
        self.queue.push_back(DirectoryCall { id, key, operation });
    }

    /// Whether calls other than those of the own lease have a place.
    pub(super) fn has_place(&self) -> bool {
        self.pending.len() < CALLS_MAX
    }

    pub(super) fn poll(&mut self) -> Option<DirectoryCall> {
        self.queue.pop_front()
    }

    /// The call that was answered; nothing if it had been.
    pub(super) fn take(&mut self, id: CallId) -> Option<Pending> {
        self.pending.remove(&id)
    }
}

/// A tenth of what a bus lets wait.
const CALLS_MAX: usize = 256;
