//! Memory charges of connections and of their networks.

use crate::network::Network;
use std::collections::BTreeMap;

/// Memory charges of all connections.
#[derive(Debug, Default)]
pub(super) struct MemoryAccount {
    pub(super) total: u64,
    /// Networks with a charge only.
    networks: BTreeMap<Network, u64>,
    /// A connection that holds more than it may.
    pub(super) greedy: Option<u32>,
    /// A network that holds more than it may.
    pub(super) full: Option<Network>,
}

/// The owner of the memory that a budget limits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    Network(Network),
    Endpoint,
}

impl MemoryAccount {
    /// Replaces the charge of a connection.
    pub(super) fn replace(&mut self, old: Option<(Network, u64)>, new: Option<(Network, u64)>) {
        if let Some((network, bytes)) = old {
            self.total -= bytes;
            let rest = self.networks.get_mut(&network).map_or(0, |sum| {
                *sum -= bytes;
                *sum
            });
            if rest == 0 {
                self.networks.remove(&network);
            }
        }
        if let Some((network, bytes)) = new {
            self.total += bytes;
            *self.networks.entry(network).or_default() += bytes;
        }
    }

    /// Whether one owner holds more than it may, when the whole endpoint may hold `endpoint` bytes.
    pub(super) fn is_exceeded(&self, endpoint: u64) -> bool {
        self.total > endpoint || self.greedy.is_some() || self.full.is_some()
    }

    /// Sum of the charges that a budget limits.
    pub(super) fn of_scope(&self, scope: &Scope) -> u64 {
        match scope {
            Scope::Network(network) => self.of(network),
            Scope::Endpoint => self.total,
        }
    }

    /// Sum of the charges of a network's connections.
    pub(super) fn of(&self, network: &Network) -> u64 {
        self.networks.get(network).copied().unwrap_or(0)
    }

    /// The network with the greatest charge.
    pub(super) fn largest_network(&self) -> Option<Network> {
        self.networks.iter().max_by_key(|(_, bytes)| **bytes).map(|(network, _)| *network)
    }
}
