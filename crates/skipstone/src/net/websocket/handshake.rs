//! The HTTP part of a WebSocket connection, bytes in and bytes out: telling protocols apart by their first bytes, the
//! server's answer, the client's request and its check (RFC 6455 section 4).

use tungstenite::Error;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::handshake::client::Response;
use tungstenite::handshake::derive_accept_key;
use tungstenite::handshake::machine::TryParse;
use tungstenite::handshake::server::{Request, create_response, write_response};
use tungstenite::http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use tungstenite::http::{StatusCode, Uri};

use super::{AllowedOrigins, WsCloseReason};

/// The subprotocol that clients offer and servers accept, if offered.
pub const SUBPROTOCOL: &str = "skipstone.1";

/// Protocol of a TCP client, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// An HTTP/1 request line.
    Http,
    /// A TLS handshake record.
    Tls,
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
    /// The handshake succeeded: send `answer` (empty for a client). `rest` has the first bytes of the WebSocket stream.
    Upgraded { answer: Vec<u8>, rest: Vec<u8> },
    /// Send `answer` (maybe empty) and close.
    Refused { answer: &'static [u8], reason: WsCloseReason },
}

/// A server's decision about the bytes that a client has sent so far.
pub(super) fn judge_request(head: &mut Head, origins: &AllowedOrigins) -> Verdict {
    match head.first_bytes() {
        None => return Verdict::Incomplete,
        Some(FirstBytes::Tls) => {
            return Verdict::Refused { answer: b"", reason: WsCloseReason::Tls };
        }
        Some(FirstBytes::Other) => {
            return Verdict::Refused { answer: BAD_REQUEST, reason: WsCloseReason::NotHttp };
        }
        Some(FirstBytes::Http) => {}
    }
    let Some(end) = head.end().filter(|end| *end <= HEAD_BYTES_MAX) else {
        return match head.bytes.len() < HEAD_BYTES_MAX {
            true => Verdict::Incomplete,
            false => Verdict::Refused { answer: TOO_LARGE, reason: WsCloseReason::HeadTooLarge },
        };
    };
    match answer_request(&head.bytes[..end], origins) {
        Ok(None) => Verdict::Refused { answer: FORBIDDEN, reason: WsCloseReason::Origin },
        Ok(Some(answer)) => Verdict::Upgraded { answer, rest: head.bytes[end..].to_vec() },
        Err(error) => refusal(&error),
    }
}

/// The answer to a request; `None` if the origin of the page may not connect.
fn answer_request(head: &[u8], origins: &AllowedOrigins) -> tungstenite::Result<Option<Vec<u8>>> {
    let Some((_, request)) = Request::try_parse(head)? else {
        return Err(ProtocolError::HandshakeIncomplete.into());
    };
    let mut response = create_response(&request)?;
    if !request.headers().get_all(ORIGIN).iter().all(|origin| origins.admits(origin.as_bytes())) {
        return Ok(None);
    }
    if lists(request.headers(), SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    let mut answer = Vec::new();
    write_response(&mut answer, &response)?;
    Ok(Some(answer))
}

fn refusal(error: &Error) -> Verdict {
    use ProtocolError::*;
    match error {
        Error::Capacity(CapacityError::TooManyHeaders) => {
            Verdict::Refused { answer: TOO_LARGE, reason: WsCloseReason::HeadTooLarge }
        }
        Error::Protocol(
            WrongHttpMethod
            | MissingConnectionUpgradeHeader
            | MissingUpgradeWebSocketHeader
            | MissingSecWebSocketVersionHeader,
        ) => Verdict::Refused { answer: UPGRADE_REQUIRED, reason: WsCloseReason::NoUpgrade },
        _ => Verdict::Refused { answer: BAD_REQUEST, reason: WsCloseReason::BadRequest },
    }
}

/// A client's handshake request; `key` is the value of its `Sec-WebSocket-Key`.
pub(super) fn encode_request(uri: &Uri, key: &str) -> Option<Vec<u8>> {
    if uri.scheme_str() != Some("ws") {
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
            false => Verdict::Refused { answer: b"", reason: WsCloseReason::HeadTooLarge },
        };
    };
    match Response::try_parse(&head.bytes[..end]) {
        Ok(Some((_, response))) if is_upgrade(&response, key) => {
            Verdict::Upgraded { answer: Vec::new(), rest: head.bytes[end..].to_vec() }
        }
        _ => Verdict::Refused { answer: b"", reason: WsCloseReason::Refused },
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
const FORBIDDEN: &[u8] = b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n\
    Content-Length: 49\r\n\r\nThis server does not let pages of your origin in.";
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const UPGRADE_REQUIRED: &[u8] =
    b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\
    Sec-WebSocket-Version: 13\r\nContent-Type: text/plain\r\nContent-Length: 39\r\n\r\n\
    This port speaks WebSocket (RFC 6455).\n";
