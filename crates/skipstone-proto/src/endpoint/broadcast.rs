//! Messages for many peers, encoded once.

use crate::channel::encoded_batch::{BATCH_MESSAGES_MAX, BATCH_PAYLOAD_BYTES_MAX, BatchEncoder, EncodedBatch};
use crate::channel::{MessageId, Submission};
use crate::connection::event::PeerId;
use crate::time::Duration;
use bytes::Bytes;
use std::sync::Arc;

/// A message for the members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastMessage {
    /// Its channel.
    pub channel: u16,
    /// The message, which the members share.
    pub payload: Bytes,
    /// Its id in the events about it.
    pub id: MessageId,
    /// Members that do not receive it: a few, because each member is searched for among them. `None` for none.
    pub except: Option<Arc<[PeerId]>>,
}

impl BroadcastMessage {
    /// A message for all members.
    pub fn new(channel: u16, payload: Bytes, id: MessageId) -> Self {
        BroadcastMessage { channel, payload, id, except: None }
    }
}

/// Messages for many peers, encoded once. A `Broadcast` can be reused.
#[derive(Debug, Default)]
pub struct Broadcast {
    pub(super) loads: Vec<Load>,
    batches: BatchEncoder,
}

/// Consecutive messages on a channel, for the same members.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) channel: u16,
    pub(super) messages: LoadMessages,
    except: Option<Arc<[PeerId]>>,
}

/// One message, or several that are encoded together.
#[derive(Debug)]
pub(super) enum LoadMessages {
    One(Submission),
    Batch(Arc<EncodedBatch>),
}

impl Load {
    /// Whether this member, if there is one, does not receive the messages.
    pub(super) fn leaves_out(&self, member: Option<PeerId>) -> bool {
        self.except.as_ref().is_some_and(|except| member.is_some_and(|member| except.contains(&member)))
    }
}

impl Broadcast {
    /// Replaces the messages by these. Consecutive messages for the same members on one channel are encoded together,
    /// if they are short.
    pub fn fill(&mut self, messages: &[BroadcastMessage]) {
        self.clear();
        let is_short = |message: &BroadcastMessage| message.payload.len() <= BATCH_PAYLOAD_BYTES_MAX;
        let are_alike = |a: &BroadcastMessage, b: &BroadcastMessage| {
            a.channel == b.channel && is_short(a) && is_short(b) && a.except == b.except
        };
        for alike in messages.chunk_by(are_alike) {
            for batched in alike.chunks(BATCH_MESSAGES_MAX) {
                let BroadcastMessage { channel, payload, id, except } = &batched[0];
                let messages = if batched.len() == 1 {
                    LoadMessages::One(Submission { payload: payload.clone(), id: *id, age: Duration::ZERO })
                } else {
                    let all = batched.iter().map(|message| (message.payload.clone(), message.id));
                    LoadMessages::Batch(self.batches.batch(all))
                };
                self.loads.push(Load { channel: *channel, messages, except: except.clone() });
            }
        }
    }

    /// Drops the messages.
    pub fn clear(&mut self) {
        self.loads.clear();
        self.batches.release();
    }
}
