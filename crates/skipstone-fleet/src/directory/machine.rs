//! The directory of one node: a state machine that takes time, answers and changes, and gives calls and events.

use super::calls::{CallId, Calls, DirectoryCall, Pending, Purpose};
use super::copy::{CopyLimits, Known, StoreIdentity, WatchedCopy};
use super::epoch::Epoch;
use super::event::DirectoryEvent;
use super::event_queue::DirectoryEventQueue;
use super::lease::{LeaseChange, OwnLease};
use super::name::{NodeName, RoomName};
use super::placement::{Placement, RecentPlacements};
use super::record::{NodeRecord, NodeStatus, RoomPolicy, RoomRecord};
use super::rooms::{OwnRooms, Replaced, RoomContext};
use super::settings::{DirectoryError, DirectorySettings};
use super::succession::{OwnerStanding, Succession, SuccessionContext};
use crate::bus::{KvOutcome, KvWatchState};
use bytes::Bytes;
use std::time::Duration;

/// A node's part of the directory. All calls take `now`: the time since any moment, by one monotonic clock of this
/// process. Calls in any order and late ones are allowed; times do not go back.
#[derive(Debug)]
pub struct Directory {
    settings: DirectorySettings,
    lease: OwnLease,
    rooms: OwnRooms,
    copy: WatchedCopy,
    /// The copy that replaces the other when the watch is current.
    incoming: Option<WatchedCopy>,
    is_current: bool,
    /// Added to revisions: a store that was lost counts them from 1 again.
    floor: u64,
    succession: Succession,
    placements: RecentPlacements,
    calls: Calls,
    events: DirectoryEventQueue,
    invalid: u64,
    review_at: Duration,
}

/// Figures of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryStats {
    /// Entries of the watched copy.
    pub entries: usize,
    /// Bytes of the watched copy, estimated from above.
    pub bytes: usize,
    /// Changes that found no place in the copy.
    pub dropped: u64,
    /// Changes whose key or value was invalid.
    pub invalid: u64,
    /// Rooms of this node.
    pub own_rooms: usize,
}

/// Why a room was not claimed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// There is no lease.
    #[error("this node has no lease, so that it owns no rooms; wait for `Joined`")]
    NoLease,
    /// Another node owns the room, or did and is to be succeeded.
    #[error("the room belongs to the node {0}; send the players there")]
    Owned(NodeName),
    /// This node has the room, or claims it.
    #[error("this node has that room already")]
    Known,
    /// This node has as many rooms as it may.
    #[error("this node has {0} rooms, which is the maximum; raise `own_rooms_max` or close rooms")]
    Full(usize),
}

impl Directory {
    /// A directory of a node, which begins to join.
    ///
    /// # Errors
    /// The settings contradict each other.
    pub fn new(settings: DirectorySettings, now: Duration) -> Result<Directory, DirectoryError> {
        settings.check()?;
        let limits = CopyLimits { entries_max: settings.entries_max, bytes_max: settings.bytes_max };
        Ok(Directory {
            lease: OwnLease::new(&settings, now),
            rooms: OwnRooms::default(),
            copy: WatchedCopy::new(limits),
            incoming: None,
            is_current: false,
            floor: 0,
            succession: Succession::new(settings.watcher_term()),
            placements: RecentPlacements::default(),
            calls: Calls::default(),
            events: DirectoryEventQueue::new(2 * settings.own_rooms_max + EVENTS_MIN),
            invalid: 0,
            review_at: now,
            settings,
        })
    }

    /// Load, capacity and whether to drain. The first two go with the next renewal, the last at once.
    pub fn set_status(&mut self, status: NodeStatus, now: Duration) {
        self.lease.set_status(status, now);
        self.advance(now);
    }

    /// Claims a room for this node. [`DirectoryEvent::RoomOwned`] or [`DirectoryEvent::ClaimFailed`] follows.
    ///
    /// # Errors
    /// The node cannot own it now. Nothing was sent.
    pub fn claim(&mut self, room: &RoomName, policy: RoomPolicy, now: Duration) -> Result<(), ClaimError> {
        self.advance(now);
        if !self.lease.is_valid(now) {
            return Err(ClaimError::NoLease);
        }
        if self.rooms.contains(room) {
            return Err(ClaimError::Known);
        }
        if self.rooms.len() >= self.settings.own_rooms_max {
            return Err(ClaimError::Full(self.settings.own_rooms_max));
        }
        let replaced = match self.known_room(room) {
            Some((known, record)) => match self.succession.standing(&self.copy, known, record, now) {
                OwnerStanding::Ended { .. } => self.replaced(known, record),
                _ => return Err(ClaimError::Owned(record.node.clone())),
            },
            None => Replaced { revision: 0, floor: self.floor },
        };
        self.rooms.claim(room.clone(), policy, replaced, now);
        self.advance(now);
        Ok(())
    }

    /// Ends a room of this node: it has no epoch any more, and its entry is deleted.
    pub fn close(&mut self, room: &RoomName, now: Duration) {
        let (rooms, context) = self.own_rooms(now);
        rooms.close(room, &context);
        self.advance(now);
    }

    /// Stops all rooms and gives up the lease: other nodes take over the rooms at once. [`DirectoryEvent::Left`] follows.
    pub fn leave(&mut self, now: Duration) {
        self.rooms.abandon(&mut self.events);
        let change = self.lease.leave(now);
        self.on_lease(change, now);
        self.advance(now);
    }

    /// The epoch with which this node may act for a room at this moment: ask before each message and each write.
    pub fn epoch(&self, room: &RoomName, now: Duration) -> Option<Epoch> {
        self.rooms.epoch(room, &self.lease, now)
    }

    /// Whether the node has a lease at this moment.
    pub fn has_lease(&self, now: Duration) -> bool {
        self.lease.is_valid(now)
    }

    /// Where players of a room go, from memory alone. A new room counts as one player of its node until that tells its
    /// load again; it is for that node to claim it.
    pub fn place(&mut self, room: &RoomName, now: Duration) -> Placement {
        if let Some((known, record)) = self.known_room(room) {
            // Without a lease of its own, this node sees no store: what it knew last is the best that it knows.
            let is_blind = !self.lease.is_valid(now);
            let standing = self.succession.standing(&self.copy, known, record, now);
            return match self.copy.node(&record.node).and_then(|node| node.record.as_ref()) {
                Some(node) if standing == OwnerStanding::Alive || (is_blind && standing == OwnerStanding::Overdue) => {
                    let (epoch, address) = (record.epoch(known.revision), node.address.clone());
                    Placement::Room { node: record.node.clone(), address, epoch }
                }
                _ => Placement::Orphaned,
            };
        }
        match self.placements.least_loaded(&self.copy, now, self.settings.fresh(), |_, _| true) {
            Some((node, address)) => Placement::New { node, address },
            None => Placement::Nowhere,
        }
    }

    /// Where a player of this node goes, from memory alone: the least loaded of the other nodes that are wanted, and where
    /// players connect there. The choice counts as one player of that node until it tells its load again.
    pub fn place_player(
        &mut self,
        now: Duration,
        is_wanted: impl Fn(&NodeName, &NodeRecord) -> bool,
    ) -> Option<(NodeName, String)> {
        let own = &self.settings.node;
        let is_other = |name: &NodeName, record: &NodeRecord| name != own && is_wanted(name, record);
        self.placements.least_loaded(&self.copy, now, self.settings.fresh(), is_other)
    }

    /// The node that [`Directory::place_player`] would choose now. No place is taken.
    pub fn has_place(
        &self,
        now: Duration,
        is_wanted: impl Fn(&NodeName, &NodeRecord) -> bool,
    ) -> Option<(&NodeName, &NodeRecord)> {
        let own = &self.settings.node;
        let is_other = |name: &NodeName, record: &NodeRecord| name != own && is_wanted(name, record);
        let (name, record, _) = self.placements.choose(&self.copy, now, self.settings.fresh(), is_other)?;
        Some((name, record))
    }

    /// The entry of a node, if it has one and has renewed it lately.
    pub fn living(&self, node: &NodeName, now: Duration) -> Option<&NodeRecord> {
        let known = self.copy.node(node).filter(|known| now < known.seen_at + self.settings.fresh())?;
        known.record.as_ref()
    }

    /// Figures.
    pub fn stats(&self) -> DirectoryStats {
        DirectoryStats {
            entries: self.copy.entries(),
            bytes: self.copy.bytes(),
            dropped: self.copy.dropped,
            invalid: self.invalid,
            own_rooms: self.rooms.len(),
        }
    }

    /// The next call of the store, to be sent now.
    pub fn poll_call(&mut self) -> Option<DirectoryCall> {
        self.calls.poll()
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<DirectoryEvent> {
        self.events.poll()
    }

    /// When [`Directory::handle_timeout`] is to be called at the latest.
    pub fn deadline(&self) -> Duration {
        let rooms = self.rooms.deadline().filter(|_| self.lease.valid_until().is_some());
        [self.lease.deadline(), rooms].into_iter().flatten().fold(self.review_at, Duration::min)
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
    }

    /// A call ended.
    pub fn handle_answer(&mut self, id: CallId, outcome: KvOutcome, now: Duration) {
        self.lapse(now);
        let Some(Pending { purpose, sent_at }) = self.calls.take(id) else { return };
        match purpose {
            Purpose::WriteLease { incarnation } => {
                let change = self.lease.on_written(outcome, incarnation, sent_at, now, &mut self.calls);
                self.on_lease(change, now);
            }
            Purpose::ReadLease => {
                let change = self.lease.on_read(outcome, now);
                self.on_lease(change, now);
            }
            Purpose::DeleteLease => {
                let change = self.lease.on_deleted(&outcome, now, &mut self.calls);
                self.on_lease(change, now);
            }
            Purpose::Fence { node } => self.on_fenced(node, &outcome, now),
            Purpose::Look { node, as_of } => self.on_looked(&node, outcome, as_of, now),
            Purpose::WriteRoom { room, incarnation, claim } => {
                let (rooms, mut context) = self.own_rooms(now);
                rooms.on_written(&room, outcome, (incarnation, claim), &mut context);
            }
            Purpose::ReadRoom { room } => {
                let (rooms, mut context) = self.own_rooms(now);
                rooms.on_read(&room, outcome, &mut context);
            }
            Purpose::Discard { room, revision } => self.rooms.on_discarded(&room, revision, &outcome),
        }
        self.advance(now);
    }

    /// The watch of `>` saw an entry; `value` is nothing if it was deleted.
    pub fn handle_change(&mut self, key: &str, value: Option<&Bytes>, revision: u64, now: Duration) {
        self.lapse(now);
        if let Some(node) = NodeName::of_key(key) {
            match decoded(value, NodeRecord::decode) {
                Some(record) => self.on_node(&node, Known { record, revision, seen_at: now }, now),
                None => self.invalid += 1,
            }
        } else if let Some(room) = RoomName::of_key(key) {
            match decoded(value, RoomRecord::decode) {
                Some(record) => self.on_room(&room, Known { record, revision, seen_at: now }, now),
                None => self.invalid += 1,
            }
        } else {
            self.invalid += 1;
        }
        self.advance(now);
    }

    /// The watch of `>` began anew, or is current.
    pub fn handle_watch(&mut self, state: &KvWatchState, now: Duration) {
        self.lapse(now);
        match state {
            KvWatchState::Restarted => {
                let limits = CopyLimits { entries_max: self.settings.entries_max, bytes_max: self.settings.bytes_max };
                self.incoming = Some(WatchedCopy::new(limits));
            }
            KvWatchState::Current => {
                self.is_current = true;
                if let Some(mut incoming) = self.incoming.take() {
                    if incoming.inherit(&self.copy) == StoreIdentity::Another {
                        self.floor = self.copy.epoch_max.0;
                    }
                    self.copy = incoming;
                }
            }
            KvWatchState::Failed { .. } => self.is_current = false,
        }
        self.advance(now);
    }

    fn on_node(&mut self, node: &NodeName, known: Known<NodeRecord>, now: Duration) {
        if node == self.lease.node() {
            let change = self.lease.on_change(known.record.as_ref(), known.revision, now);
            self.on_lease(change, now);
        }
        self.incoming.as_mut().unwrap_or(&mut self.copy).learn_node(node, known);
    }

    fn on_room(&mut self, room: &RoomName, known: Known<RoomRecord>, now: Duration) {
        self.floor = self.floor.max(known.record.as_ref().map_or(0, |record| record.floor));
        let copy = self.incoming.as_mut().unwrap_or(&mut self.copy);
        if copy.learn_room(room, known.clone()) {
            let (rooms, mut context) = self.own_rooms(now);
            rooms.on_change(room, &known, &mut context);
        }
    }

    fn on_fenced(&mut self, node: NodeName, outcome: &KvOutcome, now: Duration) {
        self.succession.on_answer(&node);
        match outcome {
            KvOutcome::Stored { revision } => {
                self.copy.learn_node(&node, Known { record: None, revision: *revision, seen_at: now });
            }
            KvOutcome::WrongRevision | KvOutcome::Unknown => {
                let as_of = self.copy.node(&node).map_or(0, |known| known.revision);
                let mut context =
                    SuccessionContext { now, lease: &self.lease, copy: &self.copy, calls: &mut self.calls };
                self.succession.look(node, as_of, &mut context);
            }
            _ => {}
        }
    }

    fn on_looked(&mut self, node: &NodeName, outcome: KvOutcome, as_of: u64, now: Duration) {
        self.succession.on_answer(node);
        match outcome {
            KvOutcome::Found { value, revision } => match NodeRecord::decode(&value) {
                Some(record) => {
                    self.copy.learn_node(node, Known { record: Some(record), revision, seen_at: now });
                }
                None => self.invalid += 1,
            },
            // There was none at a moment after that revision. What the watch has brought since may be later.
            KvOutcome::NotFound => {
                let known = self.copy.node(node).map_or(0, |known| known.revision);
                if known <= as_of {
                    let revision = as_of.max(known + 1);
                    self.copy.learn_node(node, Known { record: None, revision, seen_at: now });
                }
            }
            _ => {}
        }
    }

    fn on_lease(&mut self, change: LeaseChange, now: Duration) {
        match change {
            LeaseChange::Nothing => {}
            LeaseChange::Joined => self.events.push(DirectoryEvent::Joined),
            LeaseChange::Ended => {
                self.rooms.on_lease_ended(&mut self.events, now);
                self.events.push(DirectoryEvent::LeaseEnded);
            }
            LeaseChange::NameTaken { address } => {
                self.rooms.abandon(&mut self.events);
                self.events.push(DirectoryEvent::NameTaken { address });
            }
            LeaseChange::Left => self.events.push(DirectoryEvent::Left),
            LeaseChange::StoreRefused { why } => self.events.push(DirectoryEvent::StoreRefused { why }),
        }
    }

    fn lapse(&mut self, now: Duration) {
        let change = self.lease.lapse(now);
        self.on_lease(change, now);
    }

    fn advance(&mut self, now: Duration) {
        self.lapse(now);
        self.lease.advance(now, &mut self.calls);
        if now >= self.review_at {
            self.review_at = now + REVIEW_EVERY;
            self.review(now);
        }
        let (rooms, mut context) = self.own_rooms(now);
        rooms.advance(&mut context);
    }

    fn review(&mut self, now: Duration) {
        self.copy.forget_deleted(now.saturating_sub(DELETED_KEPT));
        if !self.is_current || !self.lease.is_valid(now) || self.lease.status().is_draining {
            return;
        }
        let mut context = SuccessionContext { now, lease: &self.lease, copy: &self.copy, calls: &mut self.calls };
        for room in self.succession.review(&mut context) {
            let has_place = self.rooms.len() < self.settings.own_rooms_max && !self.rooms.contains(&room);
            if let Some((known, record)) = self.known_room(&room).filter(|_| has_place) {
                let (policy, replaced) = (record.policy, self.replaced(known, record));
                self.rooms.claim(room, policy, replaced, now);
            }
        }
    }

    fn known_room(&self, room: &RoomName) -> Option<(&Known<RoomRecord>, &RoomRecord)> {
        let known = self.copy.room(room)?;
        Some((known, known.record.as_ref()?))
    }

    fn replaced(&self, known: &Known<RoomRecord>, record: &RoomRecord) -> Replaced {
        Replaced { revision: known.revision, floor: self.floor.max(record.floor) }
    }

    fn own_rooms(&mut self, now: Duration) -> (&mut OwnRooms, RoomContext<'_>) {
        let context = RoomContext {
            now,
            floor: self.floor,
            lease: &self.lease,
            calls: &mut self.calls,
            events: &mut self.events,
        };
        (&mut self.rooms, context)
    }
}

/// The record of an entry, or that it was deleted; nothing if it is invalid.
fn decoded<T>(value: Option<&Bytes>, decode: fn(&[u8]) -> Option<T>) -> Option<Option<T>> {
    match value {
        Some(value) => decode(value).map(Some),
        None => Some(None),
    }
}

const REVIEW_EVERY: Duration = Duration::from_millis(250);
/// Longer than a change is delayed.
const DELETED_KEPT: Duration = Duration::from_secs(60);
const EVENTS_MIN: usize = 64;

#[cfg(test)]
mod tests;
