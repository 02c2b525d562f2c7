//! Pending encrypted handshakes. Each may hold a hundred kilobytes of invalid flights, and costs a signature to begin;
//! so their number is limited, more strictly for one network, and most strictly for one address.

use crate::connection::event::PeerId;
use crate::network::Network;
use crate::time::{Duration, Time};
use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

/// Connections of a server that have not received CONNECT yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingHandshakes {
    queue: VecDeque<PendingHandshake>,
}

#[derive(Clone, Copy, Debug)]
struct PendingHandshake {
    peer: PeerId,
    remote: SocketAddr,
    began: Time,
}

/// Greatest number at once.
const PENDING_MAX: usize = 1_024;
/// Greatest number at once, of one network.
const NETWORK_MAX: usize = 512;
/// Greatest number at once, of one address, so that its neighbours have room.
const ADDRESS_MAX: usize = 384;
/// Time that a handshake of a full network or address has before another takes its place. Until then, an OPEN of
/// another client is ignored and the client repeats it; a session's last flight would not be repeated.
const GRACE: Duration = Duration::from_secs(1);
/// Whether another handshake may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandshakeAdmission {
    Welcome,
    /// Yes, if this connection is removed.
    InPlaceOf(PeerId),
    Refused,
}

impl PendingHandshakes {
    /// Removes the handshakes that are no longer pending.
    pub(super) fn prune(&mut self, is_pending: impl Fn(PeerId) -> bool) {
        self.queue.retain(|entry| is_pending(entry.peer));
    }

    /// Whether there is room for a handshake of this address. Call [`PendingHandshakes::prune`] before.
    pub(super) fn admit(&self, now: Time, remote: &SocketAddr) -> HandshakeAdmission {
        let (address, network) = (remote.ip().to_canonical(), Network::of(remote));
        let of_address = |entry: &&PendingHandshake| entry.remote.ip().to_canonical() == address;
        let of_network = |entry: &&PendingHandshake| Network::of(&entry.remote) == network;
        let replaced = |oldest: Option<&PendingHandshake>| match oldest {
            Some(oldest) if now.since(oldest.began) >= GRACE => HandshakeAdmission::InPlaceOf(oldest.peer),
            _ => HandshakeAdmission::Refused,
        };
        if self.queue.iter().filter(of_address).count() >= ADDRESS_MAX {
            replaced(self.queue.iter().find(of_address))
        } else if self.queue.iter().filter(of_network).count() >= NETWORK_MAX {
            replaced(self.queue.iter().find(of_network))
        } else if self.queue.len() >= PENDING_MAX {
            self.victim().map_or(HandshakeAdmission::Refused, HandshakeAdmission::InPlaceOf)
        } else {
            HandshakeAdmission::Welcome
        }
    }

    /// The oldest handshake of the network that has the most. Call [`PendingHandshakes::prune`] before.
    pub(super) fn victim(&self) -> Option<PeerId> {
        let mut counts = BTreeMap::new();
        self.queue.iter().for_each(|entry| *counts.entry(Network::of(&entry.remote)).or_insert(0) += 1);
        let (network, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        self.queue.iter().find(|entry| Network::of(&entry.remote) == network).map(|entry| entry.peer)
    }

    /// The same handshake, if it has had its grace period: a faster client is likely to be accepted.
    pub(super) fn overdue_victim(&self, now: Time) -> Option<PeerId> {
        let victim = self.victim()?;
        let entry = self.queue.iter().find(|entry| entry.peer == victim)?;
        (now.since(entry.began) >= GRACE).then_some(victim)
    }

    /// Adds a handshake that began.
    pub(super) fn push(&mut self, now: Time, peer: PeerId, remote: &SocketAddr) {
        self.queue.push_back(PendingHandshake { peer, remote: *remote, began: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_micros(5_000_000);

    fn peer(index: u32) -> PeerId {
        PeerId { index, generation: 0 }
    }

    fn address(network: u32, host: u8) -> SocketAddr {
        let [_, a, b, c] = network.to_be_bytes();
        ([a, b, c, host], 5_000).into()
    }

    #[test]
    fn one_network_has_its_share_and_its_oldest_goes_after_a_second() {
        let mut pending = PendingHandshakes::default();
        for index in 0..NETWORK_MAX as u32 {
            assert_eq!(pending.admit(START, &address(1, index as u8)), HandshakeAdmission::Welcome);
            pending.push(START, peer(index), &address(1, index as u8));
        }
        assert_eq!(pending.admit(START, &address(1, 9)), HandshakeAdmission::Refused);
        assert_eq!(pending.admit(START, &address(2, 9)), HandshakeAdmission::Welcome, "of another network");
        assert_eq!(pending.admit(START + GRACE, &address(1, 9)), HandshakeAdmission::InPlaceOf(peer(0)));
        pending.prune(|peer| peer.index != 0);
        assert_eq!(pending.admit(START + GRACE, &address(1, 9)), HandshakeAdmission::Welcome);
    }

    #[test]
    fn when_all_places_are_taken_the_network_with_the_most_gives_one() {
        let mut pending = PendingHandshakes::default();
        let mut now = START;
        for index in 0..PENDING_MAX as u32 {
            now += Duration::from_millis(2);
            let remote = if index < 100 { address(7, 1) } else { address(1_000 + index, 1) };
            assert_eq!(pending.admit(now, &remote), HandshakeAdmission::Welcome);
            pending.push(now, peer(index), &remote);
        }
        assert_eq!(pending.admit(now, &address(9, 1)), HandshakeAdmission::InPlaceOf(peer(0)));
    }

    #[test]
    fn one_address_leaves_room_for_its_neighbours() {
        let mut pending = PendingHandshakes::default();
        for index in 0..ADDRESS_MAX as u32 {
            assert_eq!(pending.admit(START, &address(1, 1)), HandshakeAdmission::Welcome);
            pending.push(START, peer(index), &address(1, 1));
        }
        assert_eq!(pending.admit(START, &address(1, 1)), HandshakeAdmission::Refused);
        assert_eq!(pending.admit(START, &address(1, 2)), HandshakeAdmission::Welcome);
        assert_eq!(pending.admit(START + GRACE, &address(1, 1)), HandshakeAdmission::InPlaceOf(peer(0)));
    }
}
