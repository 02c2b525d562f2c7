//! Origins of the web pages that may open WebSockets. A browser names the origin of the page (RFC 6454), and no script
//! can change it; other programs name no origin, or any. The check therefore protects a server's players, whose
//! browsers another site's page could use, and not the server.

use std::sync::Arc;

/// The origins from which browsers may connect; by default all. A client that names no origin is not a web page, and
/// may connect.
#[derive(Clone, Debug, Default)]
pub struct AllowedOrigins(
    #[cfg_attr(
        not(any(test, feature = "websocket", all(feature = "webtransport", feature = "__tls"))),
        expect(dead_code, reason = "nobody asks without browsers")
    )]
    Option<Arc<[String]>>,
);

impl AllowedOrigins {
    /// Allows only these origins, written as browsers do: `https://game.example`, `http://localhost:8080`. An empty
    /// list means all.
    pub fn only(origins: &[String]) -> Self {
        AllowedOrigins((!origins.is_empty()).then(|| origins.into()))
    }

    /// Whether a page of this origin may connect.
    #[cfg(any(test, feature = "websocket", all(feature = "webtransport", feature = "__tls")))]
    pub(crate) fn admits(&self, origin: &[u8]) -> bool {
        let Some(allowed) = &self.0 else { return true };
        allowed.iter().any(|allowed| allowed.as_bytes().eq_ignore_ascii_case(origin))
    }

    /// The error in a configured origin, with its remedy; `None` if the origin is valid.
    pub(crate) fn complaint(origin: &str) -> Option<&'static str> {
        let Some((scheme, host)) = origin.split_once("://") else {
            return Some("an origin that begins with its scheme, as in https://game.example");
        };
        let is_host = |letter: char| letter.is_ascii_graphic() && !"/?#@\\".contains(letter);
        if scheme.is_empty() || host.is_empty() || !host.chars().all(is_host) {
            return Some("an origin of a host and maybe a port, without a path, as in https://game.example:8443");
        }
        let default_port =
            [("http", ":80"), ("https", ":443")].iter().any(|(of, port)| scheme == *of && host.ends_with(port));
        default_port.then_some("an origin without the scheme's default port, which browsers leave out")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_origins_may_connect_unless_a_list_is_given() {
        assert!(AllowedOrigins::default().admits(b"https://evil.example"));
        assert!(AllowedOrigins::only(&[]).admits(b"null"));
        let some = AllowedOrigins::only(&["https://game.example".into(), "http://localhost:8080".into()]);
        for (origin, may) in [
            (&b"https://game.example"[..], true),
            (b"HTTPS://Game.Example", true),
            (b"http://localhost:8080", true),
            (b"http://localhost:8081", false),
            (b"http://game.example", false),
            (b"https://game.example.evil.example", false),
            (b"null", false),
            (b"", false),
        ] {
            assert_eq!(some.admits(origin), may, "{}", String::from_utf8_lossy(origin));
        }
    }

    #[test]
    fn an_impossible_origin_is_refused() {
        for good in ["https://game.example", "http://localhost:8080", "app://game", "http://[::1]:8080"] {
            assert_eq!(AllowedOrigins::complaint(good), None, "{good}");
        }
        for bad in ["game.example", "https://", "://x", "https://game.example/", "https://a b", "https://x:443", "*"] {
            assert!(AllowedOrigins::complaint(bad).is_some(), "{bad}");
        }
    }
}
