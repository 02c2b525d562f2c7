//! The HTTP part of a WebSocket connection, bytes in and bytes out: telling protocols apart by their first bytes, the
//! server's answer, the client's request and its check (RFC 6455 section 4).

use tungstenite::Error;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::handshake::client::Response;
use tungstenite::handshake::derive_accept_key;
use tungstenite::handshake::machine::TryParse;
use tungstenite::handshake::server::{Request, Response as ServerResponse, create_response, write_response};
use tungstenite::http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use tungstenite::http::{StatusCode, Uri};

use super::answers::text;
use super::frames;
use super::{StreamRules, WsCloseReason};
use std::borrow::Cow;
use std::net::IpAddr;

/// The subprotocol that clients offer and servers accept, if offered.
pub const SUBPROTOCOL: &str = "skipstone.1";

/// Protocol of a TCP client, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// An HTTP/1 request line.
    Http,
    /// A TLS handshake record.
    Tls,
    /// The length of a message without WebSocket.
    Raw,
    /// Anything else.
    Other,
}

impl FirstBytes {
    /// `None` while the bytes are too few to decide.
    pub fn classify(bytes: &[u8]) -> Option<FirstBytes> {
        const TLS_HANDSHAKE: u8 = 0x16;
        if *bytes.first()? == TLS_HANDSHAKE {
            return Some(FirstBytes::Tls);
        }
        if frames::FIRST_BYTES.contains(bytes.first()?) {
            return Some(FirstBytes::Raw);
        }
        if METHODS.iter().any(|method| bytes.starts_with(method)) {
            return Some(FirstBytes::Http);
        }
        let undecided = METHODS.iter().any(|method| method.starts_with(bytes));
        if undecided { None } else { Some(FirstBytes::Other) }
    }
}

const METHODS: [&[u8]; 9] =
    [b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"PATCH ", b"CONNECT ", b"TRACE "];

/// A request or response that arrives in parts, up to its empty line.
#[derive(Debug, Default)]
pub(super) struct Head {
    bytes: Vec<u8>,
    searched: usize,
}

impl Head {
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn first_bytes(&self) -> Option<FirstBytes> {
        FirstBytes::classify(&self.bytes)
    }

    /// Removes the first bytes, which were understood.
    pub(super) fn skip(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.searched = 0;
    }

    /// All bytes; none are left.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.searched = 0;
        std::mem::take(&mut self.bytes)
    }

    /// End of the head, once it has arrived. Each byte is searched once, however slowly the bytes arrive.
    fn end(&mut self) -> Option<usize> {
        let from = self.searched.saturating_sub(3);
        self.searched = self.bytes.len();
        let at = self.bytes[from..].windows(4).position(|window| window == b"\r\n\r\n")?;
        Some(from + at + 4)
    }
}

/// Decision about the head of a request or response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Wait for more bytes.
    Incomplete,
    /// The client begins with TLS.
    Secure,
    /// The client sends messages without WebSocket.
    Raw,
    /// The handshake succeeded: send `answer` (empty for a client). `rest` has the first bytes of the WebSocket stream.
    Upgraded { answer: Vec<u8>, rest: Vec<u8>, request: Requested },
    /// Send `answer` (maybe empty) and close.
    Refused { answer: Cow<'static, [u8]>, reason: WsCloseReason },
}

/// What a request says beside the upgrade.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Requested {
    /// The client that a trusted proxy names.
    pub(super) client: Option<IpAddr>,
    /// It asks for the echo of tests.
    pub(super) echoes: bool,
}

/// From whom a server's request comes, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) is_secure: bool,
    /// A trusted proxy passes it on, so that TLS may end there.
    pub(super) is_proxied: bool,
    /// The proxy may name the client in its headers.
    pub(super) names_client: bool,
}

impl Verdict {
    fn refused(answer: impl Into<Cow<'static, [u8]>>, reason: WsCloseReason) -> Self {
        Verdict::Refused { answer: answer.into(), reason }
    }
}

/// A server's decision about the bytes that a client has sent so far.
pub(super) fn judge_request(head: &mut Head, rules: &StreamRules, source: Source) -> Verdict {
    let in_clear = rules.requires_tls && !source.is_secure && !source.is_proxied;
    match head.first_bytes() {
        None => return Verdict::Incomplete,
        Some(FirstBytes::Tls) if source.is_secure => return Verdict::refused(&b""[..], WsCloseReason::NotHttp),
        Some(FirstBytes::Tls) => return Verdict::Secure,
        Some(FirstBytes::Raw) if in_clear => return Verdict::refused(&b""[..], WsCloseReason::InClear),
        Some(FirstBytes::Raw) if !rules.takes_raw => {
            return Verdict::refused(text("400 Bad Request", "", NOT_HTTP), WsCloseReason::NotTaken);
        }
        Some(FirstBytes::Raw) => return Verdict::Raw,
        Some(FirstBytes::Other) => {
            return Verdict::refused(text("400 Bad Request", "", NOT_HTTP), WsCloseReason::NotHttp);
        }
        Some(FirstBytes::Http) => {}
    }
    let Some(end) = head.end().filter(|end| *end <= HEAD_BYTES_MAX) else {
        return match head.bytes.len() < HEAD_BYTES_MAX {
            true => Verdict::Incomplete,
            false => Verdict::refused(TOO_LARGE, WsCloseReason::HeadTooLarge),
        };
    };
    answer_request(&head.bytes[..end], &head.bytes[end..], rules, source, in_clear)
}

/// The answer to a whole request.
fn answer_request(head: &[u8], rest: &[u8], rules: &StreamRules, source: Source, in_clear: bool) -> Verdict {
    let parsed = Request::try_parse(head);
    if let Err(Error::Capacity(CapacityError::TooManyHeaders)) = parsed {
        return Verdict::refused(TOO_LARGE, WsCloseReason::HeadTooLarge);
    }
    let is_other = |error: &Error| {
        matches!(error, Error::Protocol(ProtocolError::WrongHttpMethod | ProtocolError::WrongHttpVersion))
    };
    let request = match &parsed {
        Ok(Some((_, request))) => Some(request),
        // Parsed, but not as tungstenite wants it.
        Err(error) if is_other(error) => None,
        _ => return Verdict::refused(BAD_REQUEST, WsCloseReason::BadRequest),
    };
    let wants_upgrade = request.is_some_and(|request| lists(request.headers(), UPGRADE, "websocket"));
    let (method, target) = request_line(head);
    if let Some(request) = request
        && !request.headers().get_all(HOST).iter().all(|host| rules.hosts.admits(host.as_bytes()))
    {
        return Verdict::refused(text("421 Misdirected Request", "", OTHER_HOST), WsCloseReason::Host);
    }
    // Health is asked for in clear by machines that check no certificate.
    let is_health = target == "/healthz" && !wants_upgrade;
    if in_clear && !is_health {
        return redirect(request.filter(|_| !wants_upgrade), target);
    }
    if !wants_upgrade && let Some(answer) = rules.answers.to(method, target) {
        return Verdict::refused(answer, WsCloseReason::Answered);
    }
    let Some(request) = request else {
        let is_old = matches!(parsed, Err(Error::Protocol(ProtocolError::WrongHttpVersion)));
        let is_broken = is_old || method.is_empty();
        return if is_broken { Verdict::refused(BAD_REQUEST, WsCloseReason::BadRequest) } else { no_upgrade(target) };
    };
    let response = match create_response(request) {
        Ok(response) => response,
        Err(error) => return refusal(&error, target),
    };
    if !request.headers().get_all(ORIGIN).iter().all(|origin| rules.origins.admits(origin.as_bytes())) {
        return Verdict::refused(FORBIDDEN, WsCloseReason::Origin);
    }
    let echoes = rules.echo_path.as_deref().is_some_and(|path| path == target);
    let requested = Requested { client: forwarded(request, rules, source), echoes };
    accept(request, response, rest, requested)
}

fn accept(request: &Request, mut response: ServerResponse, rest: &[u8], requested: Requested) -> Verdict {
    if lists(request.headers(), SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    let mut answer = Vec::new();
    match write_response(&mut answer, &response) {
        Ok(()) => Verdict::Upgraded { answer, rest: rest.to_vec(), request: requested },
        Err(_) => Verdict::refused(BAD_REQUEST, WsCloseReason::BadRequest),
    }
}

/// Method and target of a request, as they stand in its first line.
fn request_line(head: &[u8]) -> (&str, &str) {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = str::from_utf8(line).unwrap_or_default().split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

/// The client that a trusted proxy names in its headers. A proxy writes one of the two; where both are there, one was written by the
/// client, and nobody can tell which: neither counts.
fn forwarded(request: &Request, rules: &StreamRules, source: Source) -> Option<IpAddr> {
    let of = |name: &str| {
        let lines = request.headers().get_all(name).iter().filter_map(|line| line.to_str().ok()).collect::<Vec<_>>();
        rules.proxies.client(lines.into_iter())
    };
    let is_ambiguous = request.headers().contains_key("forwarded") && request.headers().contains_key("x-forwarded-for");
    let names_client = source.names_client && !is_ambiguous;
    names_client.then(|| of("forwarded").or_else(|| of("x-forwarded-for"))).flatten()
}

/// The answer to a request in clear, where TLS is required: browsers are sent elsewhere, WebSockets cannot be.
fn redirect(request: Option<&Request>, target: &str) -> Verdict {
    let host = request.and_then(|request| request.headers().get(HOST)).and_then(|host| host.to_str().ok());
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    let answer =
        match host.filter(|host| !host.is_empty() && is_plain(host) && target.starts_with('/') && is_plain(target)) {
            Some(host) => text("308 Permanent Redirect", &format!("Location: https://{host}{target}\r\n"), ""),
            None => text(
                "426 Upgrade Required",
                "Upgrade: TLS/1.2, HTTP/1.1\r\n",
                "This server wants TLS: use wss:// and https://.\n",
            ),
        };
    Verdict::refused(answer, WsCloseReason::InClear)
}

fn no_upgrade(target: &str) -> Verdict {
    let answer = match target.split('?').next() {
        Some("/") => Cow::Borrowed(UPGRADE_REQUIRED),
        _ => Cow::Owned(text("404 Not Found", "", NOT_FOUND)),
    };
    Verdict::refused(answer, WsCloseReason::NoUpgrade)
}

fn refusal(error: &Error, target: &str) -> Verdict {
    use ProtocolError::*;
    match error {
        Error::Protocol(
            WrongHttpMethod
            | MissingConnectionUpgradeHeader
            | MissingUpgradeWebSocketHeader
            | MissingSecWebSocketVersionHeader,
        ) => no_upgrade(target),
        _ => Verdict::refused(BAD_REQUEST, WsCloseReason::BadRequest),
    }
}

/// A client's handshake request; `key` is the value of its `Sec-WebSocket-Key`.
pub(super) fn encode_request(uri: &Uri, key: &str) -> Option<Vec<u8>> {
    if !matches!(uri.scheme_str(), Some("ws" | "wss")) {
        return None;
    }
    let host = uri.authority()?.as_str();
    // User and password are no part of a Host header, and nothing here could use them.
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    );
    Some(request.into_bytes())
}

/// A client's decision about the bytes that the server has answered so far.
pub(super) fn judge_response(head: &mut Head, key: &str) -> Verdict {
    let Some(end) = head.end().filter(|end| *end <= HEAD_BYTES_MAX) else {
        return match head.bytes.len() < HEAD_BYTES_MAX {
            true => Verdict::Incomplete,
            false => Verdict::refused(&b""[..], WsCloseReason::HeadTooLarge),
        };
    };
    match Response::try_parse(&head.bytes[..end]) {
        Ok(Some((_, response))) if is_upgrade(&response, key) => {
            let rest = head.bytes[end..].to_vec();
            Verdict::Upgraded { answer: Vec::new(), rest, request: Requested::default() }
        }
        _ => Verdict::refused(&b""[..], WsCloseReason::Refused),
    }
}

fn is_upgrade(response: &Response, key: &str) -> bool {
    let headers = response.headers();
    let subprotocol = headers.get(SEC_WEBSOCKET_PROTOCOL);
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        && lists(headers, UPGRADE, "websocket")
        && lists(headers, CONNECTION, "upgrade")
        && headers.get(SEC_WEBSOCKET_ACCEPT).is_some_and(|accept| accept == &derive_accept_key(key.as_bytes()))
        && subprotocol.is_none_or(|chosen| chosen == SUBPROTOCOL)
        && headers.get(SEC_WEBSOCKET_EXTENSIONS).is_none()
}

/// Whether a header that is a comma-separated list, maybe on several lines, has `item` in it.
fn lists(headers: &HeaderMap, name: HeaderName, item: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|entry| entry.trim().eq_ignore_ascii_case(item))
}

/// Browsers send up to 4 KiB of cookies; a proxy adds some lines.
pub(super) const HEAD_BYTES_MAX: usize = 8 << 10;

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const NOT_HTTP: &str =
    "This port speaks WebSocket (ws://, and wss:// with a certificate), and answers GET /healthz by HTTP/1.1.\n";
const OTHER_HOST: &str = "This server is not served under that host name.\n";
const NOT_FOUND: &str =
    "There is no such page. This port speaks WebSocket (RFC 6455) at any path, and answers GET /healthz.\n";
const FORBIDDEN: &[u8] = b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n\
    Content-Length: 49\r\n\r\nThis server does not let pages of your origin in.";
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const UPGRADE_REQUIRED: &[u8] =
    b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\
    Sec-WebSocket-Version: 13\r\nContent-Type: text/plain\r\nContent-Length: 39\r\n\r\n\
    This port speaks WebSocket (RFC 6455).\n";
