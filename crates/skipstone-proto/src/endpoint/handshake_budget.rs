//! The budget of handshakes that may begin, by the work that they cost: an RSA signature costs tens of times as much as
//! one of ECDSA. The budget is three quarters of a core. While much of it is left, every host gets the handshakes that
//! it asks for. The less is left, the fewer handshakes a host may have begun and still get another: new clients are
//! accepted during a flood, and a flooding host delays itself (Choudhury and Hahne, 1998: dynamic thresholds). A host
//! whose handshakes fail gets few in any case. Only addresses that a cookie has validated have an account.

use super::accounts::Accounts;
use crate::allowance::{Allowance, CoreShare};
use crate::cost::Cost;
use crate::network::Network;
use crate::time::Time;
use core::net::{IpAddr, SocketAddr};

/// The accounts of all hosts that began handshakes lately.
#[derive(Debug, Default)]
pub(super) struct HandshakeBudget {
    addresses: Accounts<IpAddr>,
    networks: Accounts<Network>,
    sites: Accounts<Network>,
    spent: Allowance,
    /// Time of the last call of `admits`.
    now: Time,
}

/// With the burst, a restarted server has its thousands of clients back within seconds.
const SHARE: CoreShare = CoreShare { per_micro: Cost::nanos(750), burst: Cost::micros(750_000) };
/// Of how many parts of the burst the last ones halve, each, how many handshakes a host may have begun.
const PARTS: i64 = 52;
/// From this number of parts on, the budget has no limit: 2^13.
const OPEN_PARTS: i64 = 13;
/// From this number of failures on, an address gets few handshakes; the same holds for a network.
const FAILED_OF_ADDRESS: u32 = 16;
const FAILED_OF_NETWORK: u32 = 256;
const FEW_OF_ADDRESS: u32 = 8;
const FEW_OF_NETWORK: u32 = 64;

impl HandshakeBudget {
    /// Whether a host may begin another.
    pub(super) fn admits(&mut self, now: Time, remote: &SocketAddr) -> bool {
        self.now = now;
        let address = self.addresses.look(now, &remote.ip().to_canonical());
        let network = self.networks.look(now, &Network::of(remote));
        let site = self.sites.look(now, &Network::site_of(remote));
        let is_suspect = address.failed >= FAILED_OF_ADDRESS && address.begun >= FEW_OF_ADDRESS
            || network.failed >= FAILED_OF_NETWORK && network.begun >= FEW_OF_NETWORK;
        let left = self.spent.left(now, &SHARE);
        if is_suspect || !left.is_left() {
            return false;
        }
        let parts = left.as_nanos() / (SHARE.burst.as_nanos() / PARTS);
        if parts >= OPEN_PARTS {
            return true;
        }
        let share = 1 << parts;
        address.begun < share && network.begun < 2 * share && site.begun < 4 * share
    }

    /// Charges a handshake that began.
    pub(super) fn on_begun(&mut self, remote: &SocketAddr, cost: Cost) {
        self.spent.charge(cost);
        self.note(remote, |account| account.begun = account.begun.saturating_add(1));
    }

    /// A client was accepted: while it stays, its handshake is not charged to its host.
    pub(super) fn on_joined(&mut self, remote: &SocketAddr) {
        self.note(remote, |account| account.begun = account.begun.saturating_sub(1));
    }

    /// An accepted client has left. One that joins and leaves constantly has begun as many handshakes as one that is
    /// never accepted.
    pub(super) fn on_left(&mut self, remote: &SocketAddr) {
        self.note(remote, |account| account.begun = account.begun.saturating_add(1));
    }

    /// Counts a handshake that failed.
    pub(super) fn on_failed(&mut self, remote: &SocketAddr) {
        self.note(remote, |account| account.failed = account.failed.saturating_add(1));
    }

    fn note(&mut self, remote: &SocketAddr, change: impl Fn(&mut super::accounts::Account)) {
        self.addresses.note(self.now, remote.ip().to_canonical(), &change);
        self.networks.note(self.now, Network::of(remote), &change);
        self.sites.note(self.now, Network::site_of(remote), change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::HANDSHAKE_COST;
    use crate::time::Duration;

    /// The cost of a signature with RSA of 4,096 bits.
    const DEAR: Cost = Cost::micros(5_500);
    const START: Time = Time::from_micros(5_000_000);

    fn address(network: u32, host: u8) -> SocketAddr {
        let [_, a, b, c] = network.to_be_bytes();
        ([a, b, c, host], 5_000).into()
    }

    /// How many of `tries` handshakes begin at one moment; `ends` is called after each.
    fn begin(
        budget: &mut HandshakeBudget,
        now: Time,
        remote: &SocketAddr,
        tries: u32,
        ends: impl Fn(&mut HandshakeBudget),
    ) -> u32 {
        begin_each(HANDSHAKE_COST, budget, now, remote, tries, ends)
    }

    /// Begins handshakes that each have this cost.
    fn begin_each(
        each: Cost,
        budget: &mut HandshakeBudget,
        now: Time,
        remote: &SocketAddr,
        tries: u32,
        ends: impl Fn(&mut HandshakeBudget),
    ) -> u32 {
        let mut begun = 0;
        for _ in 0..tries {
            if budget.admits(now, remote) {
                budget.on_begun(remote, each);
                ends(budget);
                begun += 1;
            }
        }
        begun
    }

    /// How many begin within `seconds`, with one try every 100 µs, from the networks in turn.
    fn begin_for(each: Cost, budget: &mut HandshakeBudget, seconds: u64, networks: core::ops::Range<u32>) -> u32 {
        let tries = networks.cycle().zip(0..seconds * 10_000);
        let at = |step: u64| START + Duration::from_micros(step * 100);
        tries.map(|(network, step)| begin_each(each, budget, at(step), &address(network, 1), 1, |_| ())).sum()
    }

    #[test]
    fn handshakes_use_at_most_three_quarters_of_a_core() {
        for (micros, per_second) in [(300, 2_500), (1_000, 750), (5_500, 136)] {
            let (mut budget, each) = (HandshakeBudget::default(), Cost::micros(micros));
            let at_once: u32 =
                (0..9_000).map(|host| begin_each(each, &mut budget, START, &address(host, 1), 1, |_| ())).sum();
            assert!(at_once.abs_diff(per_second) <= 1, "{at_once} at {micros} us");
            let later = begin_for(each, &mut budget, 4, 0..4_000);
            assert!(later.abs_diff(4 * per_second) <= 4 + per_second / 20, "{later} at {micros} us");
        }
    }

    #[test]
    fn a_successful_address_gets_most_of_the_budget_but_not_all() {
        let mut budget = HandshakeBudget::default();
        let alone = begin(&mut budget, START, &address(1, 1), 10_000, |_| ());
        assert!((1_500..2_200).contains(&alone), "{alone}");
        let neighbour = begin(&mut budget, START, &address(1, 2), 10_000, |_| ());
        assert!(neighbour >= FEW_OF_ADDRESS, "{neighbour} of the same network");
        let other = begin(&mut budget, START, &address(2, 1), 10_000, |_| ());
        assert!(other >= FEW_OF_ADDRESS, "{other} of another one");
    }

    #[test]
    fn a_flood_of_costly_handshakes_from_many_networks_blocks_no_new_client() {
        let mut budget = HandshakeBudget::default();
        let mut let_in = 0;
        for millis in 0..10_000 {
            let now = START + Duration::from_millis(millis);
            let flood = address((millis % 60) as u32, (millis % 251) as u8);
            begin_each(DEAR, &mut budget, now, &flood, 1, |_| ());
            if millis >= 2_000 && millis % 100 == 0 {
                let_in += begin_each(DEAR, &mut budget, now, &address(1_000 + millis as u32, 1), 1, |_| ());
            }
        }
        assert_eq!(let_in, 80, "each at its first try");
    }

    #[test]
    fn an_admitted_client_is_not_charged_to_its_host() {
        let mut budget = HandshakeBudget::default();
        let mut let_in = 0;
        for millis in 0..10_000 {
            let now = START + Duration::from_millis(millis);
            begin_each(DEAR, &mut budget, now, &address((millis % 60) as u32, (millis % 251) as u8), 1, |_| ());
            // Five in a second, all of one address.
            if millis >= 2_000 && millis % 200 == 0 {
                let remote = address(7_000, 1);
                let_in += begin_each(DEAR, &mut budget, now, &remote, 1, |budget| budget.on_joined(&remote));
            }
        }
        assert_eq!(let_in, 40, "each at its first try");
    }

    #[test]
    fn clients_that_reconnect_constantly_block_no_new_client() {
        let mut budget = HandshakeBudget::default();
        let mut let_in = 0;
        for millis in 0..10_000 {
            let now = START + Duration::from_millis(millis);
            let flood = address((millis % 60) as u32, (millis % 251) as u8);
            begin_each(DEAR, &mut budget, now, &flood, 1, |budget| {
                budget.on_joined(&flood);
                budget.on_left(&flood);
            });
            if millis >= 2_000 && millis % 100 == 0 {
                let_in += begin_each(DEAR, &mut budget, now, &address(1_000 + millis as u32, 1), 1, |_| ());
            }
        }
        assert_eq!(let_in, 80, "each at its first try");
    }

    #[test]
    fn the_networks_of_one_site_share_one_limit() {
        let (mut budget, mut begun) = (HandshakeBudget::default(), 0);
        for millis in 0..10_000_u64 {
            let now = START + Duration::from_millis(millis);
            let of_site = SocketAddr::new([0x2001, 0xDB8, 7, (257 * millis) as u16, 0, 0, 0, 1].into(), 5_000);
            begun += begin_each(DEAR, &mut budget, now, &of_site, 1, |_| ());
            if millis >= 2_000 && millis % 100 == 0 {
                let other = SocketAddr::new([0x2001, 0xDB8, 8, millis as u16, 0, 0, 0, 1].into(), 5_000);
                assert_eq!(begin_each(DEAR, &mut budget, now, &other, 1, |_| ()), 1, "of another site, at {millis} ms");
            }
        }
        assert!(begun > 1_000, "{begun}: alone it has nearly all");
    }

    #[test]
    fn a_failing_network_gets_few_handshakes_and_recovers_later() {
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
    fn a_network_whose_addresses_each_fail_rarely_is_limited_too() {
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
