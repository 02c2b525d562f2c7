//! Groups over a bus: calls made, packets handed on, the time told. Nothing here waits.

use super::event::{GroupCall, GroupEvent};
use super::machine::{Groups, GroupsStats, JoinError, SendError};
use super::name::GroupName;
use super::settings::{Delivery, GroupSettings};
use crate::bus::{Bus, BusEvent, SubscriptionId};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A node's groups, over a bus whose events the application polls.
#[derive(Debug)]
pub struct GroupsDriver {
    groups: Groups,
    began: Instant,
    subscriptions: BTreeMap<String, SubscriptionId>,
    /// The same ones, for each message's lookup.
    own: BTreeSet<SubscriptionId>,
    /// A call that the bus refused, to be made again before the others.
    refused: Option<GroupCall>,
    unpublished: u64,
}

impl GroupsDriver {
    /// Begins to receive what is for this node.
    pub fn start(bus: &Bus, settings: GroupSettings) -> GroupsDriver {
        let groups = Groups::new(settings);
        let (began, subscriptions, own) = (Instant::now(), BTreeMap::new(), BTreeSet::new());
        let mut driver = GroupsDriver { groups, began, subscriptions, own, refused: None, unpublished: 0 };
        driver.send_calls(bus);
        driver
    }

    /// As [`Groups::join`].
    ///
    /// # Errors
    /// The group has another delivery here, or there are too many.
    pub fn join(&mut self, group: &GroupName, delivery: Delivery) -> Result<(), JoinError> {
        self.groups.join(group, delivery, self.now())
    }

    /// As [`Groups::leave`].
    pub fn leave(&mut self, group: &GroupName) {
        self.groups.leave(group);
    }

    /// As [`Groups::send`].
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn send(&mut self, group: &GroupName, payload: impl Into<Bytes>) -> Result<(), SendError> {
        self.groups.send(group, payload, self.now())
    }

    /// Takes an event of the bus, or gives it back if it is not of groups alone.
    pub fn handle(&mut self, event: BusEvent) -> Option<BusEvent> {
        let now = self.now();
        match event {
            BusEvent::Message(message) if self.own.contains(&message.subscription) => {
                self.groups.handle_packet(message.payload, now);
                None
            }
            other => {
                match other {
                    BusEvent::Disconnected { .. } => self.groups.handle_disconnected(),
                    BusEvent::Reconnected => self.groups.handle_reconnected(now),
                    BusEvent::Lagged { .. } => self.groups.handle_lagged(now),
                    _ => {}
                }
                Some(other)
            }
        }
    }

    /// As [`Groups::flush`]: once in each tick.
    pub fn flush(&mut self, bus: &Bus) {
        self.groups.flush(self.now());
        self.send_calls(bus);
    }

    /// Makes the calls that are due, and gives the next event. To be called in each tick until it gives nothing.
    pub fn poll(&mut self, bus: &Bus) -> Option<GroupEvent> {
        self.send_calls(bus);
        self.groups.poll_event()
    }

    /// As [`Groups::stats`].
    pub fn stats(&self) -> GroupsStats {
        self.groups.stats()
    }

    /// Packets that the bus refused because too much waits. Those of reliable groups are asked for later.
    pub fn unpublished(&self) -> u64 {
        self.unpublished
    }

    fn send_calls(&mut self, bus: &Bus) {
        while let Some(call) = self.refused.take().or_else(|| self.groups.poll_call()) {
            if !self.send_call(bus, &call) {
                self.refused = Some(call);
                return;
            }
        }
    }

    /// Whether the call is done with.
    fn send_call(&mut self, bus: &Bus, call: &GroupCall) -> bool {
        match call {
            GroupCall::Subscribe { subject } => {
                let Ok(id) = bus.subscribe(subject) else { return false };
                self.subscriptions.insert(subject.clone(), id);
                self.own.insert(id);
                true
            }
            GroupCall::Unsubscribe { subject } => {
                let ended = self.subscriptions.get(subject).is_none_or(|id| bus.unsubscribe(*id).is_ok());
                if ended && let Some(id) = self.subscriptions.remove(subject) {
                    self.own.remove(&id);
                }
                ended
            }
            GroupCall::Publish { subject, packet } => {
                self.unpublished += u64::from(bus.publish(subject, packet.clone()).is_err());
                true
            }
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}
