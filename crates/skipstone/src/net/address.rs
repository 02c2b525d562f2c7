//! Addresses of datagrams, and address families of a socket: a dual-stack socket sees IPv4 peers as `::ffff:a.b.c.d`;
//! everything above this folder sees plain IPv4 addresses.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

/// Which peers a socket can talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
    Dual,
}

impl Family {
    /// The address to hand to the kernel, or `None` if this socket cannot reach that family.
    pub(super) fn to_kernel(self, address: SocketAddr) -> Option<SocketAddr> {
        match (self, plain(address)) {
            (Family::V4, address @ SocketAddr::V4(_)) => Some(address),
            (Family::V6 | Family::Dual, address @ SocketAddr::V6(_)) => Some(address),
            (Family::Dual, SocketAddr::V4(v4)) => {
                Some(SocketAddrV6::new(v4.ip().to_ipv6_mapped(), v4.port(), 0, 0).into())
            }
            (Family::V4, SocketAddr::V6(_)) | (Family::V6, SocketAddr::V4(_)) => None,
        }
    }
}

/// The two addresses of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressPair {
    /// This side's address: the one at which the datagram arrived, or from which it is to leave. `None` if the socket
    /// is bound to one address, or the system is to choose.
    pub local: Option<IpAddr>,
    /// The peer's.
    pub remote: SocketAddr,
}

impl From<SocketAddr> for AddressPair {
    fn from(remote: SocketAddr) -> AddressPair {
        AddressPair { local: None, remote }
    }
}

/// The address as everything above sees it: IPv4-mapped IPv6 becomes IPv4.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    let SocketAddr::V6(v6) = address else {
        return address;
    };
    match v6.ip().to_ipv4_mapped() {
        Some(v4) => SocketAddr::new(IpAddr::V4(v4), v6.port()),
        None => address,
    }
}
