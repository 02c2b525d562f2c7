//! Limits on sessions of DTLS or QUIC without a connection: for unproven addresses, for hosts that have proven their
//! address, and for each network.

use super::crowd::Crowd;
use skipstone_proto::{Duration, Network, Time};
use std::collections::BTreeSet;

/// The sessions without a connection, by number: a lower one is older.
#[derive(Debug)]
pub(super) struct Places {
    limits: PlaceLimits,
    strangers: BTreeSet<u32>,
    proven: Crowd<u32>,
    /// The time at which the last session would have begun at a steady rate (RFC 3290's leaky bucket, as a time).
    begun_at: Time,
}

/// The limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceLimits {
    /// Sessions of unproven addresses.
    pub(super) strangers: usize,
    /// Sessions of hosts that have proven their address.
    pub(super) proven: usize,
    /// Sessions of one network.
    pub(super) network: u32,
}

/// Time limit of a handshake once the address is proven, and of an unproven address before: as long as clients keep
/// trying. A DTLS session that ended sooner would lose the secret of its cookie, which the client continues to repeat
/// (decision 0261). Under load the oldest unproven DTLS session is displaced.
pub(super) const HANDSHAKE_LIFE: Duration = Duration::from_secs(10);

impl Places {
    pub(super) fn new(limits: PlaceLimits) -> Self {
        Places { limits, strangers: BTreeSet::new(), proven: Crowd::default(), begun_at: Time::ZERO }
    }

    /// The sessions that have a place.
    pub(super) fn count(&self) -> usize {
        self.strangers.len() + self.proven.len()
    }

    /// Whether another session may begin now: one for each interval, and as many at once as there are places. In a
    /// flood each unproven session thus keeps its place for as many intervals as there are places.
    pub(super) fn may_begin(&mut self, now: Time, interval: Duration) -> bool {
        let next = self.begun_at.max(now) + interval;
        let is_in_time = next <= now + interval * self.limits.strangers as u32;
        if is_in_time {
            self.begun_at = next;
        }
        is_in_time
    }

    /// Whether another unproven session would displace one.
    pub(super) fn is_full(&self) -> bool {
        self.strangers.len() >= self.limits.strangers
    }

    /// An unproven session begins. Returns the session that it displaces.
    #[cfg_attr(not(feature = "dtls"), allow(dead_code, reason = "QUIC has proofs of addresses instead"))]
    pub(super) fn begin(&mut self, number: u32) -> Option<u32> {
        let oldest = if self.is_full() { self.strangers.pop_first() } else { None };
        self.enter(number);
        oldest
    }

    /// An unproven session begins, if there is a free place.
    pub(super) fn enter(&mut self, number: u32) {
        assert!(!self.is_full(), "whoever enters has asked whether there is room");
        self.strangers.insert(number);
    }

    /// An address was proven. Returns the session that must be removed: this one if its network has too many, else the
    /// oldest of the network with the most.
    pub(super) fn prove(&mut self, number: u32, network: Network) -> Option<u32> {
        self.strangers.remove(&number);
        self.proven.enter(number, network);
        if self.proven.len_of(network) > self.limits.network as usize {
            return Some(number);
        }
        if self.proven.len() > self.limits.proven { self.proven.oldest_of_largest() } else { None }
    }

    /// A session has a connection, or has ended.
    pub(super) fn leave(&mut self, number: u32) {
        self.strangers.remove(&number);
        self.proven.leave(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRANGERS_MAX: usize = 256;
    const NETWORK_MAX: u32 = 64;
    const LIMITS: PlaceLimits = PlaceLimits { strangers: STRANGERS_MAX, proven: 256, network: NETWORK_MAX };

    fn network(number: u8) -> Network {
        Network::of(&([number, 0, 0, 1], 1).into())
    }

    #[test]
    fn the_oldest_unauthenticated_stream_is_closed() {
        let mut places = Places::new(LIMITS);
        assert!((0..STRANGERS_MAX as u32).all(|number| places.begin(number).is_none()));
        assert_eq!(places.begin(1_000), Some(0));
        places.leave(1);
        assert_eq!(places.begin(1_001), None);
    }

    #[test]
    fn one_network_gets_a_quarter_and_at_capacity_the_largest_network_loses_one() {
        let mut places = Places::new(LIMITS);
        assert!((0..NETWORK_MAX).all(|number| places.prove(number, network(1)).is_none()));
        assert_eq!(places.prove(100, network(1)), Some(100));
        places.leave(100);
        for number in 0..3 * NETWORK_MAX {
            assert_eq!(places.prove(200 + number, network(2 + (number / (NETWORK_MAX - 1)) as u8)), None);
        }
        assert_eq!(places.prove(900, network(9)), Some(0), "the oldest of the network with the most");
    }
}
