//! What waits or is in flight: a message, or several of a bundle.

use super::{Flight, State};
use crate::channel::bundle::Part;
use crate::channel::{MessageId, window_cost};
use crate::seq::Seq;
use bytes::Bytes;

#[derive(Debug)]
pub(super) enum Content {
    One(Bytes),
    /// One message or more, all alike.
    Part(Part),
}

impl Default for Content {
    fn default() -> Self {
        Content::One(Bytes::new())
    }
}

impl Content {
    /// How many messages.
    pub(super) fn count(&self) -> usize {
        match self {
            Content::One(_) => 1,
            Content::Part(part) => part.count(),
        }
    }

    /// The payload of the first.
    pub(super) fn first(&self) -> &Bytes {
        match self {
            Content::One(payload) => payload,
            Content::Part(part) => part.payload(0),
        }
    }

    /// Bytes of all payloads.
    pub(super) fn payload_bytes(&self) -> usize {
        match self {
            Content::One(payload) => payload.len(),
            Content::Part(part) => part.payload_bytes(),
        }
    }

    /// What of the peer's window they take, if they are reliable.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Content::One(payload) => window_cost(payload.len()),
            Content::Part(part) => part.cost(),
        }
    }

    /// Takes the first out, and says whether it was the last.
    pub(super) fn pop(&mut self) -> (Bytes, bool) {
        match self {
            Content::One(payload) => (core::mem::take(payload), true),
            Content::Part(part) => {
                let payload = part.pop().unwrap_or_default();
                (payload, part.count() == 0)
            }
        }
    }
}

impl Flight {
    /// A message that leaves in this packet.
    pub(super) fn one(sequence: Seq, payload: Bytes, id: MessageId, sent_in: u64) -> Self {
        let (content, state) = (Content::One(payload), State::InFlight);
        Flight { sequence, count: 1, content, id, sent_in, state, fragments: None }
    }

    /// The payload of one of its messages.
    pub(super) fn payload_at(&self, sequence: Seq) -> &Bytes {
        match &self.content {
            Content::One(payload) => payload,
            Content::Part(part) => part.payload(sequence.distance_from(self.sequence) as usize),
        }
    }
}
