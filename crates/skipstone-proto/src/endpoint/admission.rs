//! Whether the endpoint admits another connection: it needs a place for a player, a part of the newcomers' budget and a
//! free id.

use super::state::Endpoint;
use crate::connection::stats::DropReason;
use crate::network::{Network, is_local};
use core::net::SocketAddr;

/// Whether another client may connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientAdmission {
    Now,
    /// Not now. There will be room soon, and a waiting client repeats its OPEN.
    Soon,
    Refused(NotAdmitted),
}

/// Why a client is refused for lack of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAdmitted {
    pub(super) why: &'static str,
    pub(super) counted: DropReason,
}

const BEHIND: NotAdmitted = NotAdmitted { why: "the server is behind", counted: DropReason::Full };
const FULL: NotAdmitted = NotAdmitted { why: "the server is full", counted: DropReason::Full };
const NETWORK_FULL: NotAdmitted =
    NotAdmitted { why: "the server has no more places for players of your network", counted: DropReason::NetworkFull };
/// By default, the players of a network and the free places are as three to one at most: one network that takes all it
/// gets leaves a quarter of the places, and several leave something, too (Choudhury and Hahne, 1998: dynamic
/// thresholds).
const OF_FREE_PLACES: usize = 3;
/// This many players of a network are always accepted while there is a place: a household on a server with few places.
const ALWAYS: usize = 8;

impl Endpoint {
    /// Whether another client from this address may connect.
    pub(super) fn admission(&self, remote: &SocketAddr) -> ClientAdmission {
        if self.is_behind() {
            return ClientAdmission::Refused(BEHIND);
        }
        if let Some(none) = self.not_admitted(remote) {
            return ClientAdmission::Refused(none);
        }
        let admits = self.population.admits(&Network::of(remote), self.places());
        if admits && self.directory.ids.has_room() { ClientAdmission::Now } else { ClientAdmission::Soon }
    }

    /// Why there is no place for another player from this address, if there is none.
    pub(super) fn not_admitted(&self, remote: &SocketAddr) -> Option<NotAdmitted> {
        if self.is_full() {
            return Some(FULL);
        }
        let most = self.players_of_network_max(remote);
        // Most of the time, all networks together have fewer.
        let may_be_full = self.population.players() >= most;
        (may_be_full && self.population.players_of(&Network::of(remote)) >= most).then_some(NETWORK_FULL)
    }

    /// Whether every place for a player is taken.
    fn is_full(&self) -> bool {
        self.population.players() >= self.places()
    }

    /// How many players there may be of this address's network, by the places that are free now.
    fn players_of_network_max(&self, remote: &SocketAddr) -> usize {
        let free = self.places().saturating_sub(self.population.players());
        match self.config.players_of_network_max {
            Some(most) => most as usize,
            None if is_local(remote) => usize::MAX,
            None => ((OF_FREE_PLACES * free) >> self.config.shard.bits).max(ALWAYS),
        }
    }

    /// Whether this endpoint has room for another connection that it opens itself.
    pub(super) fn may_connect(&self) -> bool {
        !self.is_full() && self.directory.ids.has_room()
    }

    /// How many players there may be.
    fn places(&self) -> usize {
        self.directory.ids.capacity().min(self.config.connections_max as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{Config, Shard};
    use crate::path::{Carrier, Path};
    use crate::time::Time;

    /// A closing connection has an id too: on a server with many shards, all places and as many again are more than
    /// there are ids.
    #[test]
    fn an_endpoint_without_free_ids_has_no_room_for_a_connection() {
        let config = Config { shard: Shard { index: 3, bits: 8 }, ..Config::server(Default::default()) };
        let mut endpoint = Endpoint::new(config, [7; 32]).expect("it is good");
        let path = Path { socket: 0, local: None, remote: ([192, 0, 2, 1], 7_777).into(), carrier: Carrier::UDP };
        assert_eq!((endpoint.admission(&path.remote), endpoint.may_connect()), (ClientAdmission::Now, true));
        while endpoint.directory.ids.has_room() {
            endpoint.directory.ids.assign(&mut endpoint.secrets.rng, 0);
        }
        assert_eq!((endpoint.admission(&path.remote), endpoint.is_full()), (ClientAdmission::Soon, false));
        assert!(endpoint.connect(Time::ZERO, path, b"").is_err());
    }
}
