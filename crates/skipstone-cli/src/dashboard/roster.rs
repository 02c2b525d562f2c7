//! The names of connected clients: written by the game loop, read by the dashboard in short steps.

use parking_lot::Mutex;
use skipstone::PeerId;
use skipstone_lab::workload::StressTurn;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// Kinds of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuestKind {
    /// A person.
    Chat,
    /// A client of a stress run.
    Stress(StressTurn),
}

impl GuestKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            GuestKind::Chat => "chat",
            GuestKind::Stress(_) => "stress",
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
    counts: GuestCounts,
}

/// How many clients there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GuestCounts {
    pub(super) chat: usize,
    pub(super) stress: usize,
    /// Stress clients that wait for the command to start.
    pub(super) waiting: usize,
    /// Stress clients that run until the command to stop.
    pub(super) told: usize,
}

impl GuestCounts {
    pub(super) fn all(&self) -> usize {
        self.chat + self.stress
    }

    /// The counts to which a client of this kind adds.
    fn of(&mut self, kind: GuestKind) -> impl Iterator<Item = &mut usize> {
        let (first, second) = match kind {
            GuestKind::Chat => (&mut self.chat, None),
            GuestKind::Stress(StressTurn::Own) => (&mut self.stress, None),
            GuestKind::Stress(StressTurn::Waits) => (&mut self.stress, Some(&mut self.waiting)),
            GuestKind::Stress(StressTurn::Runs) => (&mut self.stress, Some(&mut self.told)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Names {
    fn insert(&mut self, peer: PeerId, named: Named) {
        self.remove(peer);
        self.counts.of(named.kind).for_each(|count| *count += 1);
        self.all.insert(peer, named);
    }

    fn remove(&mut self, peer: PeerId) -> Option<Named> {
        let gone = self.all.remove(&peer)?;
        self.counts.of(gone.kind).for_each(|count| *count -= 1);
        Some(gone)
    }
}

impl Roster {
    pub(super) fn insert(&self, peer: PeerId, name: &str, kind: GuestKind) {
        self.0.lock().insert(peer, Named { name: name.into(), kind });
    }

    /// A stress client tells what it does.
    pub(super) fn turn(&self, peer: PeerId, turn: StressTurn) {
        let mut names = self.0.lock();
        if let Some(named) = names.remove(peer) {
            names.insert(peer, Named { kind: GuestKind::Stress(turn), ..named });
        }
    }

    pub(super) fn remove(&self, peer: PeerId) {
        self.0.lock().remove(peer);
    }

    pub(super) fn of(&self, peer: PeerId) -> Option<Named> {
        self.0.lock().all.get(&peer).cloned()
    }

    pub(super) fn counts(&self) -> GuestCounts {
        self.0.lock().counts
    }

    /// Every name, copied in turns that are too short to delay the game loop, which needs the lock.
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
    fn every_name_is_copied_once_in_several_steps() {
        let roster = Roster::default();
        let peer = |index| PeerId { index, generation: 1 };
        (0..1000)
            .for_each(|index| roster.insert(peer(index), &format!("c{index}"), GuestKind::Stress(StressTurn::Own)));
        (0..100).for_each(|index| roster.remove(peer(index)));
        roster.insert(peer(5000), "Zoë", GuestKind::Chat);
        let all = roster.all();
        assert_eq!((all.len(), roster.counts()), (901, GuestCounts { chat: 1, stress: 900, waiting: 0, told: 0 }));
        assert_eq!(&*all[&peer(5000)].name, "Zoë");
    }

    #[test]
    fn stress_clients_are_counted_by_their_own_reports() {
        let roster = Roster::default();
        let peer = |index| PeerId { index, generation: 1 };
        (0..3).for_each(|index| roster.insert(peer(index), "s", GuestKind::Stress(StressTurn::Own)));
        roster.turn(peer(0), StressTurn::Waits);
        roster.turn(peer(1), StressTurn::Waits);
        roster.turn(peer(1), StressTurn::Runs);
        roster.turn(peer(7), StressTurn::Waits);
        assert_eq!(roster.counts(), GuestCounts { chat: 0, stress: 3, waiting: 1, told: 1 });
        (0..3).for_each(|index| roster.remove(peer(index)));
        assert_eq!(roster.counts(), GuestCounts::default());
    }
}
