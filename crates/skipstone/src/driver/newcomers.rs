//! Accepted streams that carry no connection yet. Each stream must become a connection within a time limit, and each
//! network may have a limited number of them, so that idle streams cost little and exclude nobody.

use super::network_counts::NetworkCounts;
use crate::websocket_rules::NewcomerLimits;
use skipstone_proto::Network;
use std::net::SocketAddr;
use std::time::Instant;

/// A stream that carries no connection yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub(super) network: Network,
    pub(super) since: Instant,
}

/// Counts of the streams that carry no connection yet: in total and by network.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    pub(super) limits: NewcomerLimits,
    all: u32,
    networks: NetworkCounts,
}

impl Newcomers {
    /// Counts a new stream.
    pub(super) fn add(&mut self, remote: &SocketAddr, now: Instant) -> Newcomer {
        let network = Network::of(remote);
        self.all += 1;
        self.networks.add(network);
        Newcomer { network, since: now }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.all as usize
    }

    /// A trusted proxy may have named the client that a stream comes from: the client's network has the stream from then on.
    /// True if that is another one.
    pub(super) fn follow(&mut self, newcomer: &mut Option<Newcomer>, remote: &SocketAddr) -> bool {
        let network = Network::of(remote);
        let Some(newcomer) = newcomer.as_mut().filter(|newcomer| newcomer.network != network) else { return false };
        self.networks.remove(newcomer.network);
        self.networks.add(network);
        newcomer.network = network;
        true
    }

    /// Removes a stream from the counts: the stream became a connection, or was closed.
    pub(super) fn remove(&mut self, newcomer: Newcomer) {
        self.all -= 1;
        self.networks.remove(newcomer.network);
    }

    /// The network whose oldest stream must be closed after this one was accepted, if a limit is exceeded.
    pub(super) fn crowded(&self, newcomer: Newcomer) -> Option<Network> {
        if self.networks.of(newcomer.network) > self.limits.network_max {
            return Some(newcomer.network);
        }
        if self.all > self.limits.all_max { self.networks.most() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(network: u8, host: u8) -> SocketAddr {
        ([192, 0, network, host], 5_000).into()
    }

    #[test]
    fn a_network_has_its_share_and_all_have_theirs() {
        let mut newcomers = Newcomers {
            limits: NewcomerLimits { network_max: 3, all_max: 5, ..Default::default() },
            ..Default::default()
        };
        let now = Instant::now();
        let first: Vec<Newcomer> = (0..3).map(|host| newcomers.add(&address(1, host), now)).collect();
        assert_eq!(newcomers.crowded(first[2]), None);
        let fourth = newcomers.add(&address(1, 9), now);
        assert_eq!(newcomers.crowded(fourth), Some(fourth.network));
        newcomers.remove(first[0]);
        let others: Vec<Newcomer> = (2..5).map(|network| newcomers.add(&address(network, 1), now)).collect();
        assert_eq!(newcomers.crowded(others[1]), Some(fourth.network), "the network with the most");
        first[1..].iter().chain([&fourth]).chain(&others).for_each(|newcomer| newcomers.remove(*newcomer));
        assert!(newcomers.all == 0 && newcomers.networks.is_empty());
    }
}
