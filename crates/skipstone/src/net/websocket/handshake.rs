//! The HTTP part of a WebSocket connection, bytes in and bytes out: distinguishing protocols by their first bytes, the
//! server's answer, the client's request and its check (RFC 6455 section 4).

use tungstenite::handshake::client::Response;
use tungstenite::handshake::derive_accept_key;
use tungstenite::handshake::machine::TryParse;
use tungstenite::http::header::{
    CONNECTION, CONTENT_LENGTH, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
};
use tungstenite::http::{StatusCode, Uri};

use super::answers::text;
use super::fields::{lists, lists_exactly, only};
use super::frames;
use super::request::{HttpVersion, RequestError, RequestHead};
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

    /// Removes the first bytes, which were processed.
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

/// Additional data of a request for an upgrade.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Requested {
    /// The client that a trusted proxy names.
    pub(super) client: Option<IpAddr>,
    /// The client requests the echo for tests.
    pub(super) echoes: bool,
}

/// The origin of a server's request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) is_secure: bool,
    /// A trusted proxy forwards it, so that TLS may end there.
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
    let request = match RequestHead::parse(head) {
        Ok(request) => request,
        Err(RequestError::TooManyFields) => return Verdict::refused(TOO_LARGE, WsCloseReason::HeadTooLarge),
        Err(RequestError::OtherVersion) => return Verdict::refused(OTHER_VERSION, WsCloseReason::BadRequest),
        Err(RequestError::Malformed) => return Verdict::refused(BAD_REQUEST, WsCloseReason::BadRequest),
    };
    if !request.authority.iter().all(|host| rules.hosts.admits(host.as_bytes())) {
        return Verdict::refused(text("421 Misdirected Request", "", OTHER_HOST), WsCloseReason::Host);
    }
    let (target, wants_upgrade) = (&*request.target, wants_upgrade(&request));
    // Health is asked for in clear by machines that check no certificate.
    let is_health = target == "/healthz" && !wants_upgrade;
    if in_clear && !is_health {
        return redirect(request.authority.as_deref().filter(|_| !wants_upgrade), target);
    }
    if wants_upgrade {
        return upgrade(&request, rest, rules, source);
    }
    match rules.answers.to(request.method, target) {
        Some(answer) => Verdict::refused(answer, WsCloseReason::Answered),
        None => no_upgrade(target),
    }
}

/// Whether a request asks for WebSocket (RFC 9110, section 7.8: one of HTTP/1.0 cannot).
fn wants_upgrade(request: &RequestHead<'_>) -> bool {
    (request.method, request.version) == ("GET", HttpVersion::One1)
        && lists(&request.fields, CONNECTION, "upgrade")
        && lists(&request.fields, UPGRADE, "websocket")
}

/// The answer to a client's opening handshake (RFC 6455, section 4.2).
fn upgrade(request: &RequestHead<'_>, rest: &[u8], rules: &StreamRules, source: Source) -> Verdict {
    let fields = &request.fields;
    if only(fields, SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Verdict::refused(UPGRADE_REQUIRED, WsCloseReason::NoUpgrade);
    }
    // After a body the frames would begin at another place than for a proxy that lets it pass.
    let has_body = fields.contains_key(TRANSFER_ENCODING) || fields.get_all(CONTENT_LENGTH).iter().any(|it| it != "0");
    let key = only(fields, SEC_WEBSOCKET_KEY).filter(|key| is_key(key.as_bytes()) && !has_body);
    let Some(key) = key else { return Verdict::refused(BAD_REQUEST, WsCloseReason::BadRequest) };
    if !fields.get_all(ORIGIN).iter().all(|origin| rules.origins.admits(origin.as_bytes())) {
        return Verdict::refused(FORBIDDEN, WsCloseReason::Origin);
    }
    let accept = derive_accept_key(key.as_bytes());
    let is_ours = lists_exactly(fields, SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
    let subprotocol = if is_ours { format!("Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n") } else { String::new() };
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{subprotocol}\r\n"
    );
    let echoes = rules.echo_path.as_deref().is_some_and(|path| path == request.target);
    let client = source.names_client.then(|| rules.proxies.client(fields)).flatten();
    Verdict::Upgraded { answer: answer.into_bytes(), rest: rest.to_vec(), request: Requested { client, echoes } }
}

/// Whether this is the base64 of 16 bytes (RFC 4648, section 4).
fn is_key(key: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let [digits @ .., last, b'=', b'='] = key else { return false };
    // The last digit has two bits, of six.
    digits.len() == 21 && digits.iter().all(is_digit) && b"AQgw".contains(last)
}

/// The answer to a request in clear, where TLS is required: browsers are redirected, WebSockets are refused.
fn redirect(host: Option<&str>, target: &str) -> Verdict {
    let answer = match host.filter(|host| !host.is_empty() && target.starts_with('/')) {
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

/// A client's handshake request; `key` is the value of its `Sec-WebSocket-Key`.
pub(super) fn encode_request(uri: &Uri, key: &str) -> Option<Vec<u8>> {
    if !matches!(uri.scheme_str(), Some("ws" | "wss")) {
        return None;
    }
    let host = uri.authority()?.as_str();
    // User and password are not part of a Host header, and are not used here.
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
    loop {
        let Some(end) = head.end().filter(|end| *end <= HEAD_BYTES_MAX) else {
            return match head.bytes.len() < HEAD_BYTES_MAX {
                true => Verdict::Incomplete,
                false => Verdict::refused(&b""[..], WsCloseReason::HeadTooLarge),
            };
        };
        match Response::try_parse(&head.bytes[..end]) {
            Ok(Some((_, response))) if is_upgrade(&response, key) => {
                let rest = head.bytes[end..].to_vec();
                return Verdict::Upgraded { answer: Vec::new(), rest, request: Requested::default() };
            }
            // Others may come before the one that counts (RFC 9110, section 15.2).
            Ok(Some((_, response))) if is_interim(response.status()) => head.skip(end),
            _ => return Verdict::refused(&b""[..], WsCloseReason::Refused),
        }
    }
}

fn is_interim(status: StatusCode) -> bool {
    status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS
}

fn is_upgrade(response: &Response, key: &str) -> bool {
    let fields = response.headers();
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        && lists(fields, UPGRADE, "websocket")
        && lists(fields, CONNECTION, "upgrade")
        && only(fields, SEC_WEBSOCKET_ACCEPT).is_some_and(|accept| accept == &derive_accept_key(key.as_bytes()))
        && fields.get_all(SEC_WEBSOCKET_PROTOCOL).iter().all(|chosen| chosen == SUBPROTOCOL)
        && !fields.contains_key(SEC_WEBSOCKET_EXTENSIONS)
}

/// Browsers send up to 4 KiB of cookies; a proxy adds some lines.
pub(super) const HEAD_BYTES_MAX: usize = 8 << 10;

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const OTHER_VERSION: &[u8] =
    b"HTTP/1.1 505 HTTP Version Not Supported\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
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
