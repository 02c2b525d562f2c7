//! What becomes of rooms whose owner has ended: leases that were not renewed are ended by compare-and-set, and the rooms
//! taken over. All nodes judge for themselves; ranks drawn from names let one act before the others.

use super::calls::{Calls, Purpose, StoreOperation};
use super::copy::{Known, Owner, WatchedCopy};
use super::lease::OwnLease;
use super::name::{NodeName, RoomName};
use super::record::{NodeRecord, RoomRecord};
use std::collections::BTreeMap;
use std::time::Duration;

/// The calls about other nodes that wait, or wait to be repeated.
#[derive(Debug)]
pub(super) struct Succession {
    watcher_term: Duration,
    /// When a node may be asked about again.
    busy_until: BTreeMap<NodeName, Duration>,
}

/// What a judgement needs.
pub(super) struct SuccessionContext<'a> {
    pub(super) now: Duration,
    pub(super) lease: &'a OwnLease,
    pub(super) copy: &'a WatchedCopy,
    pub(super) calls: &'a mut Calls,
}

/// What is known of a room's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerStanding {
    /// Its lease was renewed within its term.
    Alive,
    /// No renewal was seen for its term: it may be ended.
    Overdue,
    /// Its lease has ended, since this moment.
    Ended { since: Duration },
    /// The node's entry is older than the room's, and not of this lease: to be read.
    Unknown,
}

impl Succession {
    pub(super) fn new(watcher_term: Duration) -> Succession {
        Succession { watcher_term, busy_until: BTreeMap::new() }
    }

    /// What is known of the owner of a room.
    pub(super) fn standing(
        &self,
        copy: &WatchedCopy,
        room: &Known<RoomRecord>,
        record: &RoomRecord,
        now: Duration,
    ) -> OwnerStanding {
        match copy.node(&record.node) {
            Some(node) if is_lease_of(node, record) => match self.is_overdue(node, now) {
                true => OwnerStanding::Overdue,
                false => OwnerStanding::Alive,
            },
            // The owner had its lease before it wrote the room's entry, and does not have it after that.
            Some(node) if node.revision >= room.revision => {
                OwnerStanding::Ended { since: node.seen_at.max(room.seen_at) }
            }
            _ => OwnerStanding::Unknown,
        }
    }

    pub(super) fn is_overdue(&self, node: &Known<NodeRecord>, now: Duration) -> bool {
        now >= node.seen_at + self.watcher_term
    }

    /// Ends leases that are overdue and asks about owners that are not known. Gives the rooms that this node is to take
    /// over now.
    pub(super) fn review(&mut self, context: &mut SuccessionContext<'_>) -> Vec<RoomName> {
        let now = context.now;
        self.busy_until.retain(|_, until| now < *until);
        self.fence(context);
        let heirs: Vec<&NodeName> = context
            .copy
            .nodes()
            .filter(|(_, record, known)| !record.status.is_draining && !self.is_overdue(known, now))
            .map(|(name, ..)| name)
            .collect();
        let mut due = Vec::new();
        let mut unknown = BTreeMap::new();
        for (owner, rooms) in context.copy.owners().filter(|(owner, _)| !self.is_alive(context.copy, owner, now)) {
            for room in rooms {
                let Some((known, record)) =
                    context.copy.room(room).and_then(|known| Some((known, known.record.as_ref()?)))
                else {
                    continue;
                };
                match self.standing(context.copy, known, record, now) {
                    OwnerStanding::Ended { since } => {
                        let is_back = context.copy.node(&owner.0).is_some_and(|node| is_process_of(node, owner));
                        let patience = if is_back { GRACE_OF_RETURN } else { Duration::ZERO };
                        let rank = rank(room.as_str(), context.lease.node(), &heirs);
                        if now >= since + patience + RANK_DELAY * rank {
                            due.push(room.clone());
                        }
                    }
                    OwnerStanding::Unknown if now >= known.seen_at + LOOK_AFTER => {
                        let as_of = unknown.entry(owner.0.clone()).or_insert(0);
                        *as_of = known.revision.max(*as_of);
                    }
                    _ => {}
                }
            }
        }
        for (node, as_of) in unknown {
            self.look(node, as_of, context);
        }
        due
    }

    /// Reads a node's entry, because a compare-and-set found another or its outcome is not known.
    pub(super) fn look(&mut self, node: NodeName, as_of: u64, context: &mut SuccessionContext<'_>) {
        if node == *context.lease.node() || self.busy_until.contains_key(&node) || !context.calls.has_place() {
            return;
        }
        self.busy_until.insert(node.clone(), context.now + BUSY_MAX);
        context.calls.send(context.now, node.key(), StoreOperation::Get, Purpose::Look { node, as_of });
    }

    /// A call about this node ended.
    pub(super) fn on_answer(&mut self, node: &NodeName) {
        self.busy_until.remove(node);
    }

    fn fence(&mut self, context: &mut SuccessionContext<'_>) {
        let now = context.now;
        for (name, _, known) in context.copy.nodes() {
            if name == context.lease.node() || !self.is_overdue(known, now) || self.busy_until.contains_key(name) {
                continue;
            }
            let healthy: Vec<&NodeName> = context
                .copy
                .nodes()
                .filter(|(_, _, other)| !self.is_overdue(other, now))
                .map(|(name, ..)| name)
                .collect();
            let rank = rank(name.as_str(), context.lease.node(), &healthy);
            if now < known.seen_at + self.watcher_term + RANK_DELAY * rank || !context.calls.has_place() {
                continue;
            }
            self.busy_until.insert(name.clone(), now + BUSY_MAX);
            let operation = StoreOperation::DeleteAt { revision: known.revision };
            context.calls.send(now, name.key(), operation, Purpose::Fence { node: name.clone() });
        }
    }

    fn is_alive(&self, copy: &WatchedCopy, owner: &Owner, now: Duration) -> bool {
        let of_owner =
            |node: &&Known<NodeRecord>| node.record.as_ref().is_some_and(|record| record.incarnation == owner.1);
        copy.node(&owner.0).filter(of_owner).is_some_and(|node| !self.is_overdue(node, now))
    }
}

fn is_lease_of(node: &Known<NodeRecord>, room: &RoomRecord) -> bool {
    node.record.as_ref().is_some_and(|record| record.incarnation == room.incarnation)
}

fn is_process_of(node: &Known<NodeRecord>, owner: &Owner) -> bool {
    node.record.as_ref().is_some_and(|record| record.incarnation.process == owner.1.process)
}

/// How many of these nodes come before `own`, by rendezvous hashing (Thaler and Ravishankar 1996): the order differs from
/// subject to subject, and all nodes that know the same nodes agree on it.
fn rank(subject: &str, own: &NodeName, nodes: &[&NodeName]) -> u32 {
    let mine = weight(subject, own);
    let before = nodes.iter().filter(|node| **node != own && (weight(subject, node), **node) > (mine, own)).count();
    u32::try_from(before).unwrap_or(RANK_MAX).min(RANK_MAX)
}

/// FNV-1a over both names, then the finalizer of splitmix64.
fn weight(subject: &str, node: &NodeName) -> u64 {
    let bytes = subject.bytes().chain([0]).chain(node.as_str().bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut z: u64 = hash;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Between one node's turn and the next's: more than a watch usually takes.
const RANK_DELAY: Duration = Duration::from_millis(300);
const RANK_MAX: u32 = 5;
/// How long others leave its rooms to a process that has a lease again.
const GRACE_OF_RETURN: Duration = Duration::from_millis(1_500);
/// How long the watch has to bring a node's entry that is older than one of its rooms.
const LOOK_AFTER: Duration = Duration::from_secs(2);
/// After which another call about a node is sent at the latest.
const BUSY_MAX: Duration = Duration::from_secs(5);
