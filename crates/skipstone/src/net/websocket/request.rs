//! The head of an HTTP/1 request: its line, its fields, and its host (RFC 9112, sections 3 and 5).

use super::fields::only;
use std::borrow::Cow;
use tungstenite::Error;
use tungstenite::error::CapacityError;
use tungstenite::handshake::machine::TryParse;
use tungstenite::http::header::{HOST, HeaderMap};

/// The versions that are distinguished: a request of 1.0 cannot upgrade, and need not name a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpVersion {
    One0,
    One1,
}

/// A request without its body.
#[derive(Debug)]
pub(super) struct RequestHead<'h> {
    pub(super) method: &'h str,
    /// Path and query, or `*`.
    pub(super) target: Cow<'h, str>,
    pub(super) version: HttpVersion,
    /// Host, possibly with a port: from a target in absolute form, or else from the field `Host`. `None` in an HTTP/1.0
    /// request that has neither.
    pub(super) authority: Option<Cow<'h, str>>,
    pub(super) fields: HeaderMap,
}

/// Why a head is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestError {
    Malformed,
    TooManyFields,
    /// Neither HTTP/1.0 nor a later 1.x.
    OtherVersion,
}

impl<'h> RequestHead<'h> {
    /// Reads a whole head, its empty line included.
    pub(super) fn parse(head: &'h [u8]) -> Result<Self, RequestError> {
        let end = head.windows(2).position(|two| two == b"\r\n").ok_or(RequestError::Malformed)?;
        let line = str::from_utf8(&head[..end]).map_err(|_| RequestError::Malformed)?;
        let words: Vec<&str> = line.split(' ').collect();
        let [method, target, version] = words[..] else { return Err(RequestError::Malformed) };
        let (authority, target) = read_target(method, target).ok_or(RequestError::Malformed)?;
        let version = read_version(version)?;
        let fields = match HeaderMap::try_parse(&head[end + 2..]) {
            Ok(Some((_, fields))) => fields,
            Err(Error::Capacity(CapacityError::TooManyHeaders)) => return Err(RequestError::TooManyFields),
            _ => return Err(RequestError::Malformed),
        };
        let host = read_host(&fields, version)?;
        // The host of an absolute target counts, whatever the field contains (RFC 9112, section 3.2.2).
        let authority = authority.map(Cow::Borrowed).or(host.map(Cow::Owned));
        Ok(RequestHead { method, target, version, authority, fields })
    }
}

fn read_version(text: &str) -> Result<HttpVersion, RequestError> {
    match text.strip_prefix("HTTP/").map(str::as_bytes) {
        Some([b'1', b'.', b'0']) => Ok(HttpVersion::One0),
        // A later 1.x is answered as 1.1 (RFC 9110, section 6.2).
        Some([b'1', b'.', b'1'..=b'9']) => Ok(HttpVersion::One1),
        Some([b'0'..=b'9', b'.', b'0'..=b'9']) => Err(RequestError::OtherVersion),
        _ => Err(RequestError::Malformed),
    }
}

/// The authority that a target names, if it does, and its path: the four forms of RFC 9112, section 3.2.
fn read_target<'h>(method: &str, target: &'h str) -> Option<(Option<&'h str>, Cow<'h, str>)> {
    if target.is_empty() || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    match (method, target) {
        ("CONNECT", _) => is_authority(target).then_some((Some(target), target.into())),
        ("OPTIONS", "*") => Some((None, target.into())),
        _ if target.starts_with('/') => Some((None, target.into())),
        _ => {
            let (scheme, rest) = target.split_once("://")?;
            let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
            let is_ours = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) && is_authority(authority);
            let path = match path {
                "" if method == "OPTIONS" => "*".into(),
                path if path.starts_with('/') => path.into(),
                path => format!("/{path}").into(),
            };
            is_ours.then_some((Some(authority), path))
        }
    }
}

/// The value of `Host`, which a request of HTTP/1.1 has exactly once (RFC 9112, section 3.2).
fn read_host(fields: &HeaderMap, version: HttpVersion) -> Result<Option<String>, RequestError> {
    if !fields.contains_key(HOST) && version == HttpVersion::One0 {
        return Ok(None);
    }
    let host =
        only(fields, HOST).and_then(|host| host.to_str().ok()).filter(|host| host.is_empty() || is_authority(host));
    host.map(|host| Some(host.to_owned())).ok_or(RequestError::Malformed)
}

/// Whether this can be a host, possibly with a port, without a user.
fn is_authority(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#@\\,".contains(&byte))
}

const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_a_target_yields_path_and_host() {
        for (line, target, authority) in [
            ("GET /a?b HTTP/1.1", "/a?b", "field.example"),
            ("GET http://host.example/a?b HTTP/1.1", "/a?b", "host.example"),
            ("GET HTTPS://[::1]:7777 HTTP/1.1", "/", "[::1]:7777"),
            ("GET ws://host.example?b HTTP/1.1", "/?b", "host.example"),
            ("OPTIONS * HTTP/1.1", "*", "field.example"),
            ("OPTIONS http://host.example:80 HTTP/1.1", "*", "host.example:80"),
            ("CONNECT host.example:443 HTTP/1.1", "host.example:443", "host.example:443"),
            ("POST /a HTTP/1.9", "/a", "field.example"),
        ] {
            let head = format!("{line}\r\nHost: field.example\r\n\r\n");
            let request = RequestHead::parse(head.as_bytes()).expect(line);
            assert_eq!((&*request.target, request.authority.as_deref()), (target, Some(authority)), "{line}");
        }
        let old = RequestHead::parse(b"GET / HTTP/1.0\r\n\r\n").expect("it needs no host");
        assert_eq!((old.version, old.authority), (HttpVersion::One0, None));
    }

    #[test]
    fn requests_invalid_by_rfc_9112_are_malformed() {
        for line in [
            "GET  HTTP/1.1",
            "GET / HTTP/1.1 ",
            "GET /a b HTTP/1.1",
            "GET /",
            "GET a HTTP/1.1",
            "GET * HTTP/1.1",
            "GET http:///a HTTP/1.1",
            "GET http://me@host/a HTTP/1.1",
            "GET ftp://host/a HTTP/1.1",
            "GET /\u{e9} HTTP/1.1",
            "GET /a\tb HTTP/1.1",
            "GET / http/1.1",
            "CONNECT /a HTTP/1.1",
        ] {
            let head = format!("{line}\r\nHost: x\r\n\r\n");
            assert_eq!(RequestHead::parse(head.as_bytes()).map(drop), Err(RequestError::Malformed), "{line}");
        }
        for hosts in ["", "Host: a\r\nHost: a\r\n", "Host: a, b\r\n", "Host: a/b\r\n", "Host: me@a\r\n", "Host : a\r\n"]
        {
            for target in ["/", "http://a/"] {
                let head = format!("GET {target} HTTP/1.1\r\n{hosts}\r\n");
                assert_eq!(RequestHead::parse(head.as_bytes()).map(drop), Err(RequestError::Malformed), "{head}");
            }
        }
        let head = b"GET / HTTP/2.0\r\nHost: x\r\n\r\n";
        assert_eq!(RequestHead::parse(head).map(drop), Err(RequestError::OtherVersion));
    }
}
