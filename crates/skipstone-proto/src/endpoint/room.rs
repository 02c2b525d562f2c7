//! Whether there is room for another connection: a place for a player, a part of the newcomers' budget, an id.

use super::state::Endpoint;
use crate::network::Network;

/// Room for another client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// None for now. What is in the way is soon gone, and a client that waits repeats its OPEN.
    Soon,
    /// None, for this reason.
    None(&'static str),
}

/// The reason of a server without a place.
pub(super) const SERVER_IS_FULL: &str = "the server is full";

impl Endpoint {
    /// Whether every place for a player is taken.
    pub(super) fn is_full(&self) -> bool {
        self.population.players() >= self.places()
    }

    /// Room for another client of this network.
    pub(super) fn room(&self, network: &Network) -> Room {
        if self.is_behind() {
            return Room::None("the server is behind");
        }
        if self.is_full() {
            return Room::None(SERVER_IS_FULL);
        }
        let is_free = self.population.admits(network, self.places()) && self.directory.ids.has_room();
        if is_free { Room::Free } else { Room::Soon }
    }

    /// Room for another connection of this endpoint's own.
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

    /// What is closing has an id too: of a server with many shards, all places and as many again are more than there are ids.
    #[test]
    fn without_an_id_there_is_no_room_though_no_place_is_taken() {
        let config = Config { shard: Shard { index: 3, bits: 8 }, ..Config::server(Default::default()) };
        let mut endpoint = Endpoint::new(config, [7; 32]).expect("it is good");
        let path = Path { socket: 0, local: None, remote: ([192, 0, 2, 1], 7_777).into(), carrier: Carrier::UDP };
        let network = Network::of(&path.remote);
        assert_eq!((endpoint.room(&network), endpoint.may_connect()), (Room::Free, true));
        while endpoint.directory.ids.has_room() {
            endpoint.directory.ids.assign(&mut endpoint.secrets.rng, 0);
        }
        assert_eq!((endpoint.room(&network), endpoint.is_full()), (Room::Soon, false));
        assert!(endpoint.connect(Time::ZERO, path, b"").is_err());
    }
}
