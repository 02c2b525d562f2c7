//! Access rules: the host names of the server, and the token.

use crate::door::Secret;
use std::net::{IpAddr, SocketAddr};

/// The rules of one dashboard.
pub(super) struct Access {
    listens_on_loopback: bool,
    /// Names in addition to `localhost` and addresses, in lower case.
    names: Vec<String>,
    secret: Option<Secret>,
}

impl Access {
    pub(super) fn new(listen: SocketAddr, secret: Option<Secret>, names: &[String]) -> Self {
        Access {
            listens_on_loopback: listen.ip().to_canonical().is_loopback(),
            names: names.iter().map(|name| name.to_lowercase()).collect(),
            secret,
        }
    }

    /// The token, if one is asked for.
    pub(super) fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    /// Whether the server answers to this `Host`. WHY: another site can make its own name resolve to this address (DNS
    /// rebinding), and browsers would treat the dashboard as part of that site. An address cannot be rebound.
    pub(super) fn is_host(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        if let Ok(address) = name.parse::<IpAddr>() {
            return !self.listens_on_loopback || address.to_canonical().is_loopback();
        }
        let name = name.to_lowercase();
        name == "localhost" || self.names.contains(&name)
    }

    /// Whether an `Origin` is this dashboard's own page, including behind a TLS proxy.
    pub(super) fn is_own_origin(origin: &str, host: &str) -> bool {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    }
}

/// The host without its port and without the brackets of IPv6.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    is_port.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(listen: &str) -> Access {
        Access::new(listen.parse().expect("an address"), None, &["Play.Example".into()])
    }

    #[test]
    fn unassigned_names_are_unknown() {
        let local = access("127.0.0.1:7779");
        for good in ["127.0.0.1:7779", "localhost", "LOCALHOST:1", "[::1]:7779", "127.0.0.2", "play.example:7779"] {
            assert!(local.is_host(good), "{good}");
        }
        let bad = [
            "evil.example",
            "127.0.0.1.evil.example:7779",
            "192.0.2.1",
            "localhost:x",
            "",
            "[::1",
            "localhost.",
            "a@localhost",
        ];
        bad.iter().for_each(|bad| assert!(!local.is_host(bad), "{bad}"));
        let open = access("0.0.0.0:7779");
        assert!(open.is_host("192.0.2.1:7779") && !open.is_host("evil.example"));
    }

    #[test]
    fn only_the_own_page_has_the_own_origin() {
        assert!(Access::is_own_origin("http://127.0.0.1:7779", "127.0.0.1:7779"));
        assert!(Access::is_own_origin("https://Play.example", "play.example"));
        for other in
            ["null", "http://127.0.0.1:80", "http://127.0.0.1:7779.evil", "127.0.0.1:7779", "file://127.0.0.1:7779"]
        {
            assert!(!Access::is_own_origin(other, "127.0.0.1:7779"), "{other}");
        }
    }
}
