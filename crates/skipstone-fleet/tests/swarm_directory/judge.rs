//! What must hold.

use skipstone_fleet::directory::{Epoch, EpochGate, GateVerdict, RoomName};
use std::collections::BTreeMap;
use std::time::Duration;

/// A process: a node and its life.
pub(crate) type Process = (usize, u64);

/// A receiver of messages, with what it took last of each room.
pub(crate) struct Receiver {
    gate: EpochGate,
    taken: BTreeMap<RoomName, (Epoch, Process)>,
}

impl Receiver {
    pub(crate) fn new() -> Receiver {
        Receiver { gate: EpochGate::new(100), taken: BTreeMap::new() }
    }

    pub(crate) fn receive(&mut self, room: &RoomName, epoch: Epoch, sender: Process) {
        if self.gate.see(room, epoch) != GateVerdict::Take {
            return;
        }
        if let Some((before, owner)) = self.taken.insert(room.clone(), (epoch, sender)) {
            assert!(before <= epoch, "{room}: {epoch:?} of {sender:?} was taken after {before:?} of {owner:?}");
            assert!(before < epoch || owner == sender, "{room}: {owner:?} and {sender:?} share {epoch:?}");
        }
    }
}

/// The owners of a room, and how long it had none.
#[derive(Default)]
pub(crate) struct RoomJudge {
    owners: BTreeMap<Epoch, Process>,
    alone_for: Duration,
    /// The entry that no process acts by.
    entry: Option<u64>,
    seen_at: Duration,
    pub(crate) alone_max: Duration,
    /// The process that closed the room, whose entry is still there.
    pub(crate) closed_by: Option<Process>,
}

impl RoomJudge {
    /// These processes act for the room now.
    pub(crate) fn see(&mut self, room: &RoomName, actors: &[(Process, Epoch)]) {
        for (process, epoch) in actors {
            let owner = self.owners.entry(*epoch).or_insert(*process);
            assert_eq!(owner, process, "{room}: two processes have {epoch:?}");
        }
    }

    pub(crate) fn see_unique(&self, room: &RoomName, actors: &[(Process, Epoch)]) {
        assert!(actors.len() <= 1, "{room}: {actors:?} act at once");
        if let Some((process, epoch)) = actors.first() {
            let latest = self.owners.last_key_value();
            assert!(latest.is_none_or(|(latest, _)| latest <= epoch), "{room}: {process:?} {epoch:?} after {latest:?}");
        }
    }

    /// Counts how long the room has had this entry and no process that acts by it, while the store worked. Another
    /// entry is another owner's, which may end before it acts: from then on, it is that one's end that counts.
    pub(crate) fn count(&mut self, now: Duration, entry: Option<u64>, is_excused: bool) {
        let passed = now - std::mem::replace(&mut self.seen_at, now);
        if std::mem::replace(&mut self.entry, entry) != entry || entry.is_none() {
            self.alone_for = Duration::ZERO;
        } else if !is_excused {
            self.alone_for += passed;
        }
        self.alone_max = self.alone_max.max(self.alone_for);
    }
}
