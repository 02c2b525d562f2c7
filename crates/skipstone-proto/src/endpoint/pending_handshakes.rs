//! Encrypted handshakes that are under way. Each may hold a hundred kilobytes of flights that make no sense, and costs a
//! signature to begin; so there are few at once, fewer of one network, and so many begin in a second.

use crate::connection::event::PeerId;
use crate::time::{Duration, Time};
use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};

/// Connections of a server that have not said yet that they want to be let in, oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingHandshakes {
    queue: VecDeque<PendingHandshake>,
    /// How many began in the second that began then.
    begun: (Time, u32),
}

#[derive(Clone, Copy, Debug)]
struct PendingHandshake {
    peer: PeerId,
    network: Network,
    began: Time,
}

/// What one host can be expected to have for itself: an IPv4 network of 24 bits, one of IPv6 of 56.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Network {
    V4([u8; 3]),
    V6([u8; 7]),
}

/// At once.
const PENDING_MAX: usize = 1_024;
/// At once, of one network.
const NETWORK_MAX: usize = 512;
/// A handshake of full networks is given so long before another takes its place. Until then, who comes is not heard, and
/// says it again: OPEN is repeated, what a session said last is not.
const GRACE: Duration = Duration::from_secs(1);
/// Each costs some 300 us: a flood gets no more than three quarters of a core, and a server that was restarted has its
/// thousands of clients back within seconds.
const BEGUN_PER_SECOND_MAX: u32 = 2_500;

/// Whether another handshake may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandshakeAdmission {
    Welcome,
    /// If this one goes.
    InPlaceOf(PeerId),
    Refused,
}

impl Network {
    fn of(address: &SocketAddr) -> Self {
        match address.ip() {
            IpAddr::V4(ip) => Network::v4(ip.octets()),
            IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
                Some(ip) => Network::v4(ip.octets()),
                None => Network::V6(*ip.octets().first_chunk().expect("it has 16")),
            },
        }
    }

    fn v4([a, b, c, _]: [u8; 4]) -> Self {
        Network::V4([a, b, c])
    }
}

impl PendingHandshakes {
    /// Forgets those of which this says that they are over.
    pub(super) fn prune(&mut self, is_pending: impl FnMut(PeerId) -> bool) {
        let mut is_pending = is_pending;
        self.queue.retain(|entry| is_pending(entry.peer));
    }

    /// Whether a host at this address may begin one. Call [`PendingHandshakes::prune`] before.
    pub(super) fn admit(&mut self, now: Time, remote: &SocketAddr) -> HandshakeAdmission {
        if now.since(self.begun.0) >= Duration::from_secs(1) {
            self.begun = (now, 0);
        }
        if self.begun.1 >= BEGUN_PER_SECOND_MAX {
            return HandshakeAdmission::Refused;
        }
        let admission = self.find_room(now, remote);
        self.begun.1 += u32::from(admission != HandshakeAdmission::Refused);
        admission
    }

    fn find_room(&self, now: Time, remote: &SocketAddr) -> HandshakeAdmission {
        let network = Network::of(remote);
        let of_network = || self.queue.iter().filter(|entry| entry.network == network);
        match of_network().next() {
            Some(oldest) if of_network().count() >= NETWORK_MAX => {
                let is_overdue = now.since(oldest.began) >= GRACE;
                if is_overdue { HandshakeAdmission::InPlaceOf(oldest.peer) } else { HandshakeAdmission::Refused }
            }
            _ if self.queue.len() >= PENDING_MAX => {
                self.victim().map_or(HandshakeAdmission::Refused, HandshakeAdmission::InPlaceOf)
            }
            _ => HandshakeAdmission::Welcome,
        }
    }

    /// The oldest of the network that has the most. Call [`PendingHandshakes::prune`] before.
    pub(super) fn victim(&self) -> Option<PeerId> {
        let mut counts = BTreeMap::new();
        self.queue.iter().for_each(|entry| *counts.entry(entry.network).or_insert(0) += 1);
        let (network, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        self.queue.iter().find(|entry| entry.network == network).map(|entry| entry.peer)
    }

    /// Of the same, one that has had its second: whoever is quicker is likely to be let in.
    pub(super) fn overdue_victim(&self, now: Time) -> Option<PeerId> {
        let victim = self.victim()?;
        let entry = self.queue.iter().find(|entry| entry.peer == victim)?;
        (now.since(entry.began) >= GRACE).then_some(victim)
    }

    /// One began.
    pub(super) fn push(&mut self, now: Time, peer: PeerId, remote: &SocketAddr) {
        self.queue.push_back(PendingHandshake { peer, network: Network::of(remote), began: now });
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
    fn so_many_begin_in_a_second() {
        let mut pending = PendingHandshakes::default();
        for index in 0..BEGUN_PER_SECOND_MAX {
            assert_eq!(pending.admit(START, &address(index, 1)), HandshakeAdmission::Welcome);
        }
        assert_eq!(pending.admit(START, &address(5_000, 1)), HandshakeAdmission::Refused);
        pending.prune(|_| false);
        assert_eq!(pending.admit(START, &address(5_000, 1)), HandshakeAdmission::Refused);
        assert_eq!(pending.admit(START + Duration::from_secs(1), &address(5_000, 1)), HandshakeAdmission::Welcome);
    }

    #[test]
    fn an_address_in_either_form_is_of_the_same_network() {
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:5000".parse().expect("an address");
        assert_eq!(Network::of(&mapped), Network::of(&([192, 0, 2, 77], 1).into()));
        let near: SocketAddr = "[2001:db8:0:1f::1]:5000".parse().expect("an address");
        let same: SocketAddr = "[2001:db8:0:2f::2]:5000".parse().expect("an address");
        let other: SocketAddr = "[2001:db8:0:100::2]:5000".parse().expect("an address");
        assert_eq!(Network::of(&near), Network::of(&same));
        assert_ne!(Network::of(&near), Network::of(&other));
    }
}
