//! A directory over a bus: its calls sent, its answers and changes handed on, its time told. Nothing here waits.

use super::calls::{CallId, DirectoryCall, StoreOperation};
use super::epoch::Epoch;
use super::event::DirectoryEvent;
use super::machine::{ClaimError, Directory, DirectoryStats};
use super::name::{NodeName, RoomName};
use super::placement::Placement;
use super::record::{NodeRecord, NodeStatus, RoomPolicy};
use super::settings::{DirectoryError, DirectorySettings};
use crate::bus::{Bus, BusEvent, KvAnswer, KvBucket, KvError, KvOutcome, KvSettings, KvWatchId, RequestId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A node's part of the directory, over a bus whose events the application polls.
///
/// Time is that of [`Instant`]. Where that stands still while the machine is suspended (Linux), a node may believe in its
/// lease after it woke up, until its next renewal fails; receivers drop what it sends by its epoch.
#[derive(Debug)]
pub struct DirectoryDriver {
    directory: Directory,
    bucket: KvBucket,
    watch: KvWatchId,
    began: Instant,
    calls: BTreeMap<RequestId, CallId>,
}

/// Why a directory does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The directory's settings contradict each other.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The bus refuses the store or its watch.
    #[error(transparent)]
    Store(#[from] KvError),
}

impl DirectoryDriver {
    /// Begins to join the fleet whose store has this name. If there is none, it is made, with three replicas in a cluster.
    ///
    /// # Errors
    /// The settings or the name are invalid, or too many calls wait at the bus.
    pub fn start(bus: &Bus, store: &str, settings: DirectorySettings) -> Result<DirectoryDriver, DriverError> {
        let directory = Directory::new(settings, Duration::ZERO)?;
        let bucket = bus.kv(store, KvSettings { answer_within: CALL_TIME, ..KvSettings::default() })?;
        let watch = bucket.watch(bus, ">")?;
        Ok(DirectoryDriver { directory, bucket, watch, began: Instant::now(), calls: BTreeMap::new() })
    }

    /// Takes an event of the bus, or gives it back if it is not of this directory.
    pub fn handle(&mut self, event: BusEvent) -> Option<BusEvent> {
        let now = self.now();
        match event {
            BusEvent::KvAnswer(KvAnswer { request, outcome, .. }) if self.calls.contains_key(&request) => {
                if let Some(call) = self.calls.remove(&request) {
                    self.directory.handle_answer(call, outcome, now);
                }
            }
            BusEvent::KvChange(change) if change.watch == self.watch => {
                self.directory.handle_change(&change.key, change.value.as_ref(), change.revision, now);
            }
            BusEvent::KvWatch { watch, state } if watch == self.watch => self.directory.handle_watch(&state, now),
            other => return Some(other),
        }
        None
    }

    /// Does what is due, sends calls, and gives the next event. To be called in each tick until it gives nothing.
    pub fn poll(&mut self, bus: &Bus) -> Option<DirectoryEvent> {
        self.directory.handle_timeout(self.now());
        while let Some(call) = self.directory.poll_call() {
            let id = call.id;
            match self.send(bus, call) {
                Ok(request) => {
                    self.calls.insert(request, id);
                }
                Err(error) => {
                    let outcome = KvOutcome::Unavailable { why: error.to_string() };
                    self.directory.handle_answer(id, outcome, self.now());
                }
            }
        }
        self.directory.poll_event()
    }

    /// As [`Directory::claim`].
    ///
    /// # Errors
    /// The node cannot own the room now.
    pub fn claim(&mut self, room: &RoomName, policy: RoomPolicy) -> Result<(), ClaimError> {
        self.directory.claim(room, policy, self.now())
    }

    /// As [`Directory::close`].
    pub fn close(&mut self, room: &RoomName) {
        self.directory.close(room, self.now());
    }

    /// As [`Directory::leave`].
    pub fn leave(&mut self) {
        self.directory.leave(self.now());
    }

    /// As [`Directory::set_status`].
    pub fn set_status(&mut self, status: NodeStatus) {
        self.directory.set_status(status, self.now());
    }

    /// As [`Directory::place`].
    pub fn place(&mut self, room: &RoomName) -> Placement {
        self.directory.place(room, self.now())
    }

    /// As [`Directory::place_player`].
    pub fn place_player(&mut self, is_wanted: impl Fn(&NodeName, &NodeRecord) -> bool) -> Option<(NodeName, String)> {
        self.directory.place_player(self.now(), is_wanted)
    }

    /// As [`Directory::has_place`].
    pub fn has_place(&self, is_wanted: impl Fn(&NodeName, &NodeRecord) -> bool) -> Option<(&NodeName, &NodeRecord)> {
        self.directory.has_place(self.now(), is_wanted)
    }

    /// As [`Directory::living`].
    pub fn living(&self, node: &NodeName) -> Option<&NodeRecord> {
        self.directory.living(node, self.now())
    }

    /// As [`Directory::epoch`].
    pub fn epoch(&self, room: &RoomName) -> Option<Epoch> {
        self.directory.epoch(room, self.now())
    }

    /// As [`Directory::stats`].
    pub fn stats(&self) -> DirectoryStats {
        self.directory.stats()
    }

    fn send(&self, bus: &Bus, call: DirectoryCall) -> Result<RequestId, KvError> {
        let (bucket, key) = (self.bucket, call.key.as_str());
        match call.operation {
            StoreOperation::Create(value) => bucket.create(bus, key, value),
            StoreOperation::Update { value, revision } => bucket.update(bus, key, value, revision),
            StoreOperation::Get => bucket.get(bus, key),
            StoreOperation::DeleteAt { revision } => bucket.delete_at(bus, key, revision),
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

/// How long a call is tried: short, so that a renewal is sent several times before its lease ends.
const CALL_TIME: Duration = Duration::from_secs(3);
