//! Messages that wait, and messages in flight.

use super::content::Content;
use crate::channel::MessageId;
use crate::ranges::RangeSet;
use crate::seq::Seq;
use bytes::Bytes;

#[derive(Debug)]
pub(super) struct PendingMessages {
    pub(super) content: Content,
    pub(super) id: MessageId,
    /// Its age when it was queued, in ms; usually 0.
    pub(super) age_ms: u16,
}

#[derive(Debug)]
pub(super) struct Flight {
    /// Sequence of its first message.
    pub(super) sequence: Seq,
    /// Number of messages.
    pub(super) count: u16,
    /// Empty once it is no longer needed.
    pub(super) content: Content,
    pub(super) id: MessageId,
    /// The last packet that contained it.
    pub(super) sent_in: u64,
    pub(super) state: MessageState,
    pub(super) fragments: Option<Box<Fragments>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageState {
    InFlight,
    Lost,
    /// Acknowledged or given up.
    Done,
}

#[derive(Debug, Default)]
pub(super) struct Fragments {
    /// Bytes below were sent at least once.
    pub(super) sent_to: u32,
    pub(super) acked: RangeSet,
    pub(super) lost: RangeSet,
}

impl Flight {
    /// A message that leaves in this packet.
    pub(super) fn one(sequence: Seq, payload: Bytes, id: MessageId, sent_in: u64) -> Self {
        let (content, state) = (Content::One(payload), MessageState::InFlight);
        Flight { sequence, count: 1, content, id, sent_in, state, fragments: None }
    }

    /// The payload of one of its messages.
    pub(super) fn payload_at(&self, sequence: Seq) -> &Bytes {
        match &self.content {
            Content::One(payload) => payload,
            Content::Slice(slice) => slice.payload(sequence.distance_from(self.sequence) as usize),
        }
    }
}
