//! How many DTLS sessions without a connection there may be: of strangers, of hosts that have proven their address, and of
//! each network.

use skipstone_proto::{Duration, Network, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The sessions without a connection, by number: a lower one is older.
#[derive(Debug, Default)]
pub(super) struct Places {
    strangers: BTreeSet<u32>,
    proven: BTreeMap<u32, Network>,
    networks: BTreeMap<Network, u32>,
    /// Start of the current second, and the sessions that began in it.
    begun: (Time, u32),
}

/// Sessions of strangers.
pub(super) const STRANGERS_MAX: usize = 256;
/// Sessions of hosts that have proven their address.
pub(super) const PROVEN_MAX: usize = 256;
/// Those of one network.
pub(super) const NETWORK_MAX: u32 = 64;

impl Places {
    /// Whether another session may begin now.
    pub(super) fn may_begin(&mut self, now: Time, per_second_max: u32) -> bool {
        if now.since(self.begun.0) >= Duration::from_secs(1) {
            self.begun = (now, 0);
        }
        self.begun.1 += 1;
        self.begun.1 <= per_second_max
    }

    /// A stranger's session begins. Returns the one that must go for it.
    pub(super) fn begin(&mut self, number: u32) -> Option<u32> {
        let is_full = self.strangers.len() >= STRANGERS_MAX;
        let oldest = if is_full { self.strangers.pop_first() } else { None };
        self.strangers.insert(number);
        oldest
    }

    /// A stranger has proven its address. Returns the session that must go: this one if its network has too many, else the
    /// oldest of the network with the most.
    pub(super) fn prove(&mut self, number: u32, network: Network) -> Option<u32> {
        self.strangers.remove(&number);
        let count = self.networks.entry(network).or_default();
        *count += 1;
        let is_crowded = *count > NETWORK_MAX;
        self.proven.insert(number, network);
        if is_crowded {
            return Some(number);
        }
        let most = || self.networks.iter().max_by_key(|(_, count)| **count).map(|(network, _)| *network);
        let crowded = if self.proven.len() > PROVEN_MAX { most() } else { None }?;
        self.proven.iter().find(|(_, network)| **network == crowded).map(|(number, _)| *number)
    }

    /// A session has a connection, or is over.
    pub(super) fn leave(&mut self, number: u32) {
        self.strangers.remove(&number);
        let Some(network) = self.proven.remove(&number) else { return };
        if let Some(count) = self.networks.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.networks.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u8) -> Network {
        Network::of(&([number, 0, 0, 1], 1).into())
    }

    #[test]
    fn the_oldest_stranger_goes() {
        let mut places = Places::default();
        assert!((0..STRANGERS_MAX as u32).all(|number| places.begin(number).is_none()));
        assert_eq!(places.begin(1_000), Some(0));
        places.leave(1);
        assert_eq!(places.begin(1_001), None);
    }

    #[test]
    fn one_network_has_a_quarter_and_where_all_is_taken_the_network_with_the_most_gives() {
        let mut places = Places::default();
        assert!((0..NETWORK_MAX).all(|number| places.prove(number, network(1)).is_none()));
        assert_eq!(places.prove(100, network(1)), Some(100));
        places.leave(100);
        for number in 0..3 * NETWORK_MAX {
            assert_eq!(places.prove(200 + number, network(2 + (number / (NETWORK_MAX - 1)) as u8)), None);
        }
        assert_eq!(places.prove(900, network(9)), Some(0), "the oldest of the network with the most");
    }
}
