//! A list of addresses and networks, as an operator writes them: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Addresses and networks. A look-up costs one search for each length of prefix in the list, however long the list is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkList(BTreeMap<u32, BTreeSet<u128>>);

/// Bits of an address; IPv4 addresses have the prefix `::ffff:0:0/96`.
const ADDRESS_BITS: u32 = 128;
const IPV4_PREFIX_BITS: u32 = 96;

impl NetworkList {
    /// Reads a list.
    ///
    /// # Errors
    /// The text that is neither an address nor a network.
    pub fn new(texts: &[String]) -> Result<Self, String> {
        let mut list = NetworkList::default();
        for text in texts {
            let (bits, prefix) = read(text).ok_or_else(|| text.clone())?;
            list.0.entry(bits).or_default().insert(prefix);
        }
        Ok(list)
    }

    /// Whether the list contains this address, or a network that contains it.
    pub fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let least = if address.is_ipv4() { IPV4_PREFIX_BITS } else { 0 };
        self.0.range(least..).any(|(bits, prefixes)| prefixes.contains(&prefix_of(address, *bits)))
    }
}

fn read(text: &str) -> Option<(u32, u128)> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().ok()?;
    let before = if address.is_ipv4() { IPV4_PREFIX_BITS } else { 0 };
    let all = ADDRESS_BITS - before;
    let bits = before + bits.map_or(Some(all), |bits| bits.parse().ok().filter(|bits| *bits <= all))?;
    Some((bits, prefix_of(address, bits)))
}

/// The first bits of an address.
fn prefix_of(address: IpAddr, bits: u32) -> u128 {
    let all = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    all.checked_shr(ADDRESS_BITS - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_matches_by_itself_or_by_its_network() {
        let list = |texts: &[&str]| NetworkList::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let some = list(&["10.0.0.7", "192.168.0.0/16", "fd00::/8", "::1", "::ffff:198.51.100.1"]).expect("good ones");
        for (address, is_in) in [
            ("10.0.0.7", true),
            ("10.0.0.8", false),
            ("192.168.255.1", true),
            ("::ffff:192.168.1.1", true),
            ("192.169.0.1", false),
            ("198.51.100.1", true),
            ("fdff::1", true),
            ("fe00::1", false),
            ("::1", true),
            ("127.0.0.1", false),
        ] {
            assert_eq!(some.has(address.parse().expect("an address")), is_in, "{address}");
        }
        let v4 = IpAddr::from([127, 0, 0, 1]);
        assert!(list(&["0.0.0.0/0"]).expect("all of IPv4").has(v4));
        assert!(!list(&["::/0"]).expect("all of IPv6").has(v4));
        for bad in ["", "10.0.0.0/33", "10.0.0", "proxy.example", "10.0.0.0/", "::/129", "10.0.0.0/-1"] {
            assert_eq!(list(&[bad]), Err(bad.to_owned()));
        }
    }
}
