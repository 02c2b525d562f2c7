//! Host names that requests to a server may have. A page whose own name was made to resolve to the server's address
//! (DNS rebinding) sends its own name in the Host header, which no script can change.

use std::net::IpAddr;
use std::sync::Arc;

/// The accepted names in `Host` headers; by default all.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts(
    #[cfg_attr(
        not(any(test, feature = "websocket", all(feature = "webtransport", feature = "__tls"))),
        expect(dead_code, reason = "nobody asks without WebSockets")
    )]
    Option<Arc<[Host]>>,
);

/// A name, or an address, which has several spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    Name(String),
}

impl Host {
    /// `None` for an empty name.
    fn parse(text: &str) -> Option<Self> {
        // A name that ends with a dot is the same, with the root of DNS spelled out (RFC 1034, section 3.1).
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.is_empty() {
            return None;
        }
        Some(match text.parse::<IpAddr>() {
            Ok(address) => Host::Address(address.to_canonical()),
            Err(_) => Host::Name(text.to_ascii_lowercase()),
        })
    }
}

impl AllowedHosts {
    /// Serves only these names or addresses, without ports. An empty list means all.
    pub fn only(hosts: &[String]) -> Self {
        AllowedHosts((!hosts.is_empty()).then(|| hosts.iter().filter_map(|host| Host::parse(host)).collect()))
    }

    /// Whether a request with this `Host` header is served, whatever its port.
    #[cfg(any(test, feature = "websocket", all(feature = "webtransport", feature = "__tls")))]
    pub(crate) fn admits(&self, host: &[u8]) -> bool {
        let Some(allowed) = &self.0 else { return true };
        let Ok(host) = str::from_utf8(host) else { return false };
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        Host::parse(name).is_some_and(|host| allowed.contains(&host))
    }

    /// The error in a configured host, with its remedy; `None` if it is valid.
    pub(crate) fn complaint(host: &str) -> Option<&'static str> {
        let is_address = host.parse::<IpAddr>().is_ok();
        let is_name = Host::parse(host).is_some()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        (!is_address && !is_name).then_some("a name or an address without a port, as in game.example")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_hosts_are_served_unless_a_list_is_given() {
        assert!(AllowedHosts::default().admits(b"evil.example"));
        let some = AllowedHosts::only(&["game.example".into(), "::1".into()]);
        for (host, may) in [
            (&b"game.example"[..], true),
            (b"Game.Example:7777", true),
            (b"[::1]:7777", true),
            (b"[::1]", true),
            (b"game.example.evil.example", false),
            (b"127.0.0.1", false),
            (b"", false),
            (b"\xff", false),
        ] {
            assert_eq!(some.admits(host), may, "{}", String::from_utf8_lossy(host));
        }
        let spelled = AllowedHosts::only(&["Game.Example.".into(), "0:0::1".into(), "::ffff:10.0.0.1".into()]);
        for (host, may) in [
            (&b"game.example"[..], true),
            (b"game.example.:7777", true),
            (b"GAME.EXAMPLE.", true),
            (b"game.example..", false),
            (b"[::1]", true),
            (b"[0:0:0:0:0:0:0:1]:7777", true),
            (b"10.0.0.1:80", true),
            (b"[::ffff:a00:1]", true),
            (b"10.0.0.2", false),
            (b".", false),
            (b":80", false),
        ] {
            assert_eq!(spelled.admits(host), may, "{}", String::from_utf8_lossy(host));
        }
        assert!(
            ["game.example", "game.example.", "::1", "10.0.0.1"]
                .iter()
                .all(|good| AllowedHosts::complaint(good).is_none())
        );
        for bad in ["", ".", "game.example:80", "https://game.example", "a/b", "*"] {
            assert!(AllowedHosts::complaint(bad).is_some(), "{bad}");
        }
    }
}
