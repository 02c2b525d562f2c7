//! Counts an endpoint's connections by the limit that they fall under. Players take the places that `connections_max`
//! counts. Clients that were not accepted have their own budget, per network and in total, whether they ask, wait or
//! were refused; so do connections that are closing. None of these keeps a player out.

use crate::connection::{Connection, Standing};
use crate::network::Network;
use std::collections::BTreeMap;

/// Maximum number of connections that were not accepted; one network has a quarter, and never more than are left for
/// others. So several networks that take all they get leave as many places as each of them has (Choudhury and Hahne,
/// 1998: dynamic thresholds).
const NEWCOMERS_MAX: usize = 8_192;
const NEWCOMERS_OF_NETWORK_MAX: usize = NEWCOMERS_MAX / 4;
/// A network may begin no connection while its closing connections exceed this many times the free room. A single
/// network can thus use eight ninths of the room: with the default configuration, as many as there are places.
const LEAVERS_OF_FREE: usize = 8;

/// Counts the connections of an endpoint.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Population {
    players: usize,
    newcomers: usize,
    leavers: usize,
    /// Networks that have connections of any kind.
    networks: BTreeMap<Network, OfNetwork>,
}

/// The connections of one network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OfNetwork {
    newcomers: u32,
    players: u32,
    leavers: u32,
}

/// The limit that a connection counts towards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counted {
    #[default]
    Nothing,
    /// A client of this network that was not accepted, or not yet.
    Newcomer(Network),
    /// A player of this network, or one that joined from it and has moved since.
    Player(Network),
    /// A connection of this network that is closing.
    Leaver(Network),
}

impl Counted {
    pub(super) fn is_player(self) -> bool {
        matches!(self, Counted::Player(_))
    }

    /// The new counting of a connection that counted as `self` before: a refused client that is not yet connected
    /// counts as such until it is removed.
    pub(super) fn follow(self, connection: &Connection) -> Counted {
        let network = || Network::of(&connection.path().remote);
        match (self, connection.standing()) {
            (Counted::Newcomer(_), Standing::Newcomer | Standing::Leaver) | (Counted::Player(_), Standing::Player) => {
                self
            }
            (_, Standing::Newcomer) => Counted::Newcomer(network()),
            (_, Standing::Player) => Counted::Player(network()),
            (Counted::Player(network) | Counted::Leaver(network), Standing::Leaver) => Counted::Leaver(network),
            (Counted::Nothing, Standing::Leaver) => Counted::Leaver(network()),
        }
    }
}

impl Population {
    /// The sum of connections that count as these.
    #[cfg(any(test, feature = "unstable"))]
    pub(super) fn of(all: impl Iterator<Item = Counted>) -> Population {
        let mut sum = Population::default();
        all.for_each(|counted| sum.recount(Counted::Nothing, counted));
        sum
    }

    /// Established connections, and a client's own that are on their way.
    pub(super) fn players(&self) -> usize {
        self.players
    }

    /// The number of players from one network.
    pub(super) fn players_of(&self, network: &Network) -> usize {
        self.networks.get(network).map_or(0, |of| of.players as usize)
    }

    /// Whether another client of this network may begin, where `places` is how many players there may be.
    pub(super) fn admits(&self, network: &Network, places: usize) -> bool {
        let of_network = self.networks.get(network).copied().unwrap_or_default();
        let newcomers_left = NEWCOMERS_MAX.saturating_sub(self.newcomers);
        let leavers_left = places.saturating_add(NEWCOMERS_MAX).saturating_sub(self.leavers);
        (of_network.newcomers as usize) < newcomers_left.min(NEWCOMERS_OF_NETWORK_MAX)
            && (of_network.leavers as usize) < leavers_left.saturating_mul(LEAVERS_OF_FREE)
    }

    /// A connection that was counted as one thing counts as another from now on.
    pub(super) fn recount(&mut self, before: Counted, now: Counted) {
        // WHY: pages download the compiled code, and a client without the server's part has only players.
        if !cfg!(feature = "server") {
            let count = |counted: Counted| usize::from(counted.is_player());
            self.players = self.players + count(now) - count(before);
            return;
        }
        match before {
            Counted::Nothing => {}
            Counted::Newcomer(network) => {
                self.newcomers -= 1;
                self.change(network, |of| of.newcomers -= 1);
            }
            Counted::Player(network) => {
                self.players -= 1;
                self.change(network, |of| of.players -= 1);
            }
            Counted::Leaver(network) => {
                self.leavers -= 1;
                self.change(network, |of| of.leavers -= 1);
            }
        }
        match now {
            Counted::Nothing => {}
            Counted::Newcomer(network) => {
                self.newcomers += 1;
                self.change(network, |of| of.newcomers += 1);
            }
            Counted::Player(network) => {
                self.players += 1;
                self.change(network, |of| of.players += 1);
            }
            Counted::Leaver(network) => {
                self.leavers += 1;
                self.change(network, |of| of.leavers += 1);
            }
        }
    }

    fn change(&mut self, network: Network, change: impl FnOnce(&mut OfNetwork)) {
        let of = self.networks.entry(network).or_default();
        change(of);
        if *of == OfNetwork::default() {
            self.networks.remove(&network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u8) -> Network {
        Network::of(&([number, 0, 0, 1], 1).into())
    }

    fn filled(network_count: u8, of_each: u32) -> Population {
        let mut population = Population::default();
        for number in 0..network_count {
            (0..of_each).for_each(|_| population.recount(Counted::Nothing, Counted::Newcomer(network(number))));
        }
        population
    }

    #[test]
    fn one_network_gets_a_quarter_of_the_new_places() {
        let mut population = filled(1, NEWCOMERS_OF_NETWORK_MAX as u32);
        assert!(!population.admits(&network(0), 1) && population.admits(&network(1), 1));
        population.recount(Counted::Newcomer(network(0)), Counted::Player(network(0)));
        assert!(population.admits(&network(0), 1));
        assert_eq!((population.players_of(&network(0)), population.players_of(&network(1))), (1, 0));
        let full = filled(8, NEWCOMERS_MAX as u32 / 8);
        assert!(!full.admits(&network(9), 1));
    }

    #[test]
    fn greedy_networks_block_no_other_network() {
        for crowds in [1, 4, 8, 50, 200] {
            let mut population = Population::default();
            for number in (0..crowds).cycle().take(20_000) {
                if population.admits(&network(number), 1) {
                    population.recount(Counted::Nothing, Counted::Newcomer(network(number)));
                }
            }
            let left = NEWCOMERS_MAX - population.newcomers;
            assert!(left >= NEWCOMERS_MAX / (usize::from(crowds) + 2), "{crowds} leave {left}");
            for _ in 0..(left / 2).min(NEWCOMERS_OF_NETWORK_MAX) {
                assert!(population.admits(&network(255), 1), "beside {crowds} crowds");
                population.recount(Counted::Nothing, Counted::Newcomer(network(255)));
            }
        }
    }

    #[test]
    fn departed_clients_leave_no_state() {
        let mut population = filled(3, 5);
        for number in 0..3 {
            for _ in 0..5 {
                population.recount(Counted::Newcomer(network(number)), Counted::Player(network(number)));
                population.recount(Counted::Player(network(number)), Counted::Leaver(network(number)));
                population.recount(Counted::Leaver(network(number)), Counted::Nothing);
            }
        }
        assert_eq!((population.players, population.newcomers, population.leavers), (0, 0, 0));
        assert!(population.networks.is_empty());
    }

    #[test]
    fn closing_connections_beyond_the_player_limit_are_bounded() {
        let mut population = Population::default();
        (0..NEWCOMERS_MAX + 2).for_each(|_| population.recount(Counted::Nothing, Counted::Leaver(network(1))));
        assert!(!population.admits(&network(0), 2) && population.admits(&network(0), 3));
    }

    #[test]
    fn networks_whose_players_come_and_go_keep_no_other_out() {
        for crowds in [1, 2, 8, 50] {
            let (mut population, places) = (Population::default(), 100);
            for number in (0..crowds).cycle().take(20_000) {
                if population.admits(&network(number), places) {
                    population.recount(Counted::Nothing, Counted::Leaver(network(number)));
                }
            }
            let left = places + NEWCOMERS_MAX - population.leavers;
            assert!(left >= NEWCOMERS_MAX / (10 * usize::from(crowds)), "{crowds} leave {left}");
            assert!(population.admits(&network(255), places), "beside {crowds} crowds");
        }
    }

    #[test]
    fn all_players_of_one_network_may_leave_at_once_and_come_back() {
        let (mut population, places) = (Population::default(), 65_536);
        (0..places - 1).for_each(|_| population.recount(Counted::Nothing, Counted::Leaver(network(0))));
        assert!(population.admits(&network(0), places));
    }
}
