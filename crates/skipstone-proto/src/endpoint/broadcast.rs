//! Messages for many peers, encoded once.

use crate::channel::encoded_batch::{BATCH_MESSAGES_MAX, BATCH_PAYLOAD_BYTES_MAX, BatchEncoder, EncodedBatch};
use crate::channel::{MessageId, Submission};
use crate::time::Duration;
use bytes::Bytes;
use std::sync::Arc;

/// Messages for many peers, encoded once. A `Broadcast` can be filled again and again.
#[derive(Debug, Default)]
pub struct Broadcast {
    /// Messages by channel.
    pub(super) loads: Vec<(u16, Load)>,
    batches: BatchEncoder,
}

/// Messages that each member gets on a channel.
#[derive(Debug)]
pub(super) enum Load {
    One(Submission),
    Batch(Arc<EncodedBatch>),
}

impl Broadcast {
    /// Replaces the messages by these, each with its channel. Messages of one channel that follow each other are
    /// encoded together, if they are short.
    pub fn fill(&mut self, messages: &[(u16, Bytes, MessageId)]) {
        self.clear();
        let is_short = |message: &(u16, Bytes, MessageId)| message.1.len() <= BATCH_PAYLOAD_BYTES_MAX;
        for alike in messages.chunk_by(|a, b| a.0 == b.0 && is_short(a) && is_short(b)) {
            for batched in alike.chunks(BATCH_MESSAGES_MAX) {
                let (channel, payload, id) = &batched[0];
                let load = if batched.len() == 1 {
                    Load::One(Submission { payload: payload.clone(), id: *id, age: Duration::ZERO })
                } else {
                    Load::Batch(self.batches.batch(batched.iter().map(|(_, payload, id)| (payload.clone(), *id))))
                };
                self.loads.push((*channel, load));
            }
        }
    }

    /// Drops the messages.
    pub fn clear(&mut self) {
        self.loads.clear();
        self.batches.release();
    }
}
