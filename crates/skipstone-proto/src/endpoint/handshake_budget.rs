//! The budget of handshakes that may begin: each costs some 300 us. A host whose handshakes fail gets few more, and a
//! part of the budget is reserved for hosts that have begun few, so that new clients are accepted during a flood. Only
//! addresses that a cookie has validated have an account.

use super::accounts::Accounts;
use crate::network::Network;
use crate::time::{Duration, Time};
use core::net::{IpAddr, SocketAddr};

/// The accounts of all hosts that began handshakes lately.
#[derive(Debug, Default)]
pub(super) struct HandshakeBudget {
    addresses: Accounts<IpAddr>,
    networks: Accounts<Network>,
    /// Start of the present second, and handshakes begun in it.
    begun: (Time, u32),
    /// Time of the last call of `admits`.
    now: Time,
}

/// With this limit, a flood gets no more than three quarters of a core, and a restarted server has its thousands of
/// clients back within seconds.
const BEGUN_PER_SECOND_MAX: u32 = 2_500;
/// The part of these that is reserved for addresses and networks that began few.
const RESERVED: u32 = 500;
const FEW_OF_ADDRESS: u32 = 8;
const FEW_OF_NETWORK: u32 = 64;
/// From so many failures on, a host gets no more than few.
const FAILED_OF_ADDRESS: u32 = 16;
const FAILED_OF_NETWORK: u32 = 256;

impl HandshakeBudget {
    /// Whether a host may begin another.
    pub(super) fn admits(&mut self, now: Time, remote: &SocketAddr) -> bool {
        self.now = now;
        if now.since(self.begun.0) >= Duration::from_secs(1) {
            self.begun = (now, 0);
        }
        let address = self.addresses.look(now, &remote.ip().to_canonical());
        let network = self.networks.look(now, &Network::of(remote));
        let (is_few, is_few_of_network) = (address.begun < FEW_OF_ADDRESS, network.begun < FEW_OF_NETWORK);
        let is_suspect = address.failed >= FAILED_OF_ADDRESS && !is_few;
        let is_suspect_network = network.failed >= FAILED_OF_NETWORK && !is_few_of_network;
        let left = BEGUN_PER_SECOND_MAX.saturating_sub(self.begun.1);
        let has_share = left > RESERVED || left > 0 && is_few && is_few_of_network || left > RESERVED / 2 && is_few;
        !is_suspect && !is_suspect_network && has_share
    }

    /// Counts a handshake that began.
    pub(super) fn on_begun(&mut self, remote: &SocketAddr) {
        self.begun.1 += 1;
        self.note(remote, |account| account.begun = account.begun.saturating_add(1));
    }

    /// Counts a handshake that failed.
    pub(super) fn on_failed(&mut self, remote: &SocketAddr) {
        self.note(remote, |account| account.failed = account.failed.saturating_add(1));
    }

    fn note(&mut self, remote: &SocketAddr, change: impl Fn(&mut super::accounts::Account)) {
        self.addresses.note(self.now, remote.ip().to_canonical(), &change);
        self.networks.note(self.now, Network::of(remote), change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_micros(5_000_000);

    fn address(network: u32, host: u8) -> SocketAddr {
        let [_, a, b, c] = network.to_be_bytes();
        ([a, b, c, host], 5_000).into()
    }

    /// How many of so many tries begin, at one moment; each comes to nothing at once if `fails`.
    fn begin(
        budget: &mut HandshakeBudget,
        now: Time,
        remote: &SocketAddr,
        tries: u32,
        ends: impl Fn(&mut HandshakeBudget),
    ) -> u32 {
        let mut begun = 0;
        for _ in 0..tries {
            if budget.admits(now, remote) {
                budget.on_begun(remote);
                ends(budget);
                begun += 1;
            }
        }
        begun
    }

    #[test]
    fn so_many_begin_in_a_second() {
        let mut budget = HandshakeBudget::default();
        let all: u32 = (0..5_000).map(|network| begin(&mut budget, START, &address(network, 1), 1, |_| ())).sum();
        assert_eq!(all, BEGUN_PER_SECOND_MAX);
        assert_eq!(begin(&mut budget, START + Duration::from_secs(1), &address(9_000, 1), 1, |_| ()), 1);
    }

    #[test]
    fn one_address_that_succeeds_gets_nearly_all_and_leaves_some_for_others() {
        let mut budget = HandshakeBudget::default();
        assert_eq!(begin(&mut budget, START, &address(1, 1), 10_000, |_| ()), BEGUN_PER_SECOND_MAX - RESERVED);
        assert_eq!(begin(&mut budget, START, &address(1, 2), 10_000, |_| ()), FEW_OF_ADDRESS, "of the same network");
        assert_eq!(begin(&mut budget, START, &address(2, 1), 10_000, |_| ()), FEW_OF_ADDRESS);
    }

    #[test]
    fn one_whose_handshakes_fail_gets_few_and_is_forgiven_later() {
        let mut budget = HandshakeBudget::default();
        let remote = address(1, 1);
        let failing =
            |budget: &mut HandshakeBudget, now| begin(budget, now, &remote, 10_000, |budget| budget.on_failed(&remote));
        assert_eq!(failing(&mut budget, START), FAILED_OF_ADDRESS);
        for second in 1..20 {
            assert!(failing(&mut budget, START + Duration::from_secs(second)) <= FEW_OF_ADDRESS, "second {second}");
        }
        assert_eq!(begin(&mut budget, START + Duration::from_secs(60), &remote, 100, |_| ()), 100);
    }

    #[test]
    fn a_network_of_which_each_address_fails_a_little_gets_few_too() {
        let mut budget = HandshakeBudget::default();
        let mut begun = 0;
        for second in 0..10 {
            let now = START + Duration::from_secs(second);
            for host in 0..=255 {
                let remote = address(1, host);
                let count = begin(&mut budget, now, &remote, 100, |budget| budget.on_failed(&remote));
                begun += if second > 0 { count } else { 0 };
            }
        }
        assert!(begun <= 9 * FEW_OF_NETWORK, "{begun} in nine seconds");
    }
}
