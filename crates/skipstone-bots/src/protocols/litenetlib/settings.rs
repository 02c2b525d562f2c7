//! The settings of a client, from its target.

use crate::protocols::row::Opening;
use crate::target::TargetError;
use core::time::Duration;
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use std::net::{IpAddr, SocketAddr};

/// The settings of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientSettings {
    /// Channels of each kind; more than the server has are never delivered.
    pub(super) channels: u8,
    /// LiteNetLib 1, whose packets `first_version` has.
    pub(super) is_first_version: bool,
    /// The time between two updates.
    pub(super) update: Duration,
    /// Without a packet for this long, the server counts as gone.
    pub(super) timeout: Duration,
    /// The client's time of day, made up, when its clock is at zero.
    ticks: i64,
}

/// Midnight of 1 January 2026 in .NET's ticks of 100 ns since the year 1.
const TICKS_2026: i64 = 639_028_224_000_000_000;
const TICKS_PER_MICROSECOND: i64 = 10;

impl ClientSettings {
    pub(super) fn new(opening: &Opening<'_>) -> Result<Self, TargetError> {
        let target = opening.target;
        Ok(ClientSettings {
            channels: target.number("channels", 1, 1..=64)? as u8,
            is_first_version: target.number("version", 2, 1..=2)? == 1,
            update: Duration::from_millis(target.number("update", 15, 1..=1000)?),
            timeout: Duration::from_millis(target.number("timeout", 5_000, 100..=3_600_000)?),
            // Less than a second by the seed: the time of a request tells connections from the same port apart.
            ticks: TICKS_2026 + i64::from(Rng::new(opening.seed).below(10_000_000)),
        })
    }

    /// The time of day for the wire.
    pub(super) fn ticks(&self, now: Time) -> i64 {
        self.ticks.saturating_add((now.as_micros() as i64).saturating_mul(TICKS_PER_MICROSECOND))
    }
}

/// The server's address as `sockaddr` has it, which the request repeats.
pub(super) fn socket_address(address: SocketAddr) -> Vec<u8> {
    const FAMILY_V4: u16 = 2;
    const FAMILY_V6: u16 = 23;
    let (family, size) = if address.is_ipv4() { (FAMILY_V4, 16) } else { (FAMILY_V6, 28) };
    let mut bytes = [family.to_le_bytes(), address.port().to_be_bytes()].concat();
    match address.ip() {
        IpAddr::V4(address) => bytes.extend_from_slice(&address.octets()),
        IpAddr::V6(address) => bytes.extend_from_slice(&[&[0; 4][..], &address.octets()].concat()),
    }
    bytes.resize(size, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_size_that_servers_accept() {
        let address = |text: &str| socket_address(text.parse().expect("an address"));
        assert_eq!(address("127.0.0.1:258"), [2, 0, 1, 2, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(address("[::1]:9").len(), 28);
    }
}
