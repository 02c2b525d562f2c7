//! The watched copy of the store, bounded in entries and bytes. Each entry is a fact: this key had this value at this
//! revision. Facts may come late, twice and in any order; of each key the greatest revision counts.

use super::epoch::Epoch;
use super::name::{NodeName, RoomName};
use super::record::{Incarnation, NodeRecord, RoomRecord};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// An entry, or that it was deleted.
#[derive(Clone, Debug)]
pub(super) struct Known<T> {
    pub(super) record: Option<T>,
    pub(super) revision: u64,
    /// When this node first saw this revision, by its own clock.
    pub(super) seen_at: Duration,
}

/// The limits of a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyLimits {
    pub(super) entries_max: usize,
    pub(super) bytes_max: usize,
}

/// The copy.
#[derive(Debug)]
pub(super) struct WatchedCopy {
    limits: CopyLimits,
    nodes: BTreeMap<NodeName, Known<NodeRecord>>,
    rooms: BTreeMap<RoomName, Known<RoomRecord>>,
    rooms_of: BTreeMap<Owner, BTreeSet<RoomName>>,
    /// Deleted entries, by when that was seen.
    deleted: VecDeque<(Duration, Deleted)>,
    bytes: usize,
    /// Changes that found no place.
    pub(super) dropped: u64,
    pub(super) revision_max: u64,
    pub(super) epoch_max: Epoch,
}

/// Whether two copies are of one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreIdentity {
    Same,
    /// The older was lost: revisions have gone back.
    Another,
}

/// A lease, with the name of its node.
pub(super) type Owner = (NodeName, Incarnation);

#[derive(Debug)]
enum Deleted {
    Node(NodeName),
    Room(RoomName),
}

impl WatchedCopy {
    pub(super) fn new(limits: CopyLimits) -> WatchedCopy {
        WatchedCopy {
            limits,
            nodes: BTreeMap::new(),
            rooms: BTreeMap::new(),
            rooms_of: BTreeMap::new(),
            deleted: VecDeque::new(),
            bytes: 0,
            dropped: 0,
            revision_max: 0,
            epoch_max: Epoch(0),
        }
    }

    pub(super) fn node(&self, node: &NodeName) -> Option<&Known<NodeRecord>> {
        self.nodes.get(node)
    }

    pub(super) fn room(&self, room: &RoomName) -> Option<&Known<RoomRecord>> {
        self.rooms.get(room)
    }

    /// All nodes that have an entry.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&NodeName, &NodeRecord, &Known<NodeRecord>)> {
        self.nodes.iter().filter_map(|(name, known)| Some((name, known.record.as_ref()?, known)))
    }

    /// The leases that own rooms, with these.
    pub(super) fn owners(&self) -> impl Iterator<Item = (&Owner, &BTreeSet<RoomName>)> {
        self.rooms_of.iter()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn entries(&self) -> usize {
        self.nodes.len() + self.rooms.len()
    }

    /// Learns of a node's entry. False if that was known, or later ones are, or there is no place.
    pub(super) fn learn_node(&mut self, node: &NodeName, known: Known<NodeRecord>) -> bool {
        let before = self.nodes.get(node);
        if before.is_some_and(|before| before.revision >= known.revision) {
            return false;
        }
        let was = before.map_or(0, |before| node_bytes(before.record.as_ref()));
        let bytes = node_bytes(known.record.as_ref());
        if !self.makes_place(was, bytes) {
            return false;
        }
        self.revision_max = self.revision_max.max(known.revision);
        if known.record.is_none() {
            self.deleted.push_back((known.seen_at, Deleted::Node(node.clone())));
        }
        self.nodes.insert(node.clone(), known);
        true
    }

    /// Learns of a room's entry; as [`WatchedCopy::learn_node`].
    pub(super) fn learn_room(&mut self, room: &RoomName, known: Known<RoomRecord>) -> bool {
        let before = self.rooms.get(room);
        if before.is_some_and(|before| before.revision >= known.revision) {
            return false;
        }
        let was = before.map_or(0, |_| ROOM_BYTES);
        if !self.makes_place(was, ROOM_BYTES) {
            return false;
        }
        self.revision_max = self.revision_max.max(known.revision);
        self.unlink(room);
        match &known.record {
            Some(record) => {
                self.epoch_max = self.epoch_max.max(record.epoch(known.revision));
                self.rooms_of.entry((record.node.clone(), record.incarnation)).or_default().insert(room.clone());
            }
            None => self.deleted.push_back((known.seen_at, Deleted::Room(room.clone()))),
        }
        self.rooms.insert(room.clone(), known);
        true
    }

    /// Forgets entries that were seen deleted before this moment.
    pub(super) fn forget_deleted(&mut self, before: Duration) {
        while self.deleted.front().is_some_and(|(seen_at, _)| *seen_at < before) {
            match self.deleted.pop_front() {
                Some((seen_at, Deleted::Node(node))) if is_deleted_at(self.nodes.get(&node), seen_at) => {
                    self.nodes.remove(&node);
                    self.bytes -= node_bytes(None);
                }
                Some((seen_at, Deleted::Room(room))) if is_deleted_at(self.rooms.get(&room), seen_at) => {
                    self.rooms.remove(&room);
                    self.bytes -= ROOM_BYTES;
                }
                _ => {}
            }
        }
    }

    /// Continues the stopwatches of an older copy for entries that have not changed since.
    pub(super) fn inherit(&mut self, older: &WatchedCopy) -> StoreIdentity {
        self.dropped += older.dropped;
        self.epoch_max = self.epoch_max.max(older.epoch_max);
        if self.revision_max < older.revision_max {
            return StoreIdentity::Another;
        }
        for (name, known) in &mut self.nodes {
            inherit(known, older.nodes.get(name));
        }
        for (name, known) in &mut self.rooms {
            inherit(known, older.rooms.get(name));
        }
        StoreIdentity::Same
    }

    /// Whether the copy has a place for a value that replaces another; none was there if `was` is 0.
    fn makes_place(&mut self, was: usize, bytes: usize) -> bool {
        let entries = self.entries() + usize::from(was == 0);
        let total = self.bytes - was + bytes;
        let has_place = entries <= self.limits.entries_max && total <= self.limits.bytes_max;
        match has_place {
            true => self.bytes = total,
            false => self.dropped += 1,
        }
        has_place
    }

    fn unlink(&mut self, room: &RoomName) {
        let Some(record) = self.rooms.get(room).and_then(|known| known.record.as_ref()) else { return };
        let owner = (record.node.clone(), record.incarnation);
        let Some(rooms) = self.rooms_of.get_mut(&owner) else { return };
        rooms.remove(room);
        if rooms.is_empty() {
            self.rooms_of.remove(&owner);
        }
    }
}

fn inherit<T>(known: &mut Known<T>, older: Option<&Known<T>>) {
    if let Some(older) = older.filter(|older| older.revision == known.revision) {
        known.seen_at = older.seen_at;
    }
}

fn is_deleted_at<T>(known: Option<&Known<T>>, seen_at: Duration) -> bool {
    known.is_some_and(|known| known.record.is_none() && known.seen_at == seen_at)
}

fn node_bytes(record: Option<&NodeRecord>) -> usize {
    ENTRY_BYTES + record.map_or(0, |record| record.address.len() + record.version.len())
}

/// A name, the maps' nodes and the queue of deleted entries, rounded up.
const ENTRY_BYTES: usize = 320;
/// The same with the index by owners.
const ROOM_BYTES: usize = 480;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::record::{NodeStatus, RoomPolicy};

    #[test]
    fn of_facts_in_any_order_the_greatest_revision_counts() {
        let mut copy = WatchedCopy::new(CopyLimits { entries_max: 9, bytes_max: 9_999 });
        assert!(copy.learn_room(&room(1), fact("b", 7)));
        assert!(!copy.learn_room(&room(1), fact("a", 5)));
        assert!(!copy.learn_room(&room(1), fact("b", 7)));
        assert_eq!(copy.owners().map(|(owner, _)| owner.0.as_str()).collect::<Vec<_>>(), ["b"]);
        assert!(copy.learn_room(&room(1), fact("c", 8)));
        assert_eq!(copy.owners().map(|(owner, _)| owner.0.as_str()).collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn a_full_copy_drops_and_counts_entries_and_has_place_again_after_deletions() {
        let mut copy = WatchedCopy::new(CopyLimits { entries_max: 3, bytes_max: 3 * ROOM_BYTES });
        for index in 0..3 {
            assert!(copy.learn_room(&room(index), fact("a", 10 + u64::from(index))));
        }
        assert!(!copy.learn_room(&room(4), fact("a", 20)));
        assert_eq!((copy.dropped, copy.entries(), copy.bytes()), (1, 3, 3 * ROOM_BYTES));
        let seen_at = Duration::from_secs(1);
        assert!(copy.learn_room(&room(0), Known { record: None, revision: 30, seen_at }));
        copy.forget_deleted(Duration::from_secs(1));
        assert!(!copy.learn_room(&room(4), fact("a", 20)));
        copy.forget_deleted(Duration::from_secs(2));
        assert!(copy.learn_room(&room(4), fact("a", 31)));
        let long = NodeRecord {
            address: "x".repeat(256),
            version: String::new(),
            metrics: None,
            status: NodeStatus::default(),
            incarnation: Incarnation { process: 1, session: 0 },
        };
        let known = Known { record: Some(long), revision: 40, seen_at };
        assert!(!copy.learn_node(&NodeName::new("n").unwrap(), known));
        assert_eq!(copy.bytes(), 3 * ROOM_BYTES);
    }

    fn room(index: u8) -> RoomName {
        RoomName::new(&format!("r{index}")).unwrap()
    }

    fn fact(node: &str, revision: u64) -> Known<RoomRecord> {
        let incarnation = Incarnation { process: 1, session: 0 };
        let node = NodeName::new(node).unwrap();
        let record = RoomRecord { policy: RoomPolicy::Unique, node, incarnation, claim: 0, floor: 0 };
        Known { record: Some(record), revision, seen_at: Duration::ZERO }
    }
}
