//! Networks of hosts: the address prefix that one user of the internet can be expected to have alone. Shares and
//! budgets are by network, because a single address is one of very many in IPv6.

use core::net::{IpAddr, SocketAddr};

/// A network: of IPv4 its first 24 bits, of IPv6 its first 56.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// Of IPv4, and of IPv4 addresses in IPv6 form.
    V4([u8; 3]),
    /// Of IPv6.
    V6([u8; 7]),
}

impl Network {
    /// The network of an address.
    pub fn of(address: &SocketAddr) -> Self {
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Network::V4([a, b, c])
            }
            IpAddr::V6(ip) => {
                let [a, b, c, d, e, f, g, ..] = ip.octets();
                Network::V6([a, b, c, d, e, f, g])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
