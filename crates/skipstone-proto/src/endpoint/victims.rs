//! The choice of connections to close when a memory budget is full: of the network that holds the most, the connection
//! that holds the most, one after the other.

use crate::network::Network;
use std::collections::{BTreeMap, BinaryHeap};

/// A connection's charge: its network, its bytes, its slot.
pub(super) type Charge = (Network, u64, u32);

/// Slots of connections which together are charged with `excess` or more, if there are enough.
pub(super) fn victims(charges: impl Iterator<Item = Charge>, excess: u64) -> Vec<u32> {
    let mut networks: BTreeMap<Network, (u64, BinaryHeap<(u64, u32)>)> = BTreeMap::new();
    for (network, bytes, slot) in charges {
        let (sum, connections) = networks.entry(network).or_default();
        *sum += bytes;
        connections.push((bytes, slot));
    }
    let mut largest: BinaryHeap<_> = networks.iter().map(|(network, (sum, _))| (*sum, *network)).collect();
    let (mut victims, mut freed) = (Vec::new(), 0);
    while freed < excess
        && let Some((sum, network)) = largest.pop()
    {
        let of_network = networks.get_mut(&network).and_then(|(_, connections)| connections.pop());
        let Some((bytes, slot)) = of_network else { continue };
        victims.push(slot);
        freed += bytes;
        largest.push((sum - bytes, network));
    }
    victims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u8) -> Network {
        Network::of(&([203, 0, number, 1], 1).into())
    }

    #[test]
    fn the_largest_holders_are_evicted_and_no_more_than_needed() {
        let charges = [(network(1), 10, 0), (network(1), 70, 1), (network(1), 30, 2), (network(1), 20, 3)];
        let of = |excess| victims(charges.into_iter(), excess);
        assert_eq!(
            [of(0), of(1), of(70), of(71), of(100), of(101)],
            [vec![], vec![1], vec![1], vec![1, 2], vec![1, 2], vec![1, 2, 3]]
        );
        assert_eq!(of(1_000), [1, 2, 3, 0], "there are no more");
    }

    #[test]
    fn a_network_with_many_connections_is_evicted_before_a_single_larger_one() {
        let crowd = (0..20).map(|slot| (network(1), 10, slot));
        let charges = crowd.chain([(network(2), 60, 100)]);
        let victims = victims(charges, 100);
        assert_eq!(victims.len(), 10);
        assert!(!victims.contains(&100), "{victims:?}");
    }
}
