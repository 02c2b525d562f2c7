//! Servers that a program on behalf of others may connect to.

use std::net::IpAddr;
use std::str::FromStr;

/// A server: its host, and its port unless any may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    host: String,
    port: Option<u16>,
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mistake = || format!("'{text}' is no server: write HOST or HOST:PORT, an IPv6 address in brackets");
        let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, rest))) => (host, rest),
            Some(None) => return Err(mistake()),
            None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => Some(port.parse().map_err(|_| mistake())?),
            None if port.is_empty() => None,
            None => return Err(mistake()),
        };
        let is_host = !host.is_empty() && !host.contains(['/', '@', '*', ' ']);
        is_host.then(|| Allowed { host: host.to_ascii_lowercase(), port }).ok_or_else(mistake)
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            Some(port) if self.host.contains(':') => write!(f, "[{}]:{port}", self.host),
            Some(port) => write!(f, "{}:{port}", self.host),
            None if self.host.contains(':') => write!(f, "[{}]", self.host),
            None => f.write_str(&self.host),
        }
    }
}

impl Allowed {
    /// Loopback.
    pub fn this_machine() -> Vec<Self> {
        ["localhost", "127.0.0.1", "::1"].map(|host| Allowed { host: host.into(), port: None }).into()
    }

    /// Whether this server is it. A name is no address, even if it leads there.
    pub fn is(&self, host: &str, port: u16) -> bool {
        let is_same = match (self.host.parse::<IpAddr>(), host.parse::<IpAddr>()) {
            (Ok(own), Ok(other)) => own == other,
            _ => self.host.eq_ignore_ascii_case(host),
        };
        is_same && self.port.is_none_or(|own| own == port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_allowed_by_its_name_or_address_and_by_its_port_if_there_is_one() {
        let is = |rule: &str, host: &str, port| rule.parse::<Allowed>().unwrap().is(host, port);
        assert!(is("Game.example", "game.EXAMPLE", 7777));
        assert!(!is("game.example", "game.example.evil", 7777));
        assert!(!is("game.example", "evil-game.example", 7777));
        assert!(is("10.0.0.1:7777", "10.0.0.1", 7777) && !is("10.0.0.1:7777", "10.0.0.1", 7778));
        assert!(is("[::1]:5", "0:0::1", 5) && is("[::1]", "::1", 9) && !is("[::1]", "::2", 9));
        assert!(!is("localhost", "127.0.0.1", 1), "a name may lead elsewhere");
    }

    #[test]
    fn what_is_no_server_is_refused_and_the_rest_is_written_as_it_is_read() {
        for text in ["", ":5", "a:b", "a:99999", "[::1", "[::1]x", "http://a", "*", "a b", "u@h"] {
            assert!(text.parse::<Allowed>().unwrap_err().contains("HOST:PORT"), "{text}");
        }
        for text in ["a", "a:5", "[::1]:5", "[::1]"] {
            assert_eq!(text.parse::<Allowed>().unwrap().to_string(), text);
        }
    }
}
