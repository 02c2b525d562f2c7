//! The rooms of the own node: claimed, run, stopped when the lease ends, claimed again in the next session.

use super::calls::{Calls, Purpose, StoreOperation};
use super::copy::Known;
use super::epoch::Epoch;
use super::event::{DirectoryEvent, StopReason};
use super::event_queue::DirectoryEventQueue;
use super::lease::OwnLease;
use super::name::RoomName;
use super::record::{Incarnation, RoomPolicy, RoomRecord};
use crate::bus::KvOutcome;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The rooms.
#[derive(Debug, Default)]
pub(super) struct OwnRooms {
    rooms: BTreeMap<RoomName, OwnRoom>,
    /// Those whose entry is not known to be of the present session.
    unsettled: BTreeSet<RoomName>,
    claims: u64,
    /// Entries to delete, and when that is tried next.
    discards: BTreeMap<RoomName, (u64, Duration)>,
}

#[derive(Debug)]
struct OwnRoom {
    policy: RoomPolicy,
    /// Unique in this process: entries of earlier claims, which the watch may still bring, are not this one's.
    claim: u64,
    running: Option<Running>,
    /// The entry to replace; 0 if there is none.
    revision: u64,
    floor: u64,
    is_in_flight: bool,
    next_at: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    epoch: Epoch,
    incarnation: Incarnation,
}

/// An entry that this process wrote.
#[derive(Clone, Copy, Debug)]
struct Written {
    revision: u64,
    incarnation: Incarnation,
    claim: u64,
}

/// An entry that a room is to replace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Replaced {
    pub(super) revision: u64,
    pub(super) floor: u64,
}

/// What all calls here need.
pub(super) struct RoomContext<'a> {
    pub(super) now: Duration,
    /// Of new entries.
    pub(super) floor: u64,
    pub(super) lease: &'a OwnLease,
    pub(super) calls: &'a mut Calls,
    pub(super) events: &'a mut DirectoryEventQueue,
}

impl OwnRooms {
    pub(super) fn len(&self) -> usize {
        self.rooms.len()
    }

    pub(super) fn contains(&self, room: &RoomName) -> bool {
        self.rooms.contains_key(room)
    }

    /// The epoch with which a room may run at this moment.
    pub(super) fn epoch(&self, room: &RoomName, lease: &OwnLease, now: Duration) -> Option<Epoch> {
        let own = self.rooms.get(room)?;
        let running = own.running?;
        let may_run =
            own.policy == RoomPolicy::Casual || (running.incarnation == lease.incarnation() && lease.is_valid(now));
        may_run.then_some(running.epoch)
    }

    /// Claims a room that this entry is of, or none.
    pub(super) fn claim(&mut self, room: RoomName, policy: RoomPolicy, replaced: Replaced, now: Duration) {
        let Replaced { revision, floor } = replaced;
        self.claims += 1;
        let own =
            OwnRoom { policy, claim: self.claims, running: None, revision, floor, is_in_flight: false, next_at: now };
        self.unsettled.insert(room.clone());
        self.rooms.insert(room, own);
    }

    /// Ends a room and deletes its entry.
    pub(super) fn close(&mut self, room: &RoomName, context: &RoomContext<'_>) {
        self.unsettled.remove(room);
        if let Some(own) = self.rooms.remove(room)
            && own.revision > 0
        {
            self.discard(room, own.revision, context);
        }
    }

    /// Forgets all rooms, whose entries others take over.
    pub(super) fn abandon(&mut self, events: &mut DirectoryEventQueue) {
        self.unsettled.clear();
        for (room, own) in std::mem::take(&mut self.rooms) {
            if let Some(Running { epoch, .. }) = own.running {
                events.push(DirectoryEvent::RoomStopped { room, epoch, reason: StopReason::Leaving });
            }
        }
    }

    /// The lease ended: unique rooms stop.
    pub(super) fn on_lease_ended(&mut self, events: &mut DirectoryEventQueue, now: Duration) {
        for (room, own) in &mut self.rooms {
            own.next_at = now;
            self.unsettled.insert(room.clone());
            if let Some(Running { epoch, .. }) = own.running.take_if(|_| own.policy == RoomPolicy::Unique) {
                let reason = StopReason::LeaseEnded;
                events.push(DirectoryEvent::RoomStopped { room: room.clone(), epoch, reason });
            }
        }
    }

    /// When [`OwnRooms::advance`] has something to do, with a lease.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let discards = self.discards.values().map(|(_, next_at)| *next_at);
        let waiting = self.unsettled.iter().filter_map(|room| self.rooms.get(room));
        waiting.filter(|own| !own.is_in_flight).map(|own| own.next_at).chain(discards).min()
    }

    /// Writes the entries of rooms that are not settled, and deletes those of rooms that are not here.
    pub(super) fn advance(&mut self, context: &mut RoomContext<'_>) {
        for (room, (revision, next_at)) in &mut self.discards {
            if context.now >= *next_at && context.calls.has_place() {
                *next_at = context.now + DISCARD_EVERY;
                let purpose = Purpose::Discard { room: room.clone(), revision: *revision };
                let operation = StoreOperation::DeleteAt { revision: *revision };
                context.calls.send(context.now, room.key(), operation, purpose);
            }
        }
        if !context.lease.is_valid(context.now) {
            return;
        }
        for room in &self.unsettled {
            let Some(own) = self.rooms.get_mut(room) else { continue };
            if own.is_in_flight || context.now < own.next_at || !context.calls.has_place() {
                continue;
            }
            own.is_in_flight = true;
            context.write(room, own);
        }
    }

    /// A write ended, which was sent for that claim in that session.
    pub(super) fn on_written(
        &mut self,
        room: &RoomName,
        outcome: KvOutcome,
        (incarnation, claim): (Incarnation, u64),
        context: &mut RoomContext<'_>,
    ) {
        let Some(own) = self.rooms.get_mut(room) else {
            if let KvOutcome::Stored { revision } = outcome {
                self.discard(room, revision, context);
            }
            return;
        };
        own.is_in_flight = false;
        match outcome {
            KvOutcome::Stored { revision } => {
                let written = Written { revision, incarnation, claim };
                self.on_own(room, written, context);
            }
            KvOutcome::Exists { value, revision } => self.on_found(room, &value, revision, context),
            KvOutcome::WrongRevision | KvOutcome::Unknown => {
                own.is_in_flight = true;
                let purpose = Purpose::ReadRoom { room: room.clone() };
                context.calls.send(context.now, room.key(), StoreOperation::Get, purpose);
            }
            KvOutcome::Refused { why } => {
                own.next_at = context.now + RETRY_REFUSED;
                context.events.push(DirectoryEvent::StoreRefused { why });
            }
            _ => own.next_at = context.now + RETRY,
        }
    }

    /// The entry was read, because what a write did is not known.
    pub(super) fn on_read(&mut self, room: &RoomName, outcome: KvOutcome, context: &mut RoomContext<'_>) {
        let Some(own) = self.rooms.get_mut(room) else { return };
        own.is_in_flight = false;
        match outcome {
            KvOutcome::Found { value, revision } => self.on_found(room, &value, revision, context),
            KvOutcome::NotFound => {
                // The store may be another, which counts from 1: epochs do not go back.
                own.floor = own.floor.max(context.floor);
                (own.revision, own.next_at) = (0, context.now);
            }
            _ => own.next_at = context.now + RETRY,
        }
    }

    /// The watch saw an entry.
    pub(super) fn on_change(&mut self, room: &RoomName, known: &Known<RoomRecord>, context: &mut RoomContext<'_>) {
        let revision = known.revision;
        let own_write = known.record.as_ref().and_then(|record| context.own_write(record, revision));
        match (self.rooms.get(room), own_write) {
            // A write that was not known to have been done, of a room that is not here any more.
            (None, Some(_)) => self.discard(room, revision, context),
            (None, None) => {}
            (Some(own), _) if revision <= own.revision => {}
            (Some(_), Some(written)) => self.on_own(room, written, context),
            (Some(_), None) => match &known.record {
                Some(record) => self.on_other(room, record, context),
                None if self.rooms[room].running.is_some() => self.lose(room, StopReason::Deleted, context),
                // The call in flight, or the next, finds out.
                None => {}
            },
        }
    }

    /// The deletion of an entry ended.
    pub(super) fn on_discarded(&mut self, room: &RoomName, revision: u64, outcome: &KvOutcome) {
        let is_present = self.discards.get(room).is_some_and(|(present, _)| *present == revision);
        if is_present && matches!(outcome, KvOutcome::Stored { .. } | KvOutcome::WrongRevision) {
            self.discards.remove(room);
        }
    }

    fn on_found(&mut self, room: &RoomName, value: &[u8], revision: u64, context: &mut RoomContext<'_>) {
        match RoomRecord::decode(value) {
            Some(record) => match context.own_write(&record, revision) {
                Some(written) => self.on_own(room, written, context),
                None => self.on_other(room, &record, context),
            },
            None => {
                let why = format!("the entry {} is no room's; delete it", room.key());
                context.events.push(DirectoryEvent::StoreRefused { why });
                self.forget(room);
            }
        }
    }

    /// The entry was written by this process. The node owns the room if that was for the present claim, in a session
    /// whose lease lasts now: no other node takes over a room whose owner's lease lasts.
    fn on_own(&mut self, room: &RoomName, written: Written, context: &mut RoomContext<'_>) {
        let Some(own) = self.rooms.get_mut(room) else { return };
        let Written { revision, incarnation, claim } = written;
        if revision < own.revision {
            return;
        }
        own.revision = revision;
        own.next_at = context.now;
        let is_present = claim == own.claim && incarnation == context.lease.incarnation();
        if !is_present || !context.lease.is_valid(context.now) {
            return;
        }
        let epoch = Epoch(own.floor + revision);
        self.unsettled.remove(room);
        if own.running.replace(Running { epoch, incarnation }).is_none_or(|before| before.epoch != epoch) {
            context.events.push(DirectoryEvent::RoomOwned { room: room.clone(), epoch });
        }
    }

    fn on_other(&mut self, room: &RoomName, record: &RoomRecord, context: &mut RoomContext<'_>) {
        if self.rooms.get(room).is_some_and(|own| own.running.is_some()) {
            return self.lose(room, StopReason::TakenOver, context);
        }
        self.forget(room);
        context.events.push(DirectoryEvent::ClaimFailed { room: room.clone(), owner: record.node.clone() });
    }

    fn discard(&mut self, room: &RoomName, revision: u64, context: &RoomContext<'_>) {
        self.discards.insert(room.clone(), (revision, context.now));
    }

    fn lose(&mut self, room: &RoomName, reason: StopReason, context: &mut RoomContext<'_>) {
        self.unsettled.remove(room);
        if let Some(Running { epoch, .. }) = self.rooms.remove(room).and_then(|own| own.running) {
            context.events.push(DirectoryEvent::RoomStopped { room: room.clone(), epoch, reason });
        }
    }

    fn forget(&mut self, room: &RoomName) {
        self.unsettled.remove(room);
        self.rooms.remove(room);
    }
}

impl RoomContext<'_> {
    /// The record at this revision, if this process wrote it.
    fn own_write(&self, record: &RoomRecord, revision: u64) -> Option<Written> {
        let RoomRecord { incarnation, claim, .. } = *record;
        let is_own = record.node == *self.lease.node() && incarnation.process == self.lease.incarnation().process;
        is_own.then_some(Written { revision, incarnation, claim })
    }

    fn write(&mut self, room: &RoomName, own: &OwnRoom) {
        let incarnation = self.lease.incarnation();
        let OwnRoom { policy, claim, floor, .. } = *own;
        let record = RoomRecord { policy, node: self.lease.node().clone(), incarnation, claim, floor };
        let value = record.encode();
        let operation = match own.revision {
            0 => StoreOperation::Create(value),
            revision => StoreOperation::Update { value, revision },
        };
        self.calls.send(self.now, room.key(), operation, Purpose::WriteRoom { room: room.clone(), incarnation, claim });
    }
}

const RETRY: Duration = Duration::from_millis(250);
/// Longer than a call takes.
const DISCARD_EVERY: Duration = Duration::from_secs(5);
const RETRY_REFUSED: Duration = Duration::from_secs(3);
