//! Accepted streams that carry no connection yet. Each stream must become a connection within a time limit, and each
//! network may have a limited number of them, so that idle streams cost little and exclude no other client.

use super::crowd::Crowd;
use crate::listener_rules::NewcomerLimits;
use skipstone_proto::Network;
use std::net::SocketAddr;
use std::time::Instant;

/// A stream that carries no connection yet: its start time, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Newcomer {
    since: Instant,
    socket: u32,
}

/// The streams that carry no connection yet.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    pub(super) limits: NewcomerLimits,
    crowd: Crowd<Newcomer>,
}

impl Newcomers {
    /// Counts a new stream.
    pub(super) fn add(&mut self, socket: u32, remote: &SocketAddr, now: Instant) -> Newcomer {
        let newcomer = Newcomer { since: now, socket };
        self.crowd.enter(newcomer, Network::of(remote));
        newcomer
    }

    /// The number of these streams.
    pub(super) fn count(&self) -> usize {
        self.crowd.len()
    }

    /// A trusted proxy may have named the client that a stream comes from: the stream then counts for the client's
    /// network. True if that is another network.
    pub(super) fn follow(&mut self, newcomer: Newcomer, remote: &SocketAddr) -> bool {
        let network = Network::of(remote);
        if self.crowd.network(newcomer) == Some(network) {
            return false;
        }
        self.crowd.leave(newcomer);
        self.crowd.enter(newcomer, network);
        true
    }

    /// Removes a stream: it became a connection, or was closed.
    pub(super) fn remove(&mut self, newcomer: Newcomer) {
        self.crowd.leave(newcomer);
    }

    /// The socket that must be closed after this one was accepted, if a limit is exceeded: the oldest of its network,
    /// or of the network with the most.
    pub(super) fn crowded(&self, newcomer: Newcomer) -> Option<u32> {
        let network = self.crowd.network(newcomer)?;
        let oldest = if self.crowd.len_of(network) > self.limits.network_max as usize {
            self.crowd.oldest_of(network)
        } else if self.crowd.len() > self.limits.all_max as usize {
            self.crowd.oldest_of_largest()
        } else {
            None
        };
        oldest.map(|newcomer| newcomer.socket)
    }

    /// The oldest socket, if it has carried no connection for too long.
    pub(super) fn overdue(&self, now: Instant) -> Option<u32> {
        let oldest = self.crowd.oldest()?;
        let is_overdue = now.saturating_duration_since(oldest.since) >= self.limits.timeout;
        is_overdue.then_some(oldest.socket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn address(network: u8, host: u8) -> SocketAddr {
        ([192, 0, network, host], 5_000).into()
    }

    #[test]
    fn each_network_is_limited_to_its_share_of_the_total() {
        let mut newcomers = Newcomers {
            limits: NewcomerLimits { network_max: 3, all_max: 5, ..Default::default() },
            ..Default::default()
        };
        let now = Instant::now();
        let first: Vec<Newcomer> = (0..3).map(|host| newcomers.add(host, &address(1, host as u8), now)).collect();
        assert_eq!(newcomers.crowded(first[2]), None);
        let fourth = newcomers.add(9, &address(1, 9), now);
        assert_eq!(newcomers.crowded(fourth), Some(0), "the oldest of its network");
        newcomers.remove(first[0]);
        let others: Vec<Newcomer> = (2..5).map(|at| newcomers.add(10 + at, &address(at as u8, 1), now)).collect();
        assert_eq!(newcomers.crowded(others[1]), Some(1), "the oldest of the network with the most");
        // A proxy names another client.
        assert!(newcomers.follow(fourth, &address(4, 1)) && !newcomers.follow(fourth, &address(4, 2)));
        first[1..].iter().chain([&fourth]).chain(&others).for_each(|newcomer| newcomers.remove(*newcomer));
        assert_eq!(newcomers.count(), 0);
    }

    #[test]
    fn the_oldest_newcomer_expires_first() {
        let timeout = Duration::from_secs(10);
        let limits = NewcomerLimits { timeout, ..Default::default() };
        let mut newcomers = Newcomers { limits, ..Default::default() };
        let began = Instant::now();
        let old = newcomers.add(7, &address(1, 1), began);
        newcomers.add(5, &address(2, 1), began + timeout / 2);
        assert_eq!(newcomers.overdue(began + timeout - Duration::from_millis(1)), None);
        assert_eq!(newcomers.overdue(began + timeout), Some(7));
        newcomers.remove(old);
        assert_eq!(newcomers.overdue(began + timeout), None);
        assert_eq!(newcomers.overdue(began + timeout * 2), Some(5));
    }
}
