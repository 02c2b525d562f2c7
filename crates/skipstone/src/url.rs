//! Server URLs: `skip://host:port#sha256=FINGERPRINT`, `skip+dtls://` and `wss://` the same, `skip+plain://host:port`,
//! `ws://host:port/path`, `tcp://host:port`.

use crate::security::Fingerprint;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// A server's address as a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The carrier, and whether it is encrypted.
    pub scheme: Scheme,
    /// Name or address, without brackets; an address of IPv6 with its zone if it has one (`fe80::1%eth0`).
    pub host: String,
    /// Port of both UDP and TCP.
    pub port: u16,
    /// The fingerprint that the server's certificate must have, from the part after `#sha256=`.
    pub pin: Option<Fingerprint>,
    /// The whole URL, as written.
    pub url: String,
}

/// Carrier of a connection, and whether the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Scheme {
    /// `skip`: UDP, encrypted.
    Encrypted,
    /// `skip+plain`: UDP, in clear.
    Plain,
    /// `skip+dtls`: DTLS over UDP.
    Dtls,
    /// `ws`: WebSocket, in clear.
    WebSocket,
    /// `wss`: WebSocket over TLS.
    SecureWebSocket,
    /// `tcp`: TCP without WebSocket, in clear.
    Tcp,
}

impl Scheme {
    /// The feature of this crate that the scheme needs and this build lacks.
    pub(crate) fn missing_feature(self) -> Option<&'static str> {
        match self {
            Scheme::Encrypted if !cfg!(feature = "__tls") => Some("ring or aws-lc"),
            Scheme::WebSocket | Scheme::Tcp if !cfg!(feature = "websocket") => Some("websocket"),
            Scheme::SecureWebSocket if !cfg!(all(feature = "websocket", feature = "__tls")) => {
                Some("websocket, with ring or aws-lc")
            }
            Scheme::Dtls if !cfg!(all(feature = "dtls", feature = "__tls")) => Some("dtls, with ring or aws-lc"),
            _ => None,
        }
    }

    /// Whether the server sends a certificate, which the client verifies.
    pub(crate) fn is_authenticated(self) -> bool {
        matches!(self, Scheme::Encrypted | Scheme::Dtls | Scheme::SecureWebSocket)
    }

    /// Whether the connection is a TCP stream.
    pub fn is_stream(self) -> bool {
        matches!(self, Scheme::WebSocket | Scheme::SecureWebSocket | Scheme::Tcp)
    }

    fn name(self) -> &'static str {
        match self {
            Scheme::Encrypted => "skip",
            Scheme::Plain => "skip+plain",
            Scheme::Dtls => "skip+dtls",
            Scheme::WebSocket => "ws",
            Scheme::SecureWebSocket => "wss",
            Scheme::Tcp => "tcp",
        }
    }
}

/// Resolves a name to its addresses. This may take long, and runs in its own thread.
pub(crate) type Resolve = Box<dyn FnOnce(&str, u16) -> Result<Vec<SocketAddr>, UrlError> + Send>;

/// Asks the system for the addresses of a name, at least one, in the order in which the system would try them.
pub(crate) fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, UrlError> {
    let unresolved = |why: String| UrlError::Unresolved(host.into(), why);
    let found = (host, port).to_socket_addrs().map_err(|error| unresolved(error.to_string()))?;
    let found: Vec<SocketAddr> = found.map(reachable).collect();
    if found.is_empty() { Err(unresolved("the name server knows none".into())) } else { Ok(found) }
}

/// The address by which a client reaches a server that listens at this one: "all addresses" (`0.0.0.0`, `[::]`) become
/// this machine's loopback address, and an IPv4 address in IPv6 form becomes one of IPv4.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        // An IPv6 address keeps its zone.
        IpAddr::V6(_) => return address,
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The default port of a URL.
const PORT_DEFAULT: u16 = 7777;

/// An error in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlError {
    /// The URL has no scheme, or one that this version does not support.
    Scheme(String),
    /// A scheme that this program was built without: the URL, and the feature that it needs.
    NotBuilt(String, &'static str),
    /// No host, or a port that is not a number.
    Address(String),
    /// The text after `#` is not a fingerprint, or the scheme has no certificate to compare the fingerprint with.
    Pin(String),
    /// `local:`, which is a server without sockets.
    Local(String),
    /// The name has no address.
    Unresolved(String, String),
}

impl std::fmt::Display for UrlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UrlError::Scheme(url) => write!(
                f,
                "'{url}' begins with none of skip:// (encrypted), skip+dtls://, skip+plain://, wss://, ws:// and \
                 tcp:// (example: skip://127.0.0.1:7777)"
            ),
            UrlError::NotBuilt(url, feature) => {
                write!(f, "'{url}': this program was built without that; build the library with its feature {feature}")
            }
            UrlError::Address(url) => write!(f, "'{url}' has no host and port (example: skip://127.0.0.1:7777)"),
            UrlError::Pin(url) => write!(
                f,
                "'{url}': behind # only skip://, skip+dtls:// and wss:// URLs have something, the fingerprint that the \
                 server prints: #sha256= and 64 hexadecimal digits"
            ),
            UrlError::Local(url) => {
                write!(f, "'{url}' is a server without sockets: only its own process reaches it, by a local client")
            }
            UrlError::Unresolved(host, why) => write!(f, "'{host}' has no address: {why}"),
        }
    }
}

impl std::error::Error for UrlError {}

impl std::str::FromStr for Target {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = match url.split_once("://") {
            Some(("skip", rest)) => (Scheme::Encrypted, rest),
            Some(("skip+plain", rest)) => (Scheme::Plain, rest),
            Some(("skip+dtls", rest)) => (Scheme::Dtls, rest),
            Some(("ws", rest)) => (Scheme::WebSocket, rest),
            Some(("wss", rest)) => (Scheme::SecureWebSocket, rest),
            Some(("tcp", rest)) => (Scheme::Tcp, rest),
            _ if url == "local:" => return Err(UrlError::Local(url.into())),
            _ => return Err(UrlError::Scheme(url.into())),
        };
        if let Some(feature) = scheme.missing_feature() {
            return Err(UrlError::NotBuilt(url.into(), feature));
        }
        let bad = || UrlError::Address(url.into());
        let (rest, pin) = match rest.split_once('#') {
            Some((rest, pin)) if scheme.is_authenticated() => {
                (rest, Some(fingerprint(pin).ok_or_else(|| UrlError::Pin(url.into()))?))
            }
            Some(_) => return Err(UrlError::Pin(url.into())),
            None => (rest, None),
        };
        let authority = rest.split('/').next().unwrap_or_default();
        let (host, port) = match authority.strip_prefix('[') {
            Some(v6) => v6.split_once(']').ok_or_else(bad)?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| bad())?,
            None if port.is_empty() => PORT_DEFAULT,
            None => return Err(bad()),
        };
        if host.is_empty() {
            return Err(bad());
        }
        Ok(Target { scheme, host: with_plain_zone(host), port, pin, url: url.into() })
    }
}

/// The zone of an IPv6 address begins with `%25` in URLs (RFC 6874), and with `%` where a person typed it.
fn with_plain_zone(host: &str) -> String {
    match host.split_once("%25") {
        Some((ip, zone)) if !zone.is_empty() => format!("{ip}%{zone}"),
        _ => host.into(),
    }
}

/// `sha256=` and 32 bytes in hexadecimal digits, colons between them allowed.
fn fingerprint(pin: &str) -> Option<Fingerprint> {
    pin.strip_prefix("sha256=")?.parse().ok()
}

impl Target {
    /// A target from its parts.
    pub fn new(scheme: Scheme, host: &str, port: u16) -> Self {
        let bracketed = if host.contains(':') { format!("[{}]", host.replace('%', "%25")) } else { host.into() };
        Target { scheme, host: host.into(), port, pin: None, url: format!("{}://{bracketed}:{port}", scheme.name()) }
    }

    /// The same scheme, path and fingerprint at another host and port.
    pub fn moved(&self, host: &str, port: u16) -> Self {
        let there = Target::new(self.scheme, host, port);
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let path = rest.find(['/', '#']).map_or("", |at| &rest[at..]);
        Target { pin: self.pin, url: there.url.clone() + path, ..there }
    }

    /// The same server, whose certificate must have this fingerprint. Only `skip`, `skip+dtls` and `wss` can check it;
    /// a connection by any other scheme is then refused.
    pub fn pinned(self, pin: Fingerprint) -> Self {
        let bare = self.url.split('#').next().unwrap_or_default();
        let url = format!("{bare}#sha256={pin}");
        Target { pin: Some(pin), url, ..self }
    }

    /// The address to send to; the first if the name has several. This call waits for the name server.
    ///
    /// # Errors
    /// The name has no address, or the name server does not answer.
    pub fn resolve(&self) -> Result<SocketAddr, UrlError> {
        resolve(&self.host, self.port).map(|addresses| addresses[0])
    }

    /// The address, if the URL has an address instead of a name.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        Some(reachable(SocketAddr::new(self.host.parse().ok()?, self.port)))
    }

    /// The host as certificates name it: without a zone, which only this machine knows.
    pub(crate) fn certified_host(&self) -> &str {
        self.host.split('%').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "__tls", feature = "websocket"))]
    fn urls_with_names_and_both_address_families_are_parsed() {
        let target = |url: &str| url.parse::<Target>().map(|target| (target.scheme, target.host, target.port));
        assert_eq!(target("skip://localhost:1"), Ok((Scheme::Encrypted, "localhost".into(), 1)));
        assert_eq!(target("skip+plain://localhost"), Ok((Scheme::Plain, "localhost".into(), PORT_DEFAULT)));
        assert_eq!(target("skip+plain://127.0.0.1:80"), Ok((Scheme::Plain, "127.0.0.1".into(), 80)));
        assert_eq!(target("ws://[::1]:9/play"), Ok((Scheme::WebSocket, "::1".into(), 9)));
    }

    #[test]
    fn a_zone_is_parsed_in_both_forms_and_written_in_the_url_form() {
        let host = |url: &str| url.parse::<Target>().expect(url).host;
        assert_eq!(host("skip+plain://[fe80::1%eth0]:1"), "fe80::1%eth0");
        assert_eq!(host("skip+plain://[fe80::1%25eth0]:1"), "fe80::1%eth0");
        assert_eq!(host("skip+plain://[fe80::1%2]:1"), "fe80::1%2");
        assert_eq!(host("skip+plain://[fe80::1%25]:1"), "fe80::1%25", "an interface with this number");
        let target = Target::new(Scheme::Plain, "fe80::1%2", 7);
        assert_eq!((target.url.as_str(), target.certified_host()), ("skip+plain://[fe80::1%252]:7", "fe80::1"));
        assert_eq!(target.url.parse(), Ok(target));
        let scoped = std::net::SocketAddrV6::new("fe80::1".parse().expect("an address"), 7, 0, 1);
        assert_eq!(resolve("fe80::1%1", 7), Ok(vec![scoped.into()]));
    }

    #[test]
    fn the_unspecified_address_means_this_host_and_mapped_ipv4_is_ipv4() {
        for (host, reached) in [
            ("0.0.0.0", "127.0.0.1:7"),
            ("::", "[::1]:7"),
            ("::ffff:127.0.0.2", "127.0.0.2:7"),
            ("::ffff:0.0.0.0", "127.0.0.1:7"),
            ("fe80::1", "[fe80::1]:7"),
        ] {
            let target = Target::new(Scheme::Plain, host, 7);
            assert_eq!(target.address(), Some(reached.parse().expect("an address")));
            assert_eq!(resolve(host, 7).expect(host), [reached.parse().expect("an address")]);
        }
    }

    #[test]
    #[cfg(feature = "websocket")]
    fn a_bad_url_is_refused_with_a_good_example() {
        for bad in [
            "127.0.0.1:7777",
            "http://a:1",
            "skip+plain://",
            "skip+plain://:1",
            "ws://a:x",
            "ws://[::1",
            "ws://a:99999",
        ] {
            let error = bad.parse::<Target>().expect_err(bad).to_string();
            assert!(error.contains("skip://127.0.0.1:7777") && error.contains(bad), "{error}");
        }
    }

    #[test]
    #[cfg(all(feature = "__tls", feature = "websocket"))]
    fn a_fingerprint_follows_the_url_and_must_be_complete() {
        let target = Target::new(Scheme::Encrypted, "::1", 7777).pinned(Fingerprint([0xAB; 32]));
        assert_eq!(target.url, format!("skip://[::1]:7777#sha256={}", "ab".repeat(32)));
        assert_eq!(target.url.parse(), Ok(target));
        let colons = format!("skip://a#sha256={}AB", "AB:".repeat(31));
        assert_eq!(colons.parse::<Target>().expect("a good URL").pin, Some(Fingerprint([0xAB; 32])));
        for bad in ["skip://a#", "skip://a#sha256=ab", "skip://a#md5=ab", "skip+plain://a#sha256=ab", "ws://a#x"] {
            assert_eq!(bad.parse::<Target>(), Err(UrlError::Pin(bad.into())));
        }
        let odd = format!("skip://a#sha256={}x", "ab".repeat(31));
        assert_eq!(odd.parse::<Target>(), Err(UrlError::Pin(odd)));
    }

    #[test]
    fn a_scheme_without_its_feature_is_refused_with_the_feature_name() {
        for (url, feature, is_built) in [
            ("skip://a:1", "ring or aws-lc", cfg!(feature = "__tls")),
            ("ws://a:1", "websocket", cfg!(feature = "websocket")),
            ("skip+dtls://a:1", "dtls, with ring or aws-lc", cfg!(all(feature = "dtls", feature = "__tls"))),
            ("skip+plain://a:1", "", true),
        ] {
            let refused = url.parse::<Target>().err().map(|error| error.to_string());
            assert_eq!(refused.is_none(), is_built, "{refused:?}");
            assert!(refused.is_none_or(|words| words.contains(feature) && words.contains(url)));
        }
    }
}
