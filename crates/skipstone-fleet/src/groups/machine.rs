//! The groups of one node: a state machine that takes time and packets, and gives calls of the bus and events.

use super::event::{GroupCall, GroupEvent};
use super::event_queue::Events;
use super::name::GroupName;
use super::packet::{Body, Packet, StreamId, messages};
use super::publisher::Publisher;
use super::settings::{Delivery, GroupSettings};
use super::stream::{Question, Stream};
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A node's part of all groups. All calls take `now`: the time since any moment, by one monotonic clock of this process.
#[derive(Debug)]
pub struct Groups {
    settings: GroupSettings,
    memberships: BTreeMap<GroupName, Membership>,
    publishers: BTreeMap<GroupName, Publisher>,
    streams: BTreeMap<(GroupName, StreamId), Stream>,
    events: Events,
    calls: VecDeque<GroupCall>,
    /// Of the packets among the calls.
    call_bytes: usize,
    pending_bytes: usize,
    early_bytes: usize,
    /// Streams of this process so far.
    numbers: u32,
    dropped: u64,
    invalid: u64,
}

#[derive(Debug)]
struct Membership {
    delivery: Delivery,
    members: u32,
    /// Streams that are met begin here.
    since: Duration,
}

/// Figures of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupsStats {
    /// Groups with members at this node.
    pub groups: usize,
    /// Publishers of reliable groups that this node follows.
    pub streams: usize,
    /// Bytes of batches that are kept for other nodes' requests.
    pub kept_bytes: usize,
    /// Bytes of batches that wait for an earlier one.
    pub early_bytes: usize,
    /// Bytes of events that wait for the application.
    pub event_bytes: usize,
    /// Messages of unreliable groups, batches of more publishers than a node follows, and packets for a bus that takes
    /// none, that found no room.
    pub dropped: u64,
    /// Packets that were invalid.
    pub invalid: u64,
}

/// Why a group was not joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// This node has joined it with another promise.
    #[error("this node is in the group {0} with another delivery; all its members join with the same")]
    OtherDelivery(GroupName),
    /// This node is in as many groups as it may.
    #[error("this node is in {0} groups, which is the maximum; leave some or raise `groups_max`")]
    Full(usize),
}

/// Why a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// This node has no member in the group.
    #[error("this node is not in the group {0}; join it first")]
    NotJoined(GroupName),
    /// The message exceeds the maximum.
    #[error("the message has {bytes} bytes, and a group takes {bytes_max}; split it or raise `message_bytes_max`")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The maximum.
        bytes_max: usize,
    },
    /// Too much waits for the next flush, or for the application.
    #[error("the queue of groups is full; flush and poll in each tick, or send less")]
    QueueFull,
}

impl Groups {
    /// The groups of a node that is in none yet.
    pub fn new(settings: GroupSettings) -> Groups {
        let mut groups = Groups {
            events: Events::new(settings.event_bytes_max),
            settings,
            memberships: BTreeMap::new(),
            publishers: BTreeMap::new(),
            streams: BTreeMap::new(),
            calls: VecDeque::new(),
            call_bytes: 0,
            pending_bytes: 0,
            early_bytes: 0,
            numbers: 0,
            dropped: 0,
            invalid: 0,
        };
        let own = groups.own(0);
        let subject = groups.node_subject(&own);
        groups.calls.push_back(GroupCall::Subscribe { subject });
        groups
    }

    /// Adds a member of this node. The first one subscribes, and receives from now on.
    ///
    /// # Errors
    /// The group has another delivery here, or there are too many.
    pub fn join(&mut self, group: &GroupName, delivery: Delivery, now: Duration) -> Result<(), JoinError> {
        let is_full = self.memberships.len() >= self.settings.groups_max;
        match self.memberships.get_mut(group) {
            Some(membership) if membership.delivery != delivery => return Err(JoinError::OtherDelivery(group.clone())),
            Some(membership) => membership.members += 1,
            None if is_full => {
                return Err(JoinError::Full(self.settings.groups_max));
            }
            None => {
                self.memberships.insert(group.clone(), Membership { delivery, members: 1, since: now });
                self.calls.push_back(GroupCall::Subscribe { subject: self.group_subject(group) });
            }
        }
        Ok(())
    }

    /// Removes a member. The last one ends the subscription; what was sent is still flushed and kept for a while.
    pub fn leave(&mut self, group: &GroupName) {
        let Some(membership) = self.memberships.get_mut(group) else { return };
        membership.members -= 1;
        if membership.members > 0 {
            return;
        }
        self.memberships.remove(group);
        self.calls.push_back(GroupCall::Unsubscribe { subject: self.group_subject(group) });
        let early = &mut self.early_bytes;
        self.streams.retain(|(of, _), stream| {
            let stays = of != group;
            *early -= if stays { 0 } else { stream.early_bytes() };
            stays
        });
    }

    /// Sends to all members: to those of this node at once, to the others with the next [`Groups::flush`].
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn send(&mut self, group: &GroupName, payload: impl Into<Bytes>, now: Duration) -> Result<(), SendError> {
        let payload = payload.into();
        let (bytes, bytes_max) = (payload.len(), self.settings.message_bytes_max);
        let Some(membership) = self.memberships.get(group) else { return Err(SendError::NotJoined(group.clone())) };
        let delivery = membership.delivery;
        if bytes > bytes_max {
            return Err(SendError::TooLarge { bytes, bytes_max });
        }
        if self.pending_bytes + bytes + PENDING_BYTES > self.settings.pending_bytes_max || !self.events.has_room() {
            return Err(SendError::QueueFull);
        }
        let numbers = &mut self.numbers;
        let publisher = self.publishers.entry(group.clone()).or_insert_with(|| {
            *numbers += 1;
            Publisher::new(*numbers, delivery, now)
        });
        publisher.delivery = delivery;
        publisher.add(&payload, self.settings.batch_bytes_max);
        self.pending_bytes += bytes + PENDING_BYTES;
        self.events.push(GroupEvent::Message { group: group.clone(), node: self.settings.node.clone(), payload });
        Ok(())
    }

    /// Ends a tick: each group's messages leave as one batch, or several if one would be too large.
    pub fn flush(&mut self, now: Duration) {
        self.pending_bytes = 0;
        let mut publishers = std::mem::take(&mut self.publishers);
        for (group, publisher) in &mut publishers {
            while let Some(messages) = publisher.take_batch() {
                self.publish(group, publisher, messages, now);
            }
        }
        self.publishers = publishers;
        self.handle_timeout(now);
    }

    /// A packet arrived, by the subject of a group or of this node.
    pub fn handle_packet(&mut self, packet: Bytes, now: Duration) {
        let Some(Packet { group, sender, body }) = Packet::decode(packet) else {
            self.invalid += 1;
            return;
        };
        if self.is_own(&sender) {
            return;
        }
        match body {
            Body::Batch { sequence: 0, messages } => self.on_unreliable(&group, &sender, messages),
            Body::Request { stream, first, last } => self.on_request(&group, &sender, stream, first..=last),
            Body::Since { stream, age_ms } => {
                let since = now.saturating_sub(Duration::from_millis(age_ms));
                if let Some(publisher) = self.publishers.get(&group).filter(|publisher| publisher.number == stream) {
                    let first = publisher.first_since(since);
                    self.answer(&group, &sender, stream, Body::Start { first });
                }
            }
            body => self.on_stream(group, sender, body, now),
        }
    }

    /// The bus is connected again: what was lost meanwhile is looked for.
    pub fn handle_reconnected(&mut self, now: Duration) {
        for publisher in self.publishers.values_mut().filter(|publisher| publisher.last > 0) {
            (publisher.used_at, publisher.heartbeat_at) = (now, now);
        }
        self.streams.values_mut().for_each(Stream::probe);
    }

    /// Does what is due: heartbeats, requests, and what waited for room. [`Groups::flush`] includes it.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.beat(now);
        let keys: Vec<_> = self.streams.keys().cloned().collect();
        for key in keys {
            self.advance(&key, now);
        }
    }

    /// The next call of the bus.
    pub fn poll_call(&mut self) -> Option<GroupCall> {
        let call = self.calls.pop_front()?;
        if let GroupCall::Publish { packet, .. } = &call {
            self.call_bytes -= packet.len();
        }
        Some(call)
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<GroupEvent> {
        self.events.pop()
    }

    /// Figures.
    pub fn stats(&self) -> GroupsStats {
        GroupsStats {
            groups: self.memberships.len(),
            streams: self.streams.len(),
            kept_bytes: self.publishers.values().map(Publisher::kept_bytes).sum(),
            early_bytes: self.early_bytes,
            event_bytes: self.events.bytes(),
            dropped: self.dropped,
            invalid: self.invalid,
        }
    }

    fn publish(&mut self, group: &GroupName, publisher: &mut Publisher, messages: Bytes, now: Duration) {
        let is_reliable = publisher.delivery == Delivery::Reliable;
        publisher.last += u64::from(is_reliable);
        let sequence = if is_reliable { publisher.last } else { 0 };
        let sender = self.own(publisher.number);
        let packet = Packet { group: group.clone(), sender, body: Body::Batch { sequence, messages } }.encode();
        if is_reliable {
            let GroupSettings { kept_batches_max, kept_bytes_max, heartbeat_every, .. } = self.settings;
            publisher.keep(packet.clone(), now, kept_batches_max, kept_bytes_max);
            publisher.heartbeat_at = now + heartbeat_every;
        }
        publisher.used_at = now;
        self.push(self.group_subject(group), packet);
    }

    /// Publishes, unless the bus takes nothing and too much waits: batches of reliable groups are asked for later.
    fn push(&mut self, subject: String, packet: Bytes) {
        if self.call_bytes + packet.len() > self.settings.call_bytes_max {
            self.dropped += 1;
            return;
        }
        self.call_bytes += packet.len();
        self.calls.push_back(GroupCall::Publish { subject, packet });
    }

    /// Repeats the last sequence numbers of groups in use, and forgets those that were left long ago.
    fn beat(&mut self, now: Duration) {
        let GroupSettings { heartbeat_every, used_for, .. } = self.settings;
        let memberships = &self.memberships;
        self.publishers.retain(|group, of| now < of.used_at + used_for || memberships.contains_key(group));
        let mut packets = Vec::new();
        for (group, publisher) in &mut self.publishers {
            let is_due = publisher.last > 0 && now < publisher.used_at + used_for && now >= publisher.heartbeat_at;
            if is_due {
                publisher.heartbeat_at = now + heartbeat_every;
                packets.push((group.clone(), publisher.number, publisher.last));
            }
        }
        for (group, number, last) in packets {
            let subject = self.group_subject(&group);
            let packet = Packet { group, sender: self.own(number), body: Body::Heartbeat { last } }.encode();
            self.push(subject, packet);
        }
    }

    fn on_unreliable(&mut self, group: &GroupName, sender: &StreamId, batch: Bytes) {
        if self.memberships.get(group).is_none_or(|membership| membership.delivery != Delivery::Unreliable) {
            return;
        }
        match self.events.has_room() {
            true => self.deliver(group, sender, batch),
            false => self.dropped += messages(batch).count() as u64,
        }
    }

    fn on_request(&mut self, group: &GroupName, asker: &StreamId, stream: u32, wanted: std::ops::RangeInclusive<u64>) {
        let Some(publisher) = self.publishers.get(group).filter(|publisher| publisher.number == stream) else {
            return self.answer(group, asker, stream, Body::Oldest { sequence: u64::MAX });
        };
        let (oldest, last) = (publisher.oldest(), publisher.last);
        let mut bytes = 0;
        let kept = wanted.clone().take(ANSWERS_MAX).map_while(|sequence| publisher.kept(sequence).cloned());
        let packets: Vec<Bytes> = kept
            .take_while(|packet| {
                let is_within = bytes < ANSWER_BYTES_MAX;
                bytes += packet.len();
                is_within
            })
            .collect();
        let subject = self.node_subject(asker);
        for packet in packets {
            self.push(subject.clone(), packet);
        }
        if *wanted.start() < oldest {
            self.answer(group, asker, stream, Body::Oldest { sequence: oldest });
        }
        self.answer(group, asker, stream, Body::Heartbeat { last });
    }

    fn answer(&mut self, group: &GroupName, to: &StreamId, stream: u32, body: Body) {
        let packet = Packet { group: group.clone(), sender: self.own(stream), body }.encode();
        self.push(self.node_subject(to), packet);
    }

    fn on_stream(&mut self, group: GroupName, sender: StreamId, body: Body, now: Duration) {
        if self.memberships.get(&group).is_none_or(|membership| membership.delivery != Delivery::Reliable) {
            return;
        }
        let key = (group, sender);
        if !self.streams.contains_key(&key) && !self.has_place(now) {
            self.dropped += 1;
            return;
        }
        let has_room = self.early_bytes < self.settings.early_bytes_max;
        let stream = self.streams.entry(key.clone()).or_insert_with(|| Stream::new(now));
        stream.heard_at = now;
        let before = stream.early_bytes();
        match body {
            Body::Batch { sequence, messages } => stream.on_batch(sequence, messages, has_room),
            Body::Heartbeat { last } => stream.on_last(last),
            Body::Start { first } => stream.on_start(first, now),
            // The gap is told when there is a place for it; the publisher is asked again until then.
            Body::Oldest { sequence } if self.events.has_room() => {
                let missed = stream.skip_to(sequence, now);
                self.report_gap(&key, missed);
            }
            _ => {}
        }
        let after = self.streams[&key].early_bytes();
        self.early_bytes = self.early_bytes + after - before;
        self.advance(&key, now);
    }

    /// Whether there is a place for one more publisher, or one that has long been silent gives its place up.
    fn has_place(&mut self, now: Duration) -> bool {
        if self.streams.len() < self.settings.streams_max {
            return true;
        }
        let silent = self.streams.iter().min_by_key(|(_, stream)| stream.heard_at);
        let Some((key, stream)) = silent else { return false };
        if now < stream.heard_at + 2 * self.settings.used_for {
            return false;
        }
        self.early_bytes -= stream.early_bytes();
        let key = key.clone();
        self.streams.remove(&key);
        // If it comes back, what was delivered of it is not asked for again.
        if let Some(membership) = self.memberships.get_mut(&key.0) {
            membership.since = now;
        }
        true
    }

    /// Delivers what is next in order, and asks for what is missing.
    fn advance(&mut self, key: &(GroupName, StreamId), now: Duration) {
        let GroupSettings { ask_every, give_up_after, .. } = self.settings;
        self.drain(key, now);
        let Some(stream) = self.streams.get_mut(key) else { return };
        if !self.events.has_room() {
            return;
        }
        if let Some(target) = stream.gives_up(now, give_up_after) {
            let missed = stream.skip_to(target, now);
            self.report_gap(key, missed);
            return self.drain(key, now);
        }
        let Some(question) = stream.question(now, ask_every) else { return };
        let (group, publisher) = key;
        let body = match question {
            Question::Batches { first, last } => Body::Request { stream: publisher.number, first, last },
            Question::Start => {
                let since = self.memberships.get(group).map_or(now, |membership| membership.since);
                let age_ms = u64::try_from((now - since).as_millis()).unwrap_or(u64::MAX);
                Body::Since { stream: publisher.number, age_ms }
            }
        };
        let packet = Packet { group: group.clone(), sender: self.own(0), body }.encode();
        self.push(self.node_subject(publisher), packet);
    }

    fn drain(&mut self, key: &(GroupName, StreamId), now: Duration) {
        while self.events.has_room() {
            let Some(batch) = self.streams.get_mut(key).and_then(|stream| stream.pop(now)) else { return };
            self.early_bytes -= batch.len();
            self.deliver(&key.0, &key.1, batch);
        }
    }

    fn deliver(&mut self, group: &GroupName, sender: &StreamId, batch: Bytes) {
        for payload in messages(batch) {
            let (group, node) = (group.clone(), sender.node.clone());
            self.events.push(GroupEvent::Message { group, node, payload });
        }
    }

    fn report_gap(&mut self, (group, sender): &(GroupName, StreamId), missed: u64) {
        if missed > 0 {
            self.events.push(GroupEvent::Gap { group: group.clone(), node: sender.node.clone(), missed });
        }
    }

    fn own(&self, number: u32) -> StreamId {
        StreamId { node: self.settings.node.clone(), process: self.settings.process, number }
    }

    fn is_own(&self, sender: &StreamId) -> bool {
        sender.node == self.settings.node && sender.process == self.settings.process
    }

    fn group_subject(&self, group: &GroupName) -> String {
        format!("{}.group.{group}", self.settings.prefix)
    }

    fn node_subject(&self, of: &StreamId) -> String {
        format!("{}.node.{}.{:016x}", self.settings.prefix, of.node, of.process)
    }
}

/// What a message that waits costs beside its payload.
const PENDING_BYTES: usize = 16;
/// Batches that answer one request, at most, and their bytes.
const ANSWERS_MAX: usize = 256;
const ANSWER_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NodeName;

    #[test]
    fn packets_for_a_bus_that_takes_none_are_bounded_and_counted() {
        let mut settings = GroupSettings::new(NodeName::new("n").unwrap(), 1);
        settings.call_bytes_max = 10_000;
        let mut groups = Groups::new(settings);
        let group = GroupName::new("g").unwrap();
        groups.join(&group, Delivery::Unreliable, Duration::ZERO).unwrap();
        for _ in 0..100 {
            groups.send(&group, vec![0; 1_000], Duration::ZERO).unwrap();
            groups.flush(Duration::ZERO);
            while groups.poll_event().is_some() {}
        }
        assert!(groups.stats().dropped > 80 && groups.call_bytes <= 10_000);
        // They leave once the bus takes them, and make room.
        while groups.poll_call().is_some() {}
        let dropped = groups.stats().dropped;
        groups.send(&group, vec![0; 1_000], Duration::ZERO).unwrap();
        groups.flush(Duration::ZERO);
        assert_eq!((groups.stats().dropped, groups.poll_call().is_some()), (dropped, true));
    }
}
