//! Epochs of rooms, and the gate that drops messages of earlier ones: fencing tokens, as Burrows' sequencers (Chubby, OSDI
//! 2006, section 2.4).

use super::name::RoomName;
use std::collections::BTreeMap;

/// One ownership of a room. Later owners have greater epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateVerdict {
    /// It is of the latest epoch that was seen.
    Take,
    /// A later epoch was seen: drop it.
    Stale,
    /// The gate knows as many rooms as it may: drop it, or [`EpochGate::forget`] another room.
    Full,
}

/// The latest epoch seen of each room, at a receiver of messages of rooms. It takes no message of an epoch earlier than
/// one that it has seen.
#[derive(Debug)]
pub struct EpochGate {
    latest: BTreeMap<RoomName, Epoch>,
    rooms_max: usize,
    stale: u64,
}

impl EpochGate {
    /// A gate that knows this many rooms at most.
    pub fn new(rooms_max: usize) -> EpochGate {
        EpochGate { latest: BTreeMap::new(), rooms_max, stale: 0 }
    }

    /// Judges a message, or an epoch that was learned otherwise.
    pub fn see(&mut self, room: &RoomName, epoch: Epoch) -> GateVerdict {
        let is_full = self.latest.len() >= self.rooms_max;
        match self.latest.get_mut(room) {
            Some(latest) if epoch < *latest => {
                self.stale += 1;
                GateVerdict::Stale
            }
            Some(latest) => {
                *latest = epoch;
                GateVerdict::Take
            }
            None if is_full => GateVerdict::Full,
            None => {
                self.latest.insert(room.clone(), epoch);
                GateVerdict::Take
            }
        }
    }

    /// Forgets a room: any epoch of it is taken afterwards.
    pub fn forget(&mut self, room: &RoomName) {
        self.latest.remove(room);
    }

    /// Messages that were dropped because a later epoch had been seen.
    pub fn stale(&self) -> u64 {
        self.stale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_an_earlier_epoch_is_dropped_and_counted() {
        let (a, b, c) = (room("a"), room("b"), room("c"));
        let mut gate = EpochGate::new(2);
        assert_eq!(gate.see(&a, Epoch(5)), GateVerdict::Take);
        assert_eq!(gate.see(&a, Epoch(9)), GateVerdict::Take);
        assert_eq!(gate.see(&a, Epoch(9)), GateVerdict::Take);
        assert_eq!(gate.see(&a, Epoch(8)), GateVerdict::Stale);
        assert_eq!(gate.see(&b, Epoch(8)), GateVerdict::Take);
        assert_eq!(gate.see(&c, Epoch(10)), GateVerdict::Full);
        gate.forget(&b);
        assert_eq!(gate.see(&c, Epoch(10)), GateVerdict::Take);
        assert_eq!(gate.stale(), 1);
    }

    fn room(name: &str) -> RoomName {
        RoomName::new(name).unwrap()
    }
}
