//! How many of something each network has, for limits by network.

use skipstone_proto::Network;
use std::collections::BTreeMap;

/// A count for each network that has any.
#[derive(Debug, Default)]
pub(super) struct NetworkCounts(BTreeMap<Network, u32>);

impl NetworkCounts {
    /// Adds one. Returns how many the network has.
    pub(super) fn add(&mut self, network: Network) -> u32 {
        let count = self.0.entry(network).or_default();
        *count += 1;
        *count
    }

    /// Takes one away.
    pub(super) fn remove(&mut self, network: Network) {
        if let Some(count) = self.0.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&network);
            }
        }
    }

    pub(super) fn of(&self, network: Network) -> u32 {
        self.0.get(&network).copied().unwrap_or(0)
    }

    /// The network that has the most.
    pub(super) fn most(&self) -> Option<Network> {
        self.0.iter().max_by_key(|(_, count)| **count).map(|(network, _)| *network)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
