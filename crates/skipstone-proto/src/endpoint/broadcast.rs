//! Messages to everybody, or to a group: bundled once, queued member by member.

use super::{Endpoint, Group};
use crate::channel::bundle::{BUNDLED_BYTES_MAX, BUNDLED_MAX, Bundle, Bundles};
use crate::channel::{MessageId, Submission};
use crate::time::{Duration, Time};
use bytes::Bytes;
use std::sync::Arc;

/// What a broadcast comes to, encoded once. Filled again and again.
#[derive(Debug, Default)]
pub(super) struct Broadcast {
    /// By channel.
    loads: Vec<(u16, Load)>,
    bundles: Bundles,
}

/// What each member gets on a channel.
#[derive(Debug)]
enum Load {
    One(Submission),
    Bundle(Arc<Bundle>),
}

impl Broadcast {
    /// Takes messages, each with its channel. Those of one channel that follow each other are encoded together, if they are
    /// short.
    fn fill(&mut self, messages: &[(u16, Bytes, MessageId)]) {
        let is_short = |message: &(u16, Bytes, MessageId)| message.1.len() <= BUNDLED_BYTES_MAX;
        for alike in messages.chunk_by(|a, b| a.0 == b.0 && is_short(a) && is_short(b)) {
            for bundled in alike.chunks(BUNDLED_MAX) {
                let (channel, payload, id) = &bundled[0];
                let load = if bundled.len() == 1 {
                    Load::One(Submission { payload: payload.clone(), id: *id, age: Duration::ZERO })
                } else {
                    Load::Bundle(self.bundles.bundle(bundled.iter().map(|(_, payload, id)| (payload.clone(), *id))))
                };
                self.loads.push((*channel, load));
            }
        }
    }

    /// Lets go of the messages.
    fn clear(&mut self) {
        self.loads.clear();
        self.bundles.release();
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
        let mut queued = 0;
        for at in 0..self.groups.members(group).len() {
            let Some(index) = self.groups.members(group).get(at).copied() else { break };
            for (channel, load) in &broadcast.loads {
                let taken = self.act_on(now, index, |connection, cx| match load {
                    Load::One(message) => connection.send_all(cx, *channel, core::iter::once(message.clone())),
                    Load::Bundle(bundle) => connection.send_bundle(cx, *channel, bundle),
                });
                queued += taken.unwrap_or(0);
            }
        }
        broadcast.clear();
        self.broadcast = broadcast;
        queued
    }
}
