//! Networks of hosts: the address prefix that one internet user can be expected to have exclusively. Shares and budgets
//! are per network, because one IPv6 user has very many addresses.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A network: the first 24 bits of an IPv4 address, the first 56 of IPv6. It is one number, because every table of
/// unauthenticated requests is keyed by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(u64);

/// The bit that distinguishes IPv4 networks from IPv6 networks.
const V4: u64 = 1 << 56;
/// Bits that distinguish the IPv6 networks of one site.
const SITE_BITS: u32 = 8;

impl Network {
    /// The network of an address. An IPv4 address in IPv6 form is one of IPv4.
    pub fn of(address: &SocketAddr) -> Self {
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => Network(V4 | u64::from(ip.to_bits() >> 8)),
            IpAddr::V6(ip) => Network((ip.to_bits() >> 72) as u64),
        }
    }

    /// The first network of the address's site, which represents all of them: an IPv6 site has 48 bits and thus 256
    /// networks, which may belong to one user (RFC 6177). An IPv4 network is its own site.
    pub(crate) fn site_of(address: &SocketAddr) -> Self {
        let network = Network::of(address);
        if network.0 & V4 != 0 { network } else { Network(network.0 >> SITE_BITS << SITE_BITS) }
    }
}

/// Whether an address has no meaning on the internet: loopback, link-local, private (RFC 1918, RFC 4193), or shared by
/// a provider's customers (RFC 6598). Behind it is a machine of the operator's own, such as a proxy that passes on many
/// players.
pub(crate) fn is_local(address: &SocketAddr) -> bool {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            let is_shared = first == 100 && second & 0xC0 == 64;
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || is_shared
        }
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// Formatted as a prefix: `192.0.2.0/24`, `2001:db8:0:100::/56`.
impl fmt::Debug for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 & V4 {
            0 => write!(formatter, "{}/56", Ipv6Addr::from_bits(u128::from(self.0) << 72)),
            _ => write!(formatter, "{}/24", Ipv4Addr::from_bits((self.0 << 8) as u32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_not_globally_routable_is_local() {
        let is = |ip: &str| is_local(&SocketAddr::new(ip.parse().expect("an address"), 1));
        let local = ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.7.7", "169.254.1.1", "100.64.0.1", "100.127.9.9"];
        assert!(local.into_iter().chain(["::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1"]).all(is));
        let global = ["192.0.2.1", "100.63.9.9", "100.128.0.1", "172.32.0.1", "2001:db8::1", "::ffff:192.0.2.1"];
        assert!(!global.into_iter().any(is));
    }

    #[test]
    fn both_forms_of_an_address_belong_to_the_same_network() {
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:5000".parse().expect("an address");
        assert_eq!(Network::of(&mapped), Network::of(&([192, 0, 2, 77], 1).into()));
        let near: SocketAddr = "[2001:db8:0:1f::1]:5000".parse().expect("an address");
        let same: SocketAddr = "[2001:db8:0:2f::2]:5000".parse().expect("an address");
        let other: SocketAddr = "[2001:db8:0:100::2]:5000".parse().expect("an address");
        assert_eq!(Network::of(&near), Network::of(&same));
        assert_ne!(Network::of(&near), Network::of(&other));
        let said = [&mapped, &near, &other].map(|address| format!("{:?}", Network::of(address)));
        assert_eq!(said, ["192.0.2.0/24", "2001:db8::/56", "2001:db8:0:100::/56"]);
        let low: SocketAddr = "[::2:0:0:0:0]:5000".parse().expect("an address");
        assert_ne!(Network::of(&low), Network::of(&([0, 0, 2, 1], 1).into()), "the same bits of the other family");
    }
}
