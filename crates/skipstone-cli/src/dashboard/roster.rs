//! The names of the clients that are there: written by the game loop, read by the dashboard in short turns.

use parking_lot::Mutex;
use skipstone::PeerId;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// Kinds of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuestKind {
    /// A person.
    Chat,
    /// A client of a stress run.
    Stress,
}

impl GuestKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            GuestKind::Chat => "chat",
            GuestKind::Stress => "stress",
        }
    }
}

/// A client's name and kind.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: Arc<str>,
    pub(super) kind: GuestKind,
}

/// All names.
#[derive(Debug, Default)]
pub(super) struct Roster(Mutex<Names>);

#[derive(Debug, Default)]
struct Names {
    all: BTreeMap<PeerId, Named>,
    stress: usize,
}

impl Roster {
    pub(super) fn insert(&self, peer: PeerId, name: &str, kind: GuestKind) {
        let mut names = self.0.lock();
        names.stress += usize::from(kind == GuestKind::Stress);
        names.all.insert(peer, Named { name: name.into(), kind });
    }

    pub(super) fn remove(&self, peer: PeerId) {
        let mut names = self.0.lock();
        let gone = names.all.remove(&peer);
        names.stress -= usize::from(gone.is_some_and(|gone| gone.kind == GuestKind::Stress));
    }

    pub(super) fn of(&self, peer: PeerId) -> Option<Named> {
        self.0.lock().all.get(&peer).cloned()
    }

    /// Clients, and how many of them are of stress runs.
    pub(super) fn counts(&self) -> (usize, usize) {
        let names = self.0.lock();
        (names.all.len(), names.stress)
    }

    /// Every name, in turns so short that the game loop, which waits for the lock, notices none.
    pub(super) fn all(&self) -> BTreeMap<PeerId, Named> {
        let mut copy = BTreeMap::new();
        let mut from = Bound::Unbounded;
        loop {
            let before = copy.len();
            let names = self.0.lock();
            let some = names.all.range((from, Bound::Unbounded)).take(TURN);
            copy.extend(some.map(|(peer, named)| (*peer, named.clone())));
            drop(names);
            if copy.len() < before + TURN {
                return copy;
            }
            from = copy.last_key_value().map_or(Bound::Unbounded, |(peer, _)| Bound::Excluded(*peer));
        }
    }
}

/// Names that are copied in one turn: some microseconds.
const TURN: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_copied_once_in_several_turns() {
        let roster = Roster::default();
        let peer = |index| PeerId { index, generation: 1 };
        (0..1000).for_each(|index| roster.insert(peer(index), &format!("c{index}"), GuestKind::Stress));
        (0..100).for_each(|index| roster.remove(peer(index)));
        roster.insert(peer(5000), "Zoë", GuestKind::Chat);
        let all = roster.all();
        assert_eq!((all.len(), roster.counts()), (901, (901, 900)));
        assert_eq!(&*all[&peer(5000)].name, "Zoë");
    }
}
