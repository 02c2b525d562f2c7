//! Messages to all peers, or to a group: encoded once, queued member by member.

use super::broadcast::{Broadcast, BroadcastMessage, LoadMessages};
use super::groups::Group;
use super::state::Endpoint;
use crate::channel::MessageId;
use crate::time::Time;
use bytes::Bytes;
use skipstone_prefetch::{Lookahead, Step};

impl Endpoint {
    /// Queues one message for every member of a group; the members share its payload. Returns the number of members for
    /// which it was queued. A full queue of one member affects only that member, by the channel's rule.
    pub fn broadcast(&mut self, now: Time, group: Group, channel: u16, payload: &Bytes, id: MessageId) -> u32 {
        self.broadcast_all(now, group, &[BroadcastMessage::new(channel, payload.clone(), id)])
    }

    /// As [`Endpoint::broadcast`], for several messages: member after member gets all of them, so that each is fetched
    /// into the processor's caches once. Returns how many were queued in all.
    pub fn broadcast_all(&mut self, now: Time, group: Group, messages: &[BroadcastMessage]) -> u32 {
        let mut broadcast = core::mem::take(&mut self.broadcast);
        broadcast.fill(messages);
        let queued = self.broadcast_some(now, group, &broadcast, &mut 0, usize::MAX);
        broadcast.clear();
        self.broadcast = broadcast;
        queued
    }

    /// As [`Endpoint::broadcast_all`], for `count` members, from the place `from` on. `from` becomes the place of the
    /// next member: see [`Endpoint::has_member_from`]. A caller that sends the queued messages before it continues
    /// still finds them in the caches.
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
        // By the places in the endpoint, not in the list: if a member leaves meanwhile, no other member is skipped.
        for _ in 0..count {
            let Some(index) = self.groups.next(group, *from) else { break };
            self.look_ahead(&mut lookahead, group, *from);
            let member = self.slots.peer_at(index);
            for load in broadcast.loads.iter().filter(|load| !load.leaves_out(member)) {
                let taken = self.act_on(now, index, |connection, cx| match &load.messages {
                    LoadMessages::One(message) => {
                        connection.send_all(cx, load.channel, core::iter::once(message.clone()))
                    }
                    LoadMessages::Batch(batch) => connection.send_batch(cx, load.channel, batch),
                });
                queued += taken.unwrap_or(0);
            }
            *from = index + 1;
        }
        queued
    }

    /// Prefetches another member of a group: the one after the last that was prefetched, or the first from this place
    /// on.
    fn look_ahead(&self, lookahead: &mut Lookahead<u32>, group: Group, from: u32) {
        let next = self.groups.next(group, lookahead.last().map_or(from, |last| last + 1));
        lookahead.advance(next, |index, step| self.slots.prefetch(index, step));
    }

    /// Whether a group has a member at this index of the endpoint, or after it.
    pub fn has_member_from(&self, group: Group, from: u32) -> bool {
        self.groups.next(group, from).is_some()
    }
}
