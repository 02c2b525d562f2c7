//! The groups of one node: a state machine that takes time and packets, and gives calls of the bus and events.

use super::calls::GroupCalls;
use super::event::{GroupCall, GroupEvent};
use super::event_queue::Events;
use super::name::GroupName;
use super::packet::{Body, Packet, StreamId, messages};
use super::publisher::Begin;
use super::publishers::Publishers;
use super::settings::{Delivery, GroupSettings};
use super::stream::{Question, Stream};
use super::streams::{Followed, StreamKey, Streams};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A node's part of all groups. All calls take `now`: the time since any moment, by one monotonic clock of this process.
#[derive(Debug)]
pub struct Groups {
    settings: GroupSettings,
    memberships: BTreeMap<GroupName, Membership>,
    publishers: Publishers,
    streams: Streams,
    events: Events,
    calls: GroupCalls,
    is_connected: bool,
    pending_bytes: usize,
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
    /// Batches that were not kept as long as others because of `kept_bytes_max`. Who asks for one is told of a gap.
    pub evicted: u64,
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
        let mut calls = GroupCalls::new(settings.call_bytes_max);
        calls.subscribe(settings.node_subject(&settings.own(0)));
        Groups {
            events: Events::new(settings.event_bytes_max),
            publishers: Publishers::new(&settings),
            settings,
            memberships: BTreeMap::new(),
            streams: Streams::default(),
            calls,
            is_connected: true,
            pending_bytes: 0,
            dropped: 0,
            invalid: 0,
        }
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
                self.calls.subscribe(self.settings.group_subject(group));
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
        self.calls.unsubscribe(self.settings.group_subject(group));
        self.streams.remove_group(group);
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
        self.publishers.add(group, delivery, &payload, &self.settings, now);
        self.pending_bytes += bytes + PENDING_BYTES;
        self.events.push(GroupEvent::Message { group: group.clone(), node: self.settings.node.clone(), payload });
        Ok(())
    }

    /// Ends a tick: each group's messages leave as one batch, or several if one would be too large.
    pub fn flush(&mut self, now: Duration) {
        self.pending_bytes = 0;
        self.publishers.flush(&self.settings, now, &mut self.calls);
        self.handle_timeout(now);
    }

    /// A packet arrived, by the subject of a group or of this node.
    pub fn handle_packet(&mut self, packet: Bytes, now: Duration) {
        let Some(Packet { group, sender, body }) = Packet::decode(packet) else {
            self.invalid += 1;
            return;
        };
        if self.settings.is_own(&sender) {
            return;
        }
        match body {
            Body::Batch { sequence: 0, messages } => self.on_unreliable(&group, &sender, messages),
            Body::Request { stream, first, last } => self.on_request(&group, &sender, stream, first..=last),
            Body::Since { stream, age_ms } => {
                let since = now.saturating_sub(Duration::from_millis(age_ms));
                if let Some(publisher) = self.publishers.of(&group, stream) {
                    let Begin { first, is_known } = publisher.begin_since(since);
                    self.answer(&group, &sender, stream, Body::Start { first, is_known, age_ms });
                }
            }
            body => self.on_stream(group, sender, body, now),
        }
    }

    /// The bus is away: nothing is asked for or given up until it is back.
    pub fn handle_disconnected(&mut self) {
        self.is_connected = false;
    }

    /// The bus is connected again: what was lost meanwhile is looked for.
    pub fn handle_reconnected(&mut self, now: Duration) {
        self.is_connected = true;
        self.handle_lagged(now);
    }

    /// Packets were lost at this node.
    pub fn handle_lagged(&mut self, now: Duration) {
        let GroupSettings { heartbeats_per_s_max, give_up_after, .. } = self.settings;
        self.publishers.handle_reconnected(&self.settings, now);
        let apart = Duration::from_secs(1) / heartbeats_per_s_max.max(1);
        self.streams.on_reconnected(apart, give_up_after, now);
    }

    /// Does what is due: heartbeats, requests, and what waited for room. [`Groups::flush`] includes it.
    pub fn handle_timeout(&mut self, now: Duration) {
        let memberships = &self.memberships;
        let is_member = |group: &GroupName| memberships.contains_key(group);
        match self.is_connected {
            true => self.publishers.handle_timeout(&self.settings, now, is_member, &mut self.calls),
            // Nothing is repeated, but groups come and go all the same.
            false => self.publishers.forget_left(&self.settings, now, is_member),
        }
        while self.events.has_room() {
            let Some(key) = self.streams.pop_due(now) else { return };
            self.advance(key, now);
        }
    }

    /// The next call of the bus.
    pub fn poll_call(&mut self) -> Option<GroupCall> {
        self.calls.poll()
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
            kept_bytes: self.publishers.kept_bytes(),
            evicted: self.publishers.evicted(),
            early_bytes: self.streams.early_bytes(),
            event_bytes: self.events.bytes(),
            dropped: self.dropped + self.calls.dropped(),
            invalid: self.invalid,
        }
    }

    fn on_unreliable(&mut self, group: &GroupName, sender: &StreamId, batch: Bytes) {
        if self.memberships.get(group).is_none_or(|membership| membership.delivery != Delivery::Unreliable) {
            return;
        }
        match self.events.has_room() {
            true => deliver(&mut self.events, group, sender, batch),
            false => self.dropped += messages(batch).count() as u64,
        }
    }

    fn on_request(&mut self, group: &GroupName, asker: &StreamId, stream: u32, wanted: RangeInclusive<u64>) {
        let Some(publisher) = self.publishers.of(group, stream) else {
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
        let subject = self.settings.node_subject(asker);
        for packet in packets {
            self.calls.publish(subject.clone(), packet);
        }
        if *wanted.start() < oldest {
            self.answer(group, asker, stream, Body::Oldest { sequence: oldest });
        }
        self.answer(group, asker, stream, Body::Heartbeat { last });
    }

    fn answer(&mut self, group: &GroupName, to: &StreamId, stream: u32, body: Body) {
        let packet = Packet { group: group.clone(), sender: self.settings.own(stream), body }.encode();
        self.calls.publish(self.settings.node_subject(to), packet);
    }

    fn on_stream(&mut self, group: GroupName, sender: StreamId, body: Body, now: Duration) {
        let is_reliable = |membership: &&Membership| membership.delivery == Delivery::Reliable;
        let Some(membership) = self.memberships.get(&group).filter(is_reliable) else { return };
        let age_ms_now = milliseconds(now.saturating_sub(membership.since));
        let known = self.streams.key(&group, &sender);
        let Some(key) = known.or_else(|| self.follow(group, sender, &body, now)) else { return };
        let has_early_room = self.streams.early_bytes() < self.settings.early_bytes_max;
        let has_room = self.events.has_room();
        let missed = self.streams.change(key, |stream| {
            stream.on_heard(now);
            match body {
                Body::Batch { sequence, messages } => stream.on_batch(sequence, messages, has_early_room, now),
                Body::Heartbeat { last } => stream.on_last(last, now),
                // A question that waited too long asked for a time after the join.
                Body::Start { first, is_known, age_ms } if age_ms > age_ms_now => {
                    stream.on_start(Begin { first, is_known }, now);
                }
                // The gap is told when there is a place for it; the publisher is asked again until then.
                Body::Oldest { sequence } if has_room => return stream.skip_to(sequence, now),
                _ => {}
            }
            0
        });
        self.report_gap(key, missed.unwrap_or(0));
        self.advance(key, now);
    }

    /// Begins to follow a publisher, if there is a place, or one that has long been silent gives its place up.
    fn follow(&mut self, group: GroupName, sender: StreamId, body: &Body, now: Duration) -> Option<StreamKey> {
        // Answers alone are of a publisher that was followed before the group was left.
        if matches!(body, Body::Start { .. } | Body::Oldest { .. }) {
            return None;
        }
        if self.streams.len() >= self.settings.streams_max {
            let silent_since = now.checked_sub(SILENT_BEATS * self.settings.heartbeat_every_max);
            let Some(silent) = silent_since.and_then(|since| self.streams.remove_silent(since)) else {
                self.dropped += 1;
                return None;
            };
            // If it comes back, what was delivered of it is not asked for again.
            if let Some(membership) = self.memberships.get_mut(&silent) {
                membership.since = now;
            }
        }
        Some(self.streams.insert(group, sender, now))
    }

    /// Delivers what is next in order, and asks for what is missing.
    fn advance(&mut self, key: StreamKey, now: Duration) {
        let GroupSettings { ask_every, give_up_after, .. } = self.settings;
        self.drain(key, now);
        if !self.is_connected && self.events.has_room() {
            // All streams have something to do when the bus is back.
            return;
        }
        if self.events.has_room() {
            let given_up = |stream: &mut Stream| {
                stream.gives_up(now, give_up_after).map_or(0, |target| stream.skip_to(target, now))
            };
            let missed = self.streams.change(key, given_up).unwrap_or(0);
            self.report_gap(key, missed);
            self.drain(key, now);
            if let Some(question) = self.streams.change(key, |stream| stream.question(now, ask_every)).flatten() {
                self.ask(key, question, now);
            }
        }
        self.streams.schedule(key, give_up_after, now);
    }

    fn ask(&mut self, key: StreamKey, question: Question, now: Duration) {
        let Some(Followed { group, publisher, .. }) = self.streams.of(key) else { return };
        let body = match question {
            Question::Batches { first, last } => Body::Request { stream: publisher.number, first, last },
            Question::Start { within } => {
                let since = self.memberships.get(group).map_or(now, |membership| membership.since);
                Body::Since { stream: publisher.number, age_ms: milliseconds(now + within - since) }
            }
        };
        let packet = Packet { group: group.clone(), sender: self.settings.own(0), body }.encode();
        self.calls.publish(self.settings.node_subject(publisher), packet);
    }

    fn drain(&mut self, key: StreamKey, now: Duration) {
        while self.events.has_room() {
            let Some(batch) = self.streams.pop(key, now) else { return };
            let Some(Followed { group, publisher, .. }) = self.streams.of(key) else { return };
            deliver(&mut self.events, group, publisher, batch);
        }
    }

    fn report_gap(&mut self, key: StreamKey, missed: u64) {
        if let Some(Followed { group, publisher, .. }) = self.streams.of(key).filter(|_| missed > 0) {
            self.events.push(GroupEvent::Gap { group: group.clone(), node: publisher.node.clone(), missed });
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn deliver(events: &mut Events, group: &GroupName, sender: &StreamId, batch: Bytes) {
    for payload in messages(batch) {
        let (group, node) = (group.clone(), sender.node.clone());
        events.push(GroupEvent::Message { group, node, payload });
    }
}

/// What a message that waits costs beside its payload.
const PENDING_BYTES: usize = 16;
/// Batches that answer one request, at most, and their bytes.
const ANSWERS_MAX: usize = 256;
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// A publisher that was not heard for so many of the longest intervals of heartbeats has ended.
const SILENT_BEATS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NodeName;

    #[test]
    fn groups_that_come_and_go_while_the_bus_is_away_do_not_add_up() {
        let mut groups = Groups::new(GroupSettings::new(NodeName::new("n").unwrap(), 1));
        groups.handle_disconnected();
        for second in 0..1_000 {
            let (now, group) = (Duration::from_secs(second), GroupName::new(&format!("g{second}")).unwrap());
            groups.join(&group, Delivery::Reliable, now).unwrap();
            groups.send(&group, "x", now).unwrap();
            groups.flush(now);
            groups.leave(&group);
            while groups.poll_event().is_some() {}
            assert!(groups.publishers.count() <= 67, "{} after {second} s", groups.publishers.count());
        }
    }

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
        assert!(groups.stats().dropped > 80 && groups.calls.bytes() <= 10_000);
        // They leave once the bus takes them, and make room.
        while groups.poll_call().is_some() {}
        let dropped = groups.stats().dropped;
        groups.send(&group, vec![0; 1_000], Duration::ZERO).unwrap();
        groups.flush(Duration::ZERO);
        assert_eq!((groups.stats().dropped, groups.poll_call().is_some()), (dropped, true));
    }
}
