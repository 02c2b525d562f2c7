//! All that a node sends to groups: one publisher for each, one budget for the batches that they keep, and one rate for
//! the repetitions of their last sequence numbers.

use super::calls::GroupCalls;
use super::name::GroupName;
use super::packet::{Body, Packet};
use super::publisher::{Beat, Publisher, weight};
use super::settings::{Delivery, GroupSettings};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Publishers {
    numbers: BTreeMap<GroupName, u32>,
    all: BTreeMap<u32, Publisher>,
    /// Those with messages of this tick.
    pending: Vec<u32>,
    /// When each is looked at next: never later than its beat.
    due: BTreeSet<(Duration, u32)>,
    pace: Pace,
    /// When groups that were left were looked for last, while the bus was away.
    swept_at: Duration,
    /// The oldest batch of each that keeps any, by the order of all batches.
    oldest: BTreeSet<(u64, u32)>,
    /// Batches of this node so far, of reliable groups.
    order: u64,
    kept_bytes: usize,
    evicted: u64,
    /// Publishers of this process so far.
    last_number: u32,
}

impl Publishers {
    pub(super) fn new(settings: &GroupSettings) -> Publishers {
        Publishers {
            numbers: BTreeMap::new(),
            all: BTreeMap::new(),
            pending: Vec::new(),
            due: BTreeSet::new(),
            pace: Pace { next: Duration::ZERO, apart: Duration::from_secs(1) / settings.heartbeats_per_s_max.max(1) },
            swept_at: Duration::ZERO,
            oldest: BTreeSet::new(),
            order: 0,
            kept_bytes: 0,
            evicted: 0,
            last_number: 0,
        }
    }

    /// Adds a message to this tick's batch.
    pub(super) fn add(
        &mut self,
        group: &GroupName,
        delivery: Delivery,
        message: &[u8],
        settings: &GroupSettings,
        now: Duration,
    ) {
        let number = self.numbers.get(group).copied().unwrap_or_else(|| self.insert(group, delivery, settings, now));
        let publisher = self.all.get_mut(&number).expect("each number has its publisher");
        publisher.delivery = delivery;
        if publisher.add(message, settings.batch_bytes_max) {
            self.pending.push(number);
        }
    }

    /// The tick's messages leave.
    pub(super) fn flush(&mut self, settings: &GroupSettings, now: Duration, calls: &mut GroupCalls) {
        for number in std::mem::take(&mut self.pending) {
            while let Some(messages) = self.all.get_mut(&number).and_then(Publisher::take_batch) {
                self.publish(number, messages, settings, now, calls);
            }
        }
    }

    /// The publisher of a group, if its stream has this number.
    pub(super) fn of(&self, group: &GroupName, number: u32) -> Option<&Publisher> {
        self.all.get(&number).filter(|publisher| publisher.group == *group)
    }

    /// Repeats last sequence numbers that are due, and forgets groups that were left long ago.
    pub(super) fn handle_timeout(
        &mut self,
        settings: &GroupSettings,
        now: Duration,
        is_member: impl Fn(&GroupName) -> bool,
        calls: &mut GroupCalls,
    ) {
        while let Some(&(at, number)) = self.due.first().filter(|(at, _)| *at <= now) {
            let publisher = self.all.get_mut(&number).expect("who is due is there");
            if now >= publisher.beat.at {
                if now >= publisher.used_at + settings.kept_after_leaving && !is_member(&publisher.group) {
                    self.remove(number);
                    continue;
                }
                if publisher.last > 0 {
                    if !self.pace.takes(now) {
                        return;
                    }
                    let subject = settings.group_subject(&publisher.group);
                    let (group, body) = (publisher.group.clone(), Body::Heartbeat { last: publisher.last });
                    calls.publish(subject, Packet { group, sender: settings.own(number), body }.encode());
                }
                publisher.beat.back_off(now, settings.heartbeat_every_max);
            }
            publisher.due_at = publisher.beat.at;
            self.due.remove(&(at, number));
            self.due.insert((publisher.due_at, number));
        }
    }

    /// Forgets groups that were left long ago, once in a while: when nothing is repeated.
    pub(super) fn forget_left(
        &mut self,
        settings: &GroupSettings,
        now: Duration,
        is_member: impl Fn(&GroupName) -> bool,
    ) {
        if now < self.swept_at + SWEEP_EVERY {
            return;
        }
        self.swept_at = now;
        let is_left = |one: &&Publisher| now >= one.used_at + settings.kept_after_leaving && !is_member(&one.group);
        let left: Vec<u32> = self.all.values().filter(is_left).map(|one| one.number).collect();
        left.into_iter().for_each(|number| self.remove(number));
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// All last sequence numbers are repeated soon.
    pub(super) fn handle_reconnected(&mut self, settings: &GroupSettings, now: Duration) {
        self.due.clear();
        for publisher in self.all.values_mut() {
            publisher.beat = Beat::new(now, settings.heartbeat_every);
            (publisher.beat.at, publisher.due_at) = (now, now);
            self.due.insert((now, publisher.number));
        }
    }

    pub(super) fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    /// Batches that the budget has cost.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    fn insert(&mut self, group: &GroupName, delivery: Delivery, settings: &GroupSettings, now: Duration) -> u32 {
        self.last_number += 1;
        let number = self.last_number;
        let beat = Beat::new(now, settings.heartbeat_every);
        self.due.insert((beat.at, number));
        self.all.insert(number, Publisher::new(group.clone(), number, delivery, beat, now));
        self.numbers.insert(group.clone(), number);
        number
    }

    fn publish(
        &mut self,
        number: u32,
        messages: Bytes,
        settings: &GroupSettings,
        now: Duration,
        calls: &mut GroupCalls,
    ) {
        let publisher = self.all.get_mut(&number).expect("it gave the batch");
        let is_reliable = publisher.delivery == Delivery::Reliable;
        publisher.last += u64::from(is_reliable);
        publisher.used_at = now;
        let sequence = if is_reliable { publisher.last } else { 0 };
        let (group, body) = (publisher.group.clone(), Body::Batch { sequence, messages });
        let packet = Packet { group, sender: settings.own(number), body }.encode();
        calls.publish(settings.group_subject(&publisher.group), packet.clone());
        if is_reliable {
            publisher.beat = Beat::new(now, settings.heartbeat_every);
            // A busy group keeps its earlier place, and is looked at in vain: cheaper than to move it at each batch.
            if publisher.beat.at < publisher.due_at {
                self.due.remove(&(publisher.due_at, number));
                publisher.due_at = publisher.beat.at;
                self.due.insert((publisher.due_at, number));
            }
            self.keep(number, packet, settings, now);
        }
    }

    fn keep(&mut self, number: u32, packet: Bytes, settings: &GroupSettings, now: Duration) {
        let publisher = self.all.get_mut(&number).expect("it has published");
        self.order += 1;
        self.kept_bytes += weight(&packet);
        publisher.keep(packet, self.order, now);
        if publisher.kept_count() == 1 {
            self.oldest.insert((self.order, number));
        }
        if publisher.kept_count() > settings.kept_batches_max {
            self.evict(number);
        }
        while self.kept_bytes > settings.kept_bytes_max {
            let Some(&(_, number)) = self.oldest.first() else { return };
            self.evict(number);
            self.evicted += 1;
        }
    }

    fn evict(&mut self, number: u32) {
        let Some(publisher) = self.all.get_mut(&number) else { return };
        let Some(order) = publisher.oldest_order() else { return };
        self.oldest.remove(&(order, number));
        self.kept_bytes -= publisher.evict();
        if let Some(next) = publisher.oldest_order() {
            self.oldest.insert((next, number));
        }
    }

    fn remove(&mut self, number: u32) {
        while self.all.get(&number).is_some_and(|publisher| publisher.kept_count() > 0) {
            self.evict(number);
        }
        let Some(publisher) = self.all.remove(&number) else { return };
        self.numbers.remove(&publisher.group);
        self.due.remove(&(publisher.due_at, number));
    }
}

/// A rate that allows small bursts.
#[derive(Debug)]
struct Pace {
    next: Duration,
    apart: Duration,
}

impl Pace {
    fn takes(&mut self, now: Duration) -> bool {
        let is_time = self.next <= now;
        if is_time {
            self.next = self.next.max(now.saturating_sub(BURST)) + self.apart;
        }
        is_time
    }
}

const SWEEP_EVERY: Duration = Duration::from_secs(5);
const BURST: Duration = Duration::from_millis(100);
