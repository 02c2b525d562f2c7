//! Encrypted handshakes that are under way. Each may hold a hundred kilobytes of flights that make no sense, and costs a
//! signature to begin; so there are few at once, fewer of one network, and so many begin in a second.

use super::PeerId;
use crate::time::{Duration, Time};
use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};

/// Connections of a server that have not said yet that they want to be let in, oldest first.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    queue: VecDeque<Entry>,
    /// How many began in the second that began then.
    begun: (Time, u32),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
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
const UNFINISHED_MAX: usize = 1_024;
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
pub(super) enum Admission {
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

impl Unfinished {
    /// Forgets those of which this says that they are over.
    pub(super) fn prune(&mut self, is_unfinished: impl FnMut(PeerId) -> bool) {
        let mut is_unfinished = is_unfinished;
        self.queue.retain(|entry| is_unfinished(entry.peer));
    }

    /// Whether a host at this address may begin one. Call [`Unfinished::prune`] before.
    pub(super) fn admit(&mut self, now: Time, remote: &SocketAddr) -> Admission {
        if now.since(self.begun.0) >= Duration::from_secs(1) {
            self.begun = (now, 0);
        }
        if self.begun.1 >= BEGUN_PER_SECOND_MAX {
            return Admission::Refused;
        }
        let admission = self.find_room(now, remote);
        self.begun.1 += u32::from(admission != Admission::Refused);
        admission
    }

    fn find_room(&self, now: Time, remote: &SocketAddr) -> Admission {
        let network = Network::of(remote);
        let of_network = || self.queue.iter().filter(|entry| entry.network == network);
        match of_network().next() {
            Some(oldest) if of_network().count() >= NETWORK_MAX => {
                let is_late = now.since(oldest.began) >= GRACE;
                if is_late { Admission::InPlaceOf(oldest.peer) } else { Admission::Refused }
            }
            _ if self.queue.len() >= UNFINISHED_MAX => self.victim().map_or(Admission::Refused, Admission::InPlaceOf),
            _ => Admission::Welcome,
        }
    }

    /// The oldest of the network that has the most. Call [`Unfinished::prune`] before.
    pub(super) fn victim(&self) -> Option<PeerId> {
        let mut counts = BTreeMap::new();
        self.queue.iter().for_each(|entry| *counts.entry(entry.network).or_insert(0) += 1);
        let (network, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        self.queue.iter().find(|entry| entry.network == network).map(|entry| entry.peer)
    }

    /// Of the same, one that has had its second: whoever is quicker is likely to be let in.
    pub(super) fn late_victim(&self, now: Time) -> Option<PeerId> {
        let victim = self.victim()?;
        let entry = self.queue.iter().find(|entry| entry.peer == victim)?;
        (now.since(entry.began) >= GRACE).then_some(victim)
    }

    /// One began.
    pub(super) fn push(&mut self, now: Time, peer: PeerId, remote: &SocketAddr) {
        self.queue.push_back(Entry { peer, network: Network::of(remote), began: now });
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
        let mut unfinished = Unfinished::default();
        for index in 0..NETWORK_MAX as u32 {
            assert_eq!(unfinished.admit(START, &address(1, index as u8)), Admission::Welcome);
            unfinished.push(START, peer(index), &address(1, index as u8));
        }
        assert_eq!(unfinished.admit(START, &address(1, 9)), Admission::Refused);
        assert_eq!(unfinished.admit(START, &address(2, 9)), Admission::Welcome, "of another network");
        assert_eq!(unfinished.admit(START + GRACE, &address(1, 9)), Admission::InPlaceOf(peer(0)));
        unfinished.prune(|peer| peer.index != 0);
        assert_eq!(unfinished.admit(START + GRACE, &address(1, 9)), Admission::Welcome);
    }

    #[test]
    fn when_all_places_are_taken_the_network_with_the_most_gives_one() {
        let mut unfinished = Unfinished::default();
        let mut now = START;
        for index in 0..UNFINISHED_MAX as u32 {
            now += Duration::from_millis(2);
            let remote = if index < 100 { address(7, 1) } else { address(1_000 + index, 1) };
            assert_eq!(unfinished.admit(now, &remote), Admission::Welcome);
            unfinished.push(now, peer(index), &remote);
        }
        assert_eq!(unfinished.admit(now, &address(9, 1)), Admission::InPlaceOf(peer(0)));
    }

    #[test]
    fn so_many_begin_in_a_second() {
        let mut unfinished = Unfinished::default();
        for index in 0..BEGUN_PER_SECOND_MAX {
            assert_eq!(unfinished.admit(START, &address(index, 1)), Admission::Welcome);
        }
        assert_eq!(unfinished.admit(START, &address(5_000, 1)), Admission::Refused);
        unfinished.prune(|_| false);
        assert_eq!(unfinished.admit(START, &address(5_000, 1)), Admission::Refused);
        assert_eq!(unfinished.admit(START + Duration::from_secs(1), &address(5_000, 1)), Admission::Welcome);
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
