//! Members of networks, some of which must be removed when there are too many: the oldest, or the oldest of the network
//! with the most. Each lookup costs O(log n), since unauthenticated clients determine their number.

use skipstone_proto::Network;
use std::collections::{BTreeMap, BTreeSet};

/// Members by age, a lower `K` being an older one, and by network.
#[derive(Debug)]
pub(super) struct Crowd<K> {
    members: BTreeMap<K, Network>,
    /// The members of each network that has any.
    of_network: BTreeMap<Network, BTreeSet<K>>,
    /// The number of members of each network.
    by_size: BTreeSet<(usize, Network)>,
}

impl<K> Default for Crowd<K> {
    fn default() -> Self {
        Crowd { members: BTreeMap::new(), of_network: BTreeMap::new(), by_size: BTreeSet::new() }
    }
}

impl<K: Ord + Copy> Crowd<K> {
    /// Adds a new member.
    pub(super) fn enter(&mut self, member: K, network: Network) {
        self.members.insert(member, network);
        let own = self.of_network.entry(network).or_default();
        self.by_size.remove(&(own.len(), network));
        own.insert(member);
        self.by_size.insert((own.len(), network));
    }

    /// Removes a member, if it is one.
    pub(super) fn leave(&mut self, member: K) {
        let Some(network) = self.members.remove(&member) else { return };
        let Some(own) = self.of_network.get_mut(&network) else { return };
        self.by_size.remove(&(own.len(), network));
        own.remove(&member);
        if own.is_empty() {
            self.of_network.remove(&network);
        } else {
            self.by_size.insert((own.len(), network));
        }
    }

    /// The number of members.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The number of members of a network.
    pub(super) fn len_of(&self, network: Network) -> usize {
        self.of_network.get(&network).map_or(0, BTreeSet::len)
    }

    /// The network of a member.
    pub(super) fn network(&self, member: K) -> Option<Network> {
        self.members.get(&member).copied()
    }

    pub(super) fn oldest(&self) -> Option<K> {
        self.members.first_key_value().map(|(member, _)| *member)
    }

    pub(super) fn oldest_of(&self, network: Network) -> Option<K> {
        self.of_network.get(&network)?.first().copied()
    }

    /// The oldest member of the network with the most.
    pub(super) fn oldest_of_largest(&self) -> Option<K> {
        self.by_size.last().and_then(|(_, network)| self.oldest_of(*network))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::rng::Rng;
    use std::cell::Cell;
    use std::cmp::Ordering;

    fn network(number: u32) -> Network {
        Network::of(&([10, 0, number as u8, 1], 1).into())
    }

    #[test]
    fn the_index_agrees_with_a_linear_search() {
        for seed in 1..50 {
            let (mut rng, mut crowd, mut list) = (Rng::new(seed), Crowd::default(), Vec::new());
            for step in 0..400 {
                if rng.below(3) > 0 {
                    let of = network(rng.below(5));
                    crowd.enter(step, of);
                    list.push((step, of));
                } else {
                    // Possibly one that has left.
                    let member = rng.below(step + 1);
                    crowd.leave(member);
                    list.retain(|(of, _)| *of != member);
                }
                let of = network(rng.below(5));
                let count = |of: Network| list.iter().filter(|(_, network)| *network == of).count();
                let first = |of: Network| list.iter().find(|(_, network)| *network == of).map(|(member, _)| *member);
                assert_eq!((crowd.len(), crowd.len_of(of)), (list.len(), count(of)));
                assert_eq!((crowd.oldest(), crowd.oldest_of(of)), (list.first().map(|(member, _)| *member), first(of)));
                let largest = list.iter().map(|(_, network)| (count(*network), *network)).max();
                assert_eq!(crowd.oldest_of_largest(), largest.and_then(|(_, network)| first(network)));
            }
            list.iter().for_each(|(member, of)| assert_eq!(crowd.network(*member), Some(*of)));
            list.iter().for_each(|(member, _)| crowd.leave(*member));
            assert!(crowd.len() == 0 && crowd.of_network.is_empty() && crowd.by_size.is_empty());
        }
    }

    thread_local! {
        static COMPARISONS: Cell<u32> = const { Cell::new(0) };
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Compared(u32);

    impl PartialOrd for Compared {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Compared {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARISONS.set(COMPARISONS.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    #[test]
    fn eight_thousand_members_are_searched_in_few_steps() {
        let mut crowd = Crowd::default();
        (0..8_192).for_each(|number| crowd.enter(Compared(number), network(number % 4)));
        COMPARISONS.set(0);
        for number in 8_192..8_292 {
            crowd.enter(Compared(number), network(number % 4));
            let oldest = crowd.oldest_of_largest().expect("there are some");
            crowd.leave(oldest);
        }
        assert!(COMPARISONS.get() < 100 * 100, "{} comparisons for 100 members", COMPARISONS.get());
    }
}
