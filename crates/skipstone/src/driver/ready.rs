//! Readable sockets, each once, in the order of their turns.

use super::round::{Class, Round};
use std::collections::VecDeque;

/// Sockets that wait for their turn. Readiness is reported once, so a socket stays here until it is drained.
#[derive(Debug, Default)]
pub(super) struct Ready {
    players: VecDeque<u32>,
    strangers: VecDeque<u32>,
    /// By the socket's number: whether it waits, and whether its stream may have ended.
    marks: Vec<Option<MayBeOver>>,
}

/// Whether a stream may have ended, so that it must be drained: no further event would report that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MayBeOver(pub(super) bool);

impl Ready {
    /// Appends a socket to the others of its class. One that waits already keeps its place.
    pub(super) fn add(&mut self, socket: u32, class: Class, end: MayBeOver) {
        let place = socket as usize;
        if self.marks.len() <= place {
            self.marks.resize(place + 1, None);
        }
        match &mut self.marks[place] {
            Some(waits) => waits.0 |= end.0,
            mark @ None => {
                *mark = Some(end);
                match class {
                    Class::Player => self.players.push_back(socket),
                    Class::Stranger => self.strangers.push_back(socket),
                }
            }
        }
    }

    /// The socket whose turn it is, if the round has budget for it: players first, then unauthenticated clients at the
    /// end of the round, for which players leave a part.
    pub(super) fn next(&mut self, round: &mut Round) -> Option<(u32, MayBeOver)> {
        let strangers_wait = !self.strangers.is_empty();
        let of_players = !self.players.is_empty() && round.has_room(Class::Player, strangers_wait);
        let (class, queue) = match of_players {
            true => (Class::Player, &mut self.players),
            false if round.has_room(Class::Stranger, true) => (Class::Stranger, &mut self.strangers),
            false => return None,
        };
        let socket = queue.pop_front()?;
        round.begin_turn(class);
        let end = self.marks[socket as usize].take().expect("it waited");
        Some((socket, end))
    }

    /// A player's socket whose turn comes after this number of others.
    pub(super) fn ahead(&self, turns: usize) -> Option<u32> {
        self.players.get(turns).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.players.is_empty() && self.strangers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::Cost;

    const NO: MayBeOver = MayBeOver(false);

    /// The turns of one round with this cost per turn, where every socket has more to read.
    fn turns(ready: &mut Ready, cost: Cost, class_of: impl Fn(u32) -> Class) -> (Vec<u32>, Cost) {
        let (mut round, mut turns) = (Round::begin(), Vec::new());
        while let Some((socket, _)) = ready.next(&mut round) {
            turns.push(socket);
            round.charge(cost);
            ready.add(socket, class_of(socket), NO);
        }
        (turns, round.spent())
    }

    fn class_of(socket: u32) -> Class {
        if socket < 100 { Class::Player } else { Class::Stranger }
    }

    #[test]
    fn a_round_ends_in_time_and_the_next_one_continues() {
        let mut ready = Ready::default();
        (0..90).for_each(|socket| ready.add(socket, class_of(socket), NO));
        let mut came = Vec::new();
        for _ in 0..9 {
            let (turns, spent) = turns(&mut ready, Cost::micros(100), class_of);
            assert!(spent <= Cost::micros(2_100), "{spent}");
            came.extend(turns);
        }
        assert_eq!(came[..180], (0..90).cycle().take(180).collect::<Vec<_>>(), "each in its turn");
    }

    #[test]
    fn players_are_read_first_and_unauthenticated_clients_have_a_share() {
        let mut ready = Ready::default();
        (0..2_000).rev().for_each(|socket| ready.add(socket, class_of(socket), NO));
        let (turns, _) = turns(&mut ready, Cost::micros(50), class_of);
        let players = turns.iter().take_while(|socket| **socket < 100).count();
        assert_eq!((players, turns.len()), (30, 40), "three quarters are the players'");
        assert!(turns[players..].iter().all(|socket| *socket >= 100));
    }

    #[test]
    fn a_lone_socket_gets_the_whole_round() {
        for only in [7, 700] {
            let mut ready = Ready::default();
            ready.add(only, class_of(only), NO);
            assert_eq!(turns(&mut ready, Cost::micros(50), class_of).0, vec![only; 40]);
        }
    }

    #[test]
    fn a_socket_is_queued_once_and_its_end_is_not_lost() {
        let mut ready = Ready::default();
        for end in [false, true, false] {
            ready.add(3, Class::Player, MayBeOver(end));
        }
        assert_eq!(ready.next(&mut Round::begin()), Some((3, MayBeOver(true))));
        assert!(ready.is_empty() && ready.next(&mut Round::begin()).is_none());
        ready.add(3, Class::Player, NO);
        assert_eq!(ready.next(&mut Round::begin()), Some((3, NO)), "of a later socket with this number");
    }
}
