//! The directory as one who is no node of the fleet sees it: all nodes and rooms, read alone.

use super::driver::DriverError;
use super::name::{NodeName, RoomName};
use super::record::{NodeRecord, RoomRecord};
use crate::bus::{Bus, BusEvent, KvChange, KvSettings, KvWatchId, KvWatchState};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// A copy of the directory, over a bus whose events the application polls.
#[derive(Debug)]
pub struct DirectoryReader {
    watch: KvWatchId,
    shown: Listing,
    /// What replaces it when the watch is current.
    incoming: Option<Listing>,
    state: KvWatchState,
}

#[derive(Debug, Default)]
struct Listing {
    nodes: BTreeMap<NodeName, ListedEntry<NodeRecord>>,
    rooms: BTreeMap<RoomName, ListedEntry<RoomRecord>>,
}

/// An entry of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry<T> {
    /// Its value.
    pub record: T,
    /// Its revision.
    pub revision: u64,
    /// When it was stored, by the clock of NATS: for a node, when it renewed its lease last.
    pub stored_at: SystemTime,
}

impl DirectoryReader {
    /// Begins to read the store of this name, which is made if there is none.
    ///
    /// # Errors
    /// The name is invalid, or too many calls wait at the bus.
    pub fn start(bus: &Bus, store: &str) -> Result<DirectoryReader, DriverError> {
        let watch = bus.kv(store, KvSettings::default())?.watch(bus, ">")?;
        Ok(DirectoryReader { watch, shown: Listing::default(), incoming: None, state: KvWatchState::Restarted })
    }

    /// Takes an event of the bus, or gives it back if it is not of this directory.
    pub fn handle(&mut self, event: BusEvent) -> Option<BusEvent> {
        match event {
            BusEvent::KvChange(change) if change.watch == self.watch => {
                self.incoming.as_mut().unwrap_or(&mut self.shown).learn(&change);
            }
            BusEvent::KvWatch { watch, state } if watch == self.watch => {
                match state {
                    KvWatchState::Restarted => self.incoming = Some(Listing::default()),
                    KvWatchState::Current => self.shown = self.incoming.take().unwrap_or_default(),
                    KvWatchState::Failed { .. } => {}
                }
                self.state = state;
            }
            other => return Some(other),
        }
        None
    }

    /// How far the copy is: [`KvWatchState::Current`] once all entries were read.
    pub fn state(&self) -> &KvWatchState {
        &self.state
    }

    /// All nodes that have an entry, by name.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeName, &ListedEntry<NodeRecord>)> {
        self.shown.nodes.iter()
    }

    /// All rooms that have an owner, by name. A room's epoch is [`RoomRecord::epoch`] of its record and revision.
    pub fn rooms(&self) -> impl Iterator<Item = (&RoomName, &ListedEntry<RoomRecord>)> {
        self.shown.rooms.iter()
    }
}

impl Listing {
    fn learn(&mut self, change: &KvChange) {
        if let Some(node) = NodeName::of_key(&change.key) {
            learn(&mut self.nodes, node, change, NodeRecord::decode);
        } else if let Some(room) = RoomName::of_key(&change.key) {
            learn(&mut self.rooms, room, change, RoomRecord::decode);
        }
    }
}

/// An entry without a value that can be read is none.
fn learn<N: Ord, T>(
    entries: &mut BTreeMap<N, ListedEntry<T>>,
    name: N,
    change: &KvChange,
    decode: fn(&[u8]) -> Option<T>,
) {
    let (revision, stored_at) = (change.revision, change.stored_at);
    match change.value.as_deref().and_then(decode) {
        Some(_) if entries.len() >= ENTRIES_MAX && !entries.contains_key(&name) => {}
        Some(record) => drop(entries.insert(name, ListedEntry { record, revision, stored_at })),
        None => drop(entries.remove(&name)),
    }
}

/// Nodes, and rooms: more than a person reads.
const ENTRIES_MAX: usize = 65_536;
