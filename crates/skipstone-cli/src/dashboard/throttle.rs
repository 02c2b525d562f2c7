//! How often one address may ask, and how often it may give a wrong token.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Counts of each address in the present window of time.
#[derive(Debug)]
pub(super) struct Throttle {
    window: Duration,
    count_max: u32,
    counts: BTreeMap<IpAddr, Count>,
}

#[derive(Debug)]
struct Count {
    since: Instant,
    count: u32,
}

impl Throttle {
    /// So many in each window.
    pub(super) fn new(count_max: u32, window: Duration) -> Self {
        Throttle { window, count_max, counts: BTreeMap::new() }
    }

    /// Whether an address has used up its count.
    pub(super) fn is_over(&self, address: IpAddr, now: Instant) -> bool {
        let count = self.counts.get(&network(address));
        count.is_some_and(|count| count.count >= self.count_max && now < count.since + self.window)
    }

    /// Counts one.
    pub(super) fn count(&mut self, address: IpAddr, now: Instant) {
        if self.counts.len() >= ADDRESSES_MAX {
            let window = self.window;
            self.counts.retain(|_, count| now < count.since + window);
        }
        if self.counts.len() >= ADDRESSES_MAX {
            // More addresses at once than operators have: all begin anew, the flood as well.
            self.counts.clear();
        }
        let count = self.counts.entry(network(address)).or_insert(Count { since: now, count: 0 });
        if now >= count.since + self.window {
            *count = Count { since: now, count: 0 };
        }
        count.count += 1;
    }
}

/// Of IPv6 one customer has at least a /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

const ADDRESSES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    #[test]
    fn a_network_has_its_count_and_gets_it_back() {
        let (now, window) = (Instant::now(), Duration::from_secs(60));
        let mut throttle = Throttle::new(2, window);
        let address = |low: u128| IpAddr::V6(Ipv6Addr::from((0x2001_0db8 << 96) | low));
        throttle.count(address(1), now);
        assert!(!throttle.is_over(address(1), now));
        throttle.count(address(2), now);
        assert!(throttle.is_over(address(3), now) && !throttle.is_over(address(1 << 64), now));
        assert!(!throttle.is_over(address(1), now + window));
        throttle.count(address(1), now + window);
        assert!(!throttle.is_over(address(1), now + window));
    }

    #[test]
    fn a_flood_of_addresses_takes_bounded_memory() {
        let now = Instant::now();
        let mut throttle = Throttle::new(2, Duration::from_secs(60));
        (0..10_000_u32).for_each(|bits| throttle.count(IpAddr::V4(bits.into()), now));
        assert!(throttle.counts.len() <= ADDRESSES_MAX);
    }
}
