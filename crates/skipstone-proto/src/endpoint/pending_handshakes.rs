//! Pending encrypted handshakes. Each holds memory, and costs a signature to begin; so their number and their bytes are
//! limited, more strictly for one network, and most strictly for one address.

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
    /// Bytes that it held when it was last looked at.
    bytes: u32,
}

/// What some of the handshakes take together.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    count: usize,
    bytes: u64,
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
    fn of<'a>(entries: impl Iterator<Item = &'a PendingHandshake>) -> Self {
        entries.fold(Taken::default(), |taken, entry| Taken {
            count: taken.count + 1,
            bytes: taken.bytes + u64::from(entry.bytes),
        })
    }

    fn reaches(self, max: Taken) -> bool {
        self.count >= max.count || self.bytes >= max.bytes
    }
}

impl PendingHandshakes {
    /// Removes the handshakes that are no longer pending; `bytes_of` says what each of the others holds.
    pub(super) fn prune(&mut self, bytes_of: impl Fn(PeerId) -> Option<u32>) {
        self.queue.retain_mut(|entry| bytes_of(entry.peer).map(|bytes| entry.bytes = bytes).is_some());
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
        if Taken::of(self.queue.iter().filter(of_address)).reaches(ADDRESS_MAX) {
            replaced(self.queue.iter().find(of_address))
        } else if Taken::of(self.queue.iter().filter(of_network)).reaches(NETWORK_MAX) {
            replaced(self.queue.iter().find(of_network))
        } else if Taken::of(self.queue.iter()).reaches(ALL_MAX) {
            self.victim().map_or(HandshakeAdmission::Refused, HandshakeAdmission::InPlaceOf)
        } else {
            HandshakeAdmission::Welcome
        }
    }

    /// The oldest handshake of the network that holds the most. Call [`PendingHandshakes::prune`] before.
    pub(super) fn victim(&self) -> Option<PeerId> {
        let mut bytes = BTreeMap::new();
        for entry in &self.queue {
            *bytes.entry(Network::of(&entry.remote)).or_insert(0) += u64::from(entry.bytes);
        }
        let (network, _) = bytes.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        self.queue.iter().find(|entry| Network::of(&entry.remote) == network).map(|entry| entry.peer)
    }

    /// The same handshake, if it has had its grace period: a faster client is likely to be accepted.
    pub(super) fn overdue_victim(&self, now: Time) -> Option<PeerId> {
        let victim = self.victim()?;
        let entry = self.queue.iter().find(|entry| entry.peer == victim)?;
        (now.since(entry.began) >= GRACE).then_some(victim)
    }

    /// Adds a handshake that began.
    pub(super) fn push(&mut self, now: Time, peer: PeerId, remote: &SocketAddr, bytes: u32) {
        self.queue.push_back(PendingHandshake { peer, remote: *remote, began: now, bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a usual handshake holds.
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
    fn one_network_has_its_share_and_its_oldest_goes_after_a_second() {
        let mut pending = PendingHandshakes::default();
        for index in 0..NETWORK_MAX.count as u32 {
            assert_eq!(pending.admit(START, &address(1, index as u8)), HandshakeAdmission::Welcome);
            pending.push(START, peer(index), &address(1, index as u8), BYTES);
        }
        assert_eq!(pending.admit(START, &address(1, 9)), HandshakeAdmission::Refused);
        assert_eq!(pending.admit(START, &address(2, 9)), HandshakeAdmission::Welcome, "of another network");
        assert_eq!(pending.admit(START + GRACE, &address(1, 9)), HandshakeAdmission::InPlaceOf(peer(0)));
        pending.prune(|peer| (peer.index != 0).then_some(BYTES));
        assert_eq!(pending.admit(START + GRACE, &address(1, 9)), HandshakeAdmission::Welcome);
    }

    #[test]
    fn when_all_places_are_taken_the_network_with_the_most_gives_one() {
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
    fn one_address_leaves_room_for_its_neighbours() {
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
    fn handshakes_that_hold_much_are_fewer() {
        const MUCH: u32 = 100_000;
        let mut pending = PendingHandshakes::default();
        let mut begun = 0;
        for index in 0..1_000_u32 {
            if pending.admit(START, &address(1, index as u8)) == HandshakeAdmission::Welcome {
                // Small at first, and grown by the time of the next.
                pending.push(START, peer(index), &address(1, index as u8), BYTES);
                pending.prune(|_| Some(MUCH));
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
        let held = Taken::of(pending.queue.iter()).bytes;
        assert!(held < ALL_MAX.bytes + u64::from(MUCH), "{held}");
        assert_eq!(pending.admit(START, &address(2_000, 1)), HandshakeAdmission::InPlaceOf(peer(0)));
    }
}
