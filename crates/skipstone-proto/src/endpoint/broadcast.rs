//! Messages to everybody, or to a group: batched once, queued member by member.

use super::{Endpoint, Group, Lookahead, Step};
use crate::channel::encoded_batch::{BATCH_MESSAGES_MAX, BATCH_PAYLOAD_BYTES_MAX, BatchEncoder, EncodedBatch};
use crate::channel::{MessageId, Submission};
use crate::time::{Duration, Time};
use bytes::Bytes;
use std::sync::Arc;

/// Messages for many, encoded once. Made to be filled again and again.
#[derive(Debug, Default)]
pub struct Broadcast {
    /// By channel.
    loads: Vec<(u16, Load)>,
    batches: BatchEncoder,
}

/// What each member gets on a channel.
#[derive(Debug)]
enum Load {
    One(Submission),
    Batch(Arc<EncodedBatch>),
}

impl Broadcast {
    /// Takes messages, each with its channel, in the place of those that it had. Those of one channel that follow each
    /// other are encoded together, if they are short.
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

    /// Lets go of the messages.
    pub fn clear(&mut self) {
        self.loads.clear();
        self.batches.release();
    }
}

impl Endpoint {
    /// Queues one message for every member of a group; they share its payload. Returns for how many it was queued. What
    /// a full queue does to one of them is its own affair, by the channel's rule.
    pub fn broadcast(&mut self, now: Time, group: Group, channel: u16, payload: &Bytes, id: MessageId) -> u32 {
        self.broadcast_all(now, group, &[(channel, payload.clone(), id)])
    }

    /// As [`Endpoint::broadcast`], for several messages: member after member gets all of them, so that each is fetched into
    /// the processor's caches once. Returns how many were queued in all.
    pub fn broadcast_all(&mut self, now: Time, group: Group, messages: &[(u16, Bytes, MessageId)]) -> u32 {
        let mut broadcast = core::mem::take(&mut self.broadcast);
        broadcast.fill(messages);
        let queued = self.broadcast_some(now, group, &broadcast, &mut 0, usize::MAX);
        broadcast.clear();
        self.broadcast = broadcast;
        queued
    }

    /// As [`Endpoint::broadcast_all`], for `count` members: those from the place `from` on, which becomes that of the next, as
    /// [`Endpoint::has_member_from`] tells. Whoever lets what is queued leave before he goes on finds it in the caches still.
    pub fn broadcast_some(
        &mut self,
        now: Time,
        group: Group,
        broadcast: &Broadcast,
        from: &mut u32,
        count: usize,
    ) -> u32 {
        let mut queued = 0;
        let mut lookahead = Lookahead::default();
        for _ in Step::ALL {
            self.look_ahead(&mut lookahead, group, *from);
        }
        // By their places in the endpoint, not in the list: whoever leaves meanwhile moves nobody out of it.
        for _ in 0..count {
            let Some(index) = self.groups.next(group, *from) else { break };
            self.look_ahead(&mut lookahead, group, *from);
            for (channel, load) in &broadcast.loads {
                let taken = self.act_on(now, index, |connection, cx| match load {
                    Load::One(message) => connection.send_all(cx, *channel, core::iter::once(message.clone())),
                    Load::Batch(batch) => connection.send_batch(cx, *channel, batch),
                });
                queued += taken.unwrap_or(0);
            }
            *from = index + 1;
        }
        queued
    }

    /// Another member of a group comes soon: the one behind the last that does, or the first from this place on.
    fn look_ahead(&self, lookahead: &mut Lookahead<u32>, group: Group, from: u32) {
        let next = self.groups.next(group, lookahead.last().map_or(from, |last| last + 1));
        lookahead.advance(next, |index, step| self.slots.prefetch(index, step));
    }

    /// Whether a group has a member at this place in the endpoint, or behind it.
    pub fn has_member_from(&self, group: Group, from: u32) -> bool {
        self.groups.next(group, from).is_some()
    }
}
