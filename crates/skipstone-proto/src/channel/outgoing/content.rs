//! The content of an entry that waits or is in flight: a message, or several of a batch.

use crate::channel::encoded_batch::BatchSlice;
use crate::channel::{MessageId, window_cost};
use bytes::Bytes;

#[derive(Debug)]
pub(super) enum Content {
    One(Bytes),
    /// One message, or several messages of the same form.
    Slice(BatchSlice),
}

impl Default for Content {
    fn default() -> Self {
        Content::One(Bytes::new())
    }
}

impl Content {
    /// Number of messages.
    pub(super) fn count(&self) -> usize {
        match self {
            Content::One(_) => 1,
            Content::Slice(slice) => slice.count(),
        }
    }

    /// The payload of the first.
    pub(super) fn first(&self) -> &Bytes {
        match self {
            Content::One(payload) => payload,
            Content::Slice(slice) => slice.payload(0),
        }
    }

    /// Bytes of all payloads.
    pub(super) fn payload_bytes(&self) -> usize {
        match self {
            Content::One(payload) => payload.len(),
            Content::Slice(slice) => slice.payload_bytes(),
        }
    }

    /// Bytes of the peer's receive window that these messages take, if they are reliable.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Content::One(payload) => window_cost(payload.len()),
            Content::Slice(slice) => slice.cost(),
        }
    }

    /// Removes the first, with its id if it is one of several, and returns whether it was the last.
    pub(super) fn pop(&mut self) -> (Bytes, Option<MessageId>, bool) {
        match self {
            Content::One(payload) => (core::mem::take(payload), None, true),
            Content::Slice(slice) => {
                let (payload, id) = slice.pop().unzip();
                (payload.unwrap_or_default(), id, slice.count() == 0)
            }
        }
    }
}
