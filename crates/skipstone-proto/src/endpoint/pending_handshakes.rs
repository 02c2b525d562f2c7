//! Pending encrypted handshakes. Each holds memory, and costs a signature to begin; so their number and their bytes are
//! limited, more strictly for one network, and most strictly for one address.

use crate::connection::event::PeerId;
use crate::network::Network;
use crate::time::{Duration, Time};
use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, BTreeSet};

/// Connections of a server that have not received CONNECT yet. Every repeated OPEN asks for a place, so the total of
/// each address and each network is kept up to date: the answer takes no walk through all of them.
#[derive(Debug, Default)]
pub(super) struct PendingHandshakes {
    /// Handshakes in the order in which they began.
    entries: BTreeMap<u64, PendingHandshake>,
    /// Place of the next in that order.
    next: u64,
    /// Place of each in that order, by the connection's slot.
    places: BTreeMap<u32, u64>,
    addresses: BTreeMap<IpAddr, Party>,
    networks: BTreeMap<Network, Party>,
    /// Bytes of each network.
    by_bytes: BTreeSet<(u64, Network)>,
    all: Taken,
}

#[derive(Clone, Copy, Debug)]
struct PendingHandshake {
    peer: PeerId,
    remote: SocketAddr,
    began: Time,
    /// Bytes that it holds.
    bytes: u32,
}

/// The total of some of the handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    count: usize,
    bytes: u64,
}

/// The handshakes of an address or a network.
#[derive(Debug, Default)]
struct Party {
    taken: Taken,
    places: BTreeSet<u64>,
}

/// Most that they may take at once.
const ALL_MAX: Taken = Taken { count: 1_024, bytes: 16 << 20 };
/// Most of one network.
const NETWORK_MAX: Taken = Taken { count: 512, bytes: 8 << 20 };
/// Most of one address, so that its neighbours have room.
const ADDRESS_MAX: Taken = Taken { count: 384, bytes: 6 << 20 };
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

impl Taken {
    fn reaches(self, max: Taken) -> bool {
        self.count >= max.count || self.bytes >= max.bytes
    }

    fn add(&mut self, bytes: u32) {
        self.count += 1;
        self.bytes += u64::from(bytes);
    }

    fn subtract(&mut self, bytes: u32) {
        self.count -= 1;
        self.bytes -= u64::from(bytes);
    }
}

impl Party {
    fn add(&mut self, place: u64, bytes: u32) {
        self.taken.add(bytes);
        self.places.insert(place);
    }

    /// True if nothing is left.
    fn remove(&mut self, place: u64, bytes: u32) -> bool {
        self.taken.subtract(bytes);
        self.places.remove(&place);
        self.places.is_empty()
    }
}

impl PendingHandshakes {
    /// The number of pending handshakes.
    pub(super) fn count(&self) -> usize {
        self.all.count
    }

    /// Adds a handshake that began.
    pub(super) fn push(&mut self, now: Time, peer: PeerId, remote: &SocketAddr, bytes: u32) {
        let place = self.next;
        self.next += 1;
        self.places.insert(peer.index, place);
        self.insert(place, PendingHandshake { peer, remote: *remote, began: now, bytes });
    }

    /// Sets the memory that a handshake holds now; `None` if it is no longer pending.
    pub(super) fn update(&mut self, peer: PeerId, bytes: Option<u32>) {
        let Some(place) = self.places.get(&peer.index).copied() else { return };
        let Some(entry) = self.entries.get(&place).copied().filter(|entry| entry.peer == peer) else { return };
        if bytes == Some(entry.bytes) {
            return;
        }
        self.remove(place, &entry);
        match bytes {
            Some(bytes) => self.insert(place, PendingHandshake { bytes, ..entry }),
            None => drop(self.places.remove(&peer.index)),
        }
    }

    fn insert(&mut self, place: u64, entry: PendingHandshake) {
        let (address, network) = (entry.remote.ip().to_canonical(), Network::of(&entry.remote));
        self.all.add(entry.bytes);
        self.addresses.entry(address).or_default().add(place, entry.bytes);
        let party = self.networks.entry(network).or_default();
        self.by_bytes.remove(&(party.taken.bytes, network));
        party.add(place, entry.bytes);
        self.by_bytes.insert((party.taken.bytes, network));
        self.entries.insert(place, entry);
    }

    fn remove(&mut self, place: u64, entry: &PendingHandshake) {
        let (address, network) = (entry.remote.ip().to_canonical(), Network::of(&entry.remote));
        self.all.subtract(entry.bytes);
        if self.addresses.get_mut(&address).is_some_and(|party| party.remove(place, entry.bytes)) {
            self.addresses.remove(&address);
        }
        if let Some(party) = self.networks.get_mut(&network) {
            self.by_bytes.remove(&(party.taken.bytes, network));
            if party.remove(place, entry.bytes) {
                self.networks.remove(&network);
            } else {
                self.by_bytes.insert((party.taken.bytes, network));
            }
        }
        self.entries.remove(&place);
    }

    /// Whether there is room for a handshake of this address.
    pub(super) fn admit(&self, now: Time, remote: &SocketAddr) -> HandshakeAdmission {
        let of_address = self.addresses.get(&remote.ip().to_canonical());
        let of_network = self.networks.get(&Network::of(remote));
        let full = |party: Option<&Party>, max: Taken| party.is_some_and(|party| party.taken.reaches(max));
        let party = match (full(of_address, ADDRESS_MAX), full(of_network, NETWORK_MAX)) {
            (true, _) => of_address,
            (false, true) => of_network,
            (false, false) if self.all.reaches(ALL_MAX) => {
                return self.victim().map_or(HandshakeAdmission::Refused, HandshakeAdmission::InPlaceOf);
            }
            (false, false) => return HandshakeAdmission::Welcome,
        };
        match party.and_then(|party| self.oldest(party)) {
            Some(oldest) if now.since(oldest.began) >= GRACE => HandshakeAdmission::InPlaceOf(oldest.peer),
            _ => HandshakeAdmission::Refused,
        }
    }

    fn oldest(&self, party: &Party) -> Option<&PendingHandshake> {
        self.entries.get(party.places.first()?)
    }

    /// The handshake to give up first: the oldest of the network that holds the most.
    fn victim(&self) -> Option<PeerId> {
        let (_, network) = self.by_bytes.last()?;
        self.oldest(self.networks.get(network)?).map(|entry| entry.peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::btree_map::Entry;

    /// The memory of a usual handshake.
    const BYTES: u32 = 12_000;
    const START: Time = Time::from_micros(5_000_000);

    fn peer(index: u32) -> PeerId {
        PeerId { index, generation: 0 }
    }

    fn address(network: u32, host: u8) -> SocketAddr {
        let [_, a, b, c] = network.to_be_bytes();
        ([a, b, c, host], 5_000).into()
    }

    #[test]
    fn one_network_is_limited_to_its_share_and_its_oldest_is_evicted_after_a_second() {
        let mut pending = PendingHandshakes::default();
        for index in 0..NETWORK_MAX.count as u32 {
            assert_eq!(pending.admit(START, &address(1, index as u8)), HandshakeAdmission::Welcome);
            pending.push(START, peer(index), &address(1, index as u8), BYTES);
        }
        assert_eq!(pending.admit(START, &address(1, 9)), HandshakeAdmission::Refused);
        assert_eq!(pending.admit(START, &address(2, 9)), HandshakeAdmission::Welcome, "of another network");
        assert_eq!(pending.admit(START + GRACE, &address(1, 9)), HandshakeAdmission::InPlaceOf(peer(0)));
        pending.update(peer(0), None);
        assert_eq!(pending.admit(START + GRACE, &address(1, 9)), HandshakeAdmission::Welcome);
    }

    #[test]
    fn at_capacity_the_network_with_the_most_handshakes_loses_one() {
        let mut pending = PendingHandshakes::default();
        let mut now = START;
        for index in 0..ALL_MAX.count as u32 {
            now += Duration::from_millis(2);
            let remote = if index < 100 { address(7, 1) } else { address(1_000 + index, 1) };
            assert_eq!(pending.admit(now, &remote), HandshakeAdmission::Welcome);
            pending.push(now, peer(index), &remote, BYTES);
        }
        assert_eq!(pending.admit(now, &address(9, 1)), HandshakeAdmission::InPlaceOf(peer(0)));
    }

    #[test]
    fn one_address_leaves_room_for_others_of_its_network() {
        let mut pending = PendingHandshakes::default();
        for index in 0..ADDRESS_MAX.count as u32 {
            assert_eq!(pending.admit(START, &address(1, 1)), HandshakeAdmission::Welcome);
            pending.push(START, peer(index), &address(1, 1), BYTES);
        }
        assert_eq!(pending.admit(START, &address(1, 1)), HandshakeAdmission::Refused);
        assert_eq!(pending.admit(START, &address(1, 2)), HandshakeAdmission::Welcome);
        assert_eq!(pending.admit(START + GRACE, &address(1, 1)), HandshakeAdmission::InPlaceOf(peer(0)));
    }

    #[test]
    fn large_handshakes_are_limited_to_fewer() {
        const MUCH: u32 = 100_000;
        let mut pending = PendingHandshakes::default();
        let mut begun = 0;
        for index in 0..1_000_u32 {
            if pending.admit(START, &address(1, index as u8)) == HandshakeAdmission::Welcome {
                // Small at first, and grown by the time of the next.
                pending.push(START, peer(index), &address(1, index as u8), BYTES);
                pending.update(peer(index), Some(MUCH));
                begun += 1;
            }
        }
        assert_eq!(begun, (NETWORK_MAX.bytes as u32).div_ceil(MUCH));
        assert_eq!(pending.admit(START, &address(2, 1)), HandshakeAdmission::Welcome, "of another network");
        for network in 2..1_000 {
            if pending.admit(START, &address(network, 1)) == HandshakeAdmission::Welcome {
                pending.push(START, peer(10_000 + network), &address(network, 1), MUCH);
            }
        }
        let held = pending.all.bytes;
        assert!(held < ALL_MAX.bytes + u64::from(MUCH), "{held}");
        assert_eq!(pending.admit(START, &address(2_000, 1)), HandshakeAdmission::InPlaceOf(peer(0)));
    }

    /// The totals equal the sum of the pending handshakes, in whatever order these come, grow and go.
    #[test]
    fn the_sums_match_the_pending_handshakes() {
        let (mut pending, mut rng) = (PendingHandshakes::default(), crate::rng::Rng::new(1));
        let mut model = BTreeMap::new();
        for step in 0..20_000_u64 {
            let index = rng.below(300);
            let remote = address(index % 7, (index % 5) as u8);
            let bytes = rng.below(4) * 5_000;
            match model.entry(index) {
                Entry::Vacant(place) => {
                    pending.push(START + Duration::from_micros(step), peer(index), &remote, bytes);
                    place.insert((step, remote, bytes));
                }
                Entry::Occupied(place) if rng.below(2) == 0 => {
                    pending.update(peer(index), None);
                    place.remove();
                }
                Entry::Occupied(mut place) => {
                    pending.update(peer(index), Some(bytes));
                    place.get_mut().2 = bytes;
                }
            }
            let sum = |is_in: &dyn Fn(&SocketAddr) -> bool| {
                let those = model.values().filter(|(_, remote, _)| is_in(remote));
                those.fold(Taken::default(), |sum, (_, _, bytes)| Taken {
                    count: sum.count + 1,
                    bytes: sum.bytes + u64::from(*bytes),
                })
            };
            assert_eq!(pending.all, sum(&|_| true));
            let of = |party: Option<&Party>| party.map_or(Taken::default(), |party| party.taken);
            let network = Network::of(&remote);
            assert_eq!(of(pending.networks.get(&network)), sum(&|it| Network::of(it) == network));
            assert_eq!(of(pending.addresses.get(&remote.ip())), sum(&|it| it.ip() == remote.ip()));
            let most = (0..7).map(|at| Network::of(&address(at, 0))).filter(|it| pending.networks.contains_key(it));
            let most = most.max_by_key(|network| (sum(&|it| Network::of(it) == *network).bytes, *network));
            let oldest =
                |network| model.iter().filter(move |(_, it)| Network::of(&it.1) == network).min_by_key(|(_, it)| it.0);
            assert_eq!(pending.victim(), most.and_then(oldest).map(|(index, _)| peer(*index)));
        }
        assert_eq!((pending.entries.len(), pending.places.len()), (model.len(), model.len()));
        assert_eq!(pending.by_bytes.len(), pending.networks.len());
    }
}
