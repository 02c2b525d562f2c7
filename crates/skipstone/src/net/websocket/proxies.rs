//! The proxies that a server trusts to say whose connections they pass on, and whom their headers name.

use crate::net::network_list::NetworkList;
use std::net::IpAddr;
use std::sync::Arc;

/// Trusted proxies, by address or network; by default none.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<NetworkList>);

impl TrustedProxies {
    /// Trusts these: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
    ///
    /// # Errors
    /// The text that is none.
    pub fn new(texts: &[String]) -> Result<Self, String> {
        Ok(TrustedProxies(Arc::new(NetworkList::new(texts)?)))
    }

    /// Whether this is the address of a trusted proxy.
    pub fn has(&self, address: IpAddr) -> bool {
        self.0.has(address)
    }

    /// The client that a trusted proxy's request comes from, by its headers, each the value of one line in their order. Every
    /// proxy on the way adds an address at the end, and the client itself may have written anything before: so the last
    /// address that is no trusted proxy's counts.
    #[cfg(feature = "websocket")]
    pub fn client<'a>(&self, lists: impl DoubleEndedIterator<Item = &'a str>) -> Option<IpAddr> {
        let addresses = lists.rev().flat_map(|list| list.rsplit(',')).map(hop);
        // An address that cannot be read hides all before it.
        addresses.map_while(|address| address).find(|address| !self.has(*address))
    }
}

/// An entry of `X-Forwarded-For`, or of `Forwarded` (RFC 7239): `for="[2001:db8::7]:4711";proto=https`.
#[cfg(feature = "websocket")]
fn hop(entry: &str) -> Option<IpAddr> {
    let pair = |pair: &str| {
        let (name, value) = pair.trim().split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"').to_owned())
    };
    let text = if entry.contains('=') { entry.split(';').find_map(pair)? } else { entry.trim().to_owned() };
    let address = text.parse().ok();
    let with_port = || text.parse().ok().map(|address: std::net::SocketAddr| address.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    address.or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(all(test, feature = "websocket"))]
mod tests {
    use super::*;

    fn trusting(texts: &[&str]) -> TrustedProxies {
        TrustedProxies::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).expect("good networks")
    }

    #[test]
    fn the_last_address_that_is_no_proxys_is_the_client() {
        let some = trusting(&["10.0.0.0/8"]);
        for (lines, client) in [
            (&["203.0.113.7"][..], Some("203.0.113.7")),
            (&["1.1.1.1, 203.0.113.7"], Some("203.0.113.7")),
            (&["1.1.1.1, 203.0.113.7, 10.0.0.1"], Some("203.0.113.7")),
            (&["1.1.1.1", "203.0.113.7,10.0.0.1"], Some("203.0.113.7")),
            (&["2001:db8::7"], Some("2001:db8::7")),
            (&["203.0.113.7:4711"], Some("203.0.113.7")),
            (&["for=203.0.113.7;proto=https, for=\"10.0.0.1\""], Some("203.0.113.7")),
            (&["For=\"[2001:db8::7]:4711\""], Some("2001:db8::7")),
            (&["by=10.0.0.1; for=\"[2001:db8::7]\""], Some("2001:db8::7")),
            (&["203.0.113.7, unknown, 10.0.0.1"], None),
            (&["for=_hidden"], None),
            (&["10.0.0.1"], None),
            (&[""], None),
            (&[], None),
        ] {
            let found = some.client(lines.iter().copied());
            assert_eq!(found, client.map(|text| text.parse().expect("an address")), "{lines:?}");
        }
    }
}
