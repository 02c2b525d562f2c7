//! Where players go, from the watched copy alone.

use super::copy::{Known, WatchedCopy};
use super::epoch::Epoch;
use super::name::NodeName;
use super::record::NodeRecord;
use std::collections::BTreeMap;
use std::time::Duration;

/// Where the players of a room go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The room exists.
    Room {
        /// Its owner.
        node: NodeName,
        /// Where its players connect.
        address: String,
        /// Its epoch.
        epoch: Epoch,
    },
    /// The room exists, and its owner has ended or has not renewed its lease in time: another node takes it over soon.
    Orphaned,
    /// There is no such room: this node is to claim it.
    New {
        /// The node.
        node: NodeName,
        /// Where its players connect.
        address: String,
    },
    /// There is no such room, and no node has a place for it.
    Nowhere,
}

/// Rooms that were placed at nodes since these last told their load.
#[derive(Debug, Default)]
pub(super) struct RecentPlacements(BTreeMap<NodeName, (u64, u32)>);

impl RecentPlacements {
    /// The least loaded of the wanted nodes that have renewed within `fresh`, do not drain and have room; of equal ones
    /// the first by name. The choice counts as one player until the node tells its load again.
    pub(super) fn least_loaded(
        &mut self,
        copy: &WatchedCopy,
        now: Duration,
        fresh: Duration,
        is_wanted: impl Fn(&NodeName, &NodeRecord) -> bool,
    ) -> Option<(NodeName, String)> {
        self.0.retain(|name, (revision, _)| copy.node(name).is_some_and(|known| known.revision == *revision));
        let (name, record, known) = self.choose(copy, now, fresh, is_wanted)?;
        self.0.entry(name.clone()).or_insert((known.revision, 0)).1 += 1;
        Some((name.clone(), record.address.clone()))
    }

    /// The same, and no place is taken.
    pub(super) fn choose<'c>(
        &self,
        copy: &'c WatchedCopy,
        now: Duration,
        fresh: Duration,
        is_wanted: impl Fn(&NodeName, &NodeRecord) -> bool,
    ) -> Option<(&'c NodeName, &'c NodeRecord, &'c Known<NodeRecord>)> {
        let candidates = copy.nodes().filter(|(name, record, known)| {
            let is_open = !record.status.is_draining && record.status.capacity > 0;
            is_open && now < known.seen_at + fresh && is_wanted(name, record)
        });
        let loaded =
            candidates.map(|(name, record, known)| (self.load(name, record, known.revision), name, record, known));
        let with_room = loaded.filter(|(load, _, record, _)| *load < u64::from(record.status.capacity));
        // Shares of capacities, compared without division.
        let (_, name, record, known) = with_room.min_by(|(load_a, _, a, _), (load_b, _, b, _)| {
            let share = |load: u64, other: &NodeRecord| load * u64::from(other.status.capacity);
            share(*load_a, b).cmp(&share(*load_b, a))
        })?;
        Some((name, record, known))
    }

    /// What a node told at this revision, and what was placed there since.
    fn load(&self, name: &NodeName, record: &NodeRecord, revision: u64) -> u64 {
        let placed = self.0.get(name).filter(|(since, _)| *since == revision);
        u64::from(record.status.load) + placed.map_or(0, |(_, placed)| u64::from(*placed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::copy::CopyLimits;
    use crate::directory::record::{Incarnation, NodeStatus};

    #[test]
    fn new_rooms_go_to_the_least_loaded_node_that_is_healthy_not_draining_and_has_room() {
        let mut copy = WatchedCopy::new(CopyLimits { entries_max: 99, bytes_max: 99_999 });
        learn(&mut copy, "a", status(50, 100), 10);
        learn(&mut copy, "b", status(8, 20), 10);
        learn(&mut copy, "c", NodeStatus { is_draining: true, ..status(0, 100) }, 10);
        learn(&mut copy, "d", status(0, 100), 1);
        learn(&mut copy, "e", status(0, 0), 10);
        let mut recent = RecentPlacements::default();
        let any = |_: &NodeName, _: &NodeRecord| true;
        let mut chosen = || recent.least_loaded(&copy, secs(12), secs(10), any).map(|(name, _)| name.to_string());
        // b has 40% and gets 2 until both have half; of equal ones the first by name.
        let first: Vec<String> = (0..4).map(|_| chosen().unwrap()).collect();
        assert_eq!(first, ["b", "b", "a", "b"]);
        let rest = std::iter::from_fn(chosen).count();
        assert_eq!(rest, 58, "all places of a and b, and no more");
        learn(&mut copy, "d", status(0, 1), 12);
        let other = |name: &NodeName, _: &NodeRecord| name.as_str() != "d";
        assert_eq!(recent.least_loaded(&copy, secs(12), secs(10), other), None);
        assert_eq!(recent.least_loaded(&copy, secs(12), secs(10), any).unwrap().0.as_str(), "d");
        assert_eq!(recent.least_loaded(&copy, secs(12), secs(10), any), None);
    }

    fn learn(copy: &mut WatchedCopy, name: &str, status: NodeStatus, seen: u64) {
        let incarnation = Incarnation { process: 1, session: 0 };
        let record = NodeRecord { address: name.into(), version: String::new(), metrics: None, status, incarnation };
        let known = Known { record: Some(record), revision: copy.revision_max + 1, seen_at: secs(seen) };
        assert!(copy.learn_node(&NodeName::new(name).unwrap(), known));
    }

    fn status(load: u32, capacity: u32) -> NodeStatus {
        NodeStatus { load, capacity, is_draining: false }
    }

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }
}
