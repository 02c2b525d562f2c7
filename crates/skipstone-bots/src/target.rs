//! Where a bot connects: `scheme://host:port/path?option=value`.

use skipstone_lab::units::Allowed;
use std::collections::BTreeMap;
use thiserror::Error;

/// A server's address as a script or a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotTarget {
    /// The protocol's name in the table.
    pub scheme: String,
    /// Name or address, without brackets.
    pub host: String,
    /// The port; each protocol requires one.
    pub port: u16,
    /// The path with its slash, empty if there is none. The table refuses one where the protocol has none.
    pub path: String,
    /// Options of the protocol. Each is one that its row in the table lists.
    pub options: BTreeMap<String, String>,
    /// After `#`, such as a certificate's fingerprint. The table refuses one where the protocol has none.
    pub fragment: String,
    /// The whole, as written.
    pub url: String,
}

/// A mistake in a target.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    /// No `scheme://`.
    #[error("{0}: a target is scheme://host:port, such as udp://127.0.0.1:9000; schemes: {1}")]
    NoScheme(String, String),
    /// A scheme that no row has.
    #[error("{0}: no protocol is called that; schemes: {1}")]
    UnknownScheme(String, String),
    /// No host, or no port.
    #[error("{0}: a host and a port of 1 to 65535 are needed, such as udp://127.0.0.1:9000")]
    Address(String),
    /// An option that the protocol lacks.
    #[error("{0}: the protocol has no option {1:?}; {2}")]
    UnknownOption(String, String, String),
    /// Something else that the protocol cannot use.
    #[error("{0}: {1}")]
    BadTarget(String, String),
    /// A value that the protocol cannot use.
    #[error("{0}: option {1}: {2}")]
    BadOption(String, String, String),
}

impl BotTarget {
    /// Splits a target. Names of the scheme and of options are not checked here, but in the table of protocols.
    pub(crate) fn split(url: &str) -> Option<Result<Self, TargetError>> {
        let (scheme, rest) = url.split_once("://")?;
        Some(split_rest(url, scheme, rest).ok_or_else(|| TargetError::Address(url.into())))
    }

    /// The value of an option, or the default.
    pub fn option<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.options.get(name).map_or(default, String::as_str)
    }

    /// The value of an option as a number in a range, or the default.
    pub fn number(&self, name: &str, default: u64, range: std::ops::RangeInclusive<u64>) -> Result<u64, TargetError> {
        let Some(text) = self.options.get(name) else { return Ok(default) };
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(self.bad_option(name, format!("a number of {} to {} is needed", range.start(), range.end()))),
        }
    }

    /// The error of an option whose value is wrong.
    pub fn bad_option(&self, name: &str, why: impl Into<String>) -> TargetError {
        TargetError::BadOption(self.url.clone(), name.into(), why.into())
    }
}

/// Whether a bot may connect there: anywhere, unless there is a list. Whatever connects on behalf of a script asks
/// this.
pub(crate) fn check_allowed(allowed: Option<&[Allowed]>, host: &str, port: u16) -> Result<(), String> {
    let Some(allowed) = allowed.filter(|allowed| !allowed.iter().any(|one| one.is(host, port))) else { return Ok(()) };
    let only: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    Err(format!("this agent may not connect to {host}, only to {}: start it with --allow {host}", only.join(", ")))
}

fn split_rest(url: &str, scheme: &str, rest: &str) -> Option<BotTarget> {
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = authority.rsplit_once(':')?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port: u16 = port.parse().ok().filter(|port| *port != 0)?;
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let option = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    (!host.is_empty()).then(|| BotTarget {
        scheme: scheme.into(),
        host: host.into(),
        port,
        path: path.into(),
        options: pairs.map(option).collect(),
        fragment: fragment.into(),
        url: url.into(),
    })
}

/// `%20` and the like as bytes; a `%` before anything else stays, and what is no UTF-8 then is replaced.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let hex = hex.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(url: &str) -> BotTarget {
        BotTarget::split(url).expect("a scheme").expect("an address")
    }

    #[test]
    fn a_target_has_host_port_path_and_options() {
        let target = split("ws://[::1]:7000/game?key=a%20b&empty#pin");
        assert_eq!((target.scheme.as_str(), target.host.as_str(), target.port), ("ws", "::1", 7000));
        assert_eq!((target.path.as_str(), target.fragment.as_str()), ("/game", "pin"));
        assert_eq!((target.option("key", ""), target.option("empty", "x"), target.option("no", "x")), ("a b", "", "x"));
        assert_eq!(split("udp://h:1?a=%+5%2B%4&b=%").option("a", ""), "%+5+%4");
    }

    #[test]
    fn a_target_without_host_or_port_is_an_error() {
        for url in ["udp://", "udp://host", "udp://:9", "udp://host:0", "udp://host:70000", "udp://host:x"] {
            assert!(BotTarget::split(url).expect("a scheme").is_err(), "{url}");
        }
        assert!(BotTarget::split("host:9").is_none());
    }

    #[test]
    fn an_option_out_of_its_range_is_an_error() {
        let target = split("udp://h:1?mtu=90");
        assert_eq!(target.number("mtu", 1200, 64..=1500), Ok(90));
        assert_eq!(target.number("none", 1200, 64..=1500), Ok(1200));
        assert!(target.number("mtu", 1200, 100..=1500).is_err());
    }
}
