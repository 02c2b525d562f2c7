//! The proxies that a server trusts to name the clients of their connections, and the parsing of their headers.

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
    /// The text that is neither an address nor a network.
    pub fn new(texts: &[String]) -> Result<Self, String> {
        Ok(TrustedProxies(Arc::new(NetworkList::new(texts)?)))
    }

    /// Whether this is the address of a trusted proxy.
    pub fn has(&self, address: IpAddr) -> bool {
        self.0.has(address)
    }

    /// The client that a trusted proxy's request comes from, by its fields `Forwarded` or `X-Forwarded-For`. A proxy
    /// writes one of the two; where both are present, the client wrote one of them, and it is unknown which: neither
    /// counts.
    #[cfg(feature = "websocket")]
    pub fn client(&self, fields: &tungstenite::http::HeaderMap) -> Option<IpAddr> {
        // A line that is not text hides those before it, as an unreadable address does.
        let lines = |name: &str| -> Vec<String> {
            fields.get_all(name).iter().map(|line| line.to_str().unwrap_or("?").to_owned()).collect()
        };
        match (lines("forwarded"), lines("x-forwarded-for")) {
            (forwarded, older) if older.is_empty() => {
                self.last_stranger(forwarded.iter().rev().flat_map(|line| elements(line)).map(forwarded_for))
            }
            (forwarded, older) if forwarded.is_empty() => self
                .last_stranger(older.iter().rev().flat_map(|line| line.rsplit(',')).map(|entry| address(entry.trim()))),
            _ => None,
        }
    }

    /// Every proxy on the path adds an address at the end, and the client itself may have written anything before: the
    /// last address that is not a trusted proxy's counts. The addresses come from the last to the first.
    #[cfg(feature = "websocket")]
    fn last_stranger(&self, addresses: impl Iterator<Item = Option<IpAddr>>) -> Option<IpAddr> {
        // An address that cannot be read hides all before it.
        addresses.map_while(|address| address).find(|address| !self.has(*address))
    }
}

/// The elements of a line of `Forwarded`, the last one first. A comma within quotes is not a separator: the quotes may
/// contain a client's value, such as a host. An element with unterminated quotes is invalid, and is then the only
/// element.
#[cfg(feature = "websocket")]
fn elements(line: &str) -> Vec<&str> {
    let (mut elements, mut begin, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                elements.push(&line[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    elements.push(if is_quoted { "" } else { &line[begin..] });
    elements.reverse();
    elements
}

/// The client that an element of `Forwarded` (RFC 7239) names: `for="[2001:db8::7]:4711";proto=https`.
#[cfg(feature = "websocket")]
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pair = |pair: &str| {
        let (name, value) = pair.trim().split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"').to_owned())
    };
    address(&element.split(';').find_map(pair)?)
}

/// An address, possibly with a port or in brackets.
#[cfg(feature = "websocket")]
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().ok().map(|address: std::net::SocketAddr| address.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    text.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(all(test, feature = "websocket"))]
mod tests {
    use super::*;

    fn trusting(texts: &[&str]) -> TrustedProxies {
        TrustedProxies::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).expect("good networks")
    }

    #[test]
    fn the_last_untrusted_address_is_the_client() {
        const X: &str = "x-forwarded-for";
        const F: &str = "forwarded";
        let some = trusting(&["10.0.0.0/8"]);
        for (lines, client) in [
            (&[(X, "203.0.113.7")][..], Some("203.0.113.7")),
            (&[(X, "1.1.1.1, 203.0.113.7")], Some("203.0.113.7")),
            (&[(X, "1.1.1.1, 203.0.113.7, 10.0.0.1")], Some("203.0.113.7")),
            (&[(X, "1.1.1.1"), (X, "203.0.113.7,10.0.0.1")], Some("203.0.113.7")),
            (&[(X, "2001:db8::7")], Some("2001:db8::7")),
            (&[(X, "203.0.113.7:4711")], Some("203.0.113.7")),
            (&[(F, "for=203.0.113.7;proto=https, for=\"10.0.0.1\"")], Some("203.0.113.7")),
            (&[(F, "for=1.1.1.1"), (F, "for=203.0.113.7"), (F, "for=10.0.0.1")], Some("203.0.113.7")),
            (&[(F, "For=\"[2001:db8::7]:4711\"")], Some("2001:db8::7")),
            (&[(F, "by=10.0.0.1; for=\"[2001:db8::7]\"")], Some("2001:db8::7")),
            // A value chosen by the client is quoted, and is not an element of its own.
            (&[(F, "for=203.0.113.7;host=\"x, for=1.1.1.1\"")], Some("203.0.113.7")),
            (&[(F, "for=203.0.113.7;host=\"x\\\", for=1.1.1.1\"")], Some("203.0.113.7")),
            // Quotes that a client left open extend into the part that the proxy added.
            (&[(F, "for=1.1.1.1;host=\", for=203.0.113.7")], None),
            (&[(F, "for=1.1.1.1;host=\", for=\"[2001:db8::7]\"")], None),
            (&[(X, "\", 203.0.113.7")], Some("203.0.113.7")),
            (&[(X, "203.0.113.7, unknown, 10.0.0.1")], None),
            (&[(X, "for=203.0.113.7")], None),
            (&[(F, "203.0.113.7")], None),
            (&[(F, "for=_hidden")], None),
            (&[(F, "for=203.0.113.7"), (X, "203.0.113.7")], None),
            (&[(X, "1.1.1.1"), (X, "\u{e9}"), (X, "10.0.0.1")], None),
            (&[(X, "10.0.0.1")], None),
            (&[(X, "")], None),
            (&[], None),
        ] {
            let mut fields = tungstenite::http::HeaderMap::new();
            for (name, value) in lines {
                fields.append(*name, value.as_bytes().try_into().expect("a value"));
            }
            assert_eq!(some.client(&fields), client.map(|text| text.parse().expect("an address")), "{lines:?}");
        }
    }
}
