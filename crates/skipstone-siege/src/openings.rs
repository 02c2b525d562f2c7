//! Bytes that attackers send: requests and frames of WebSocket (RFC 6455), words at the operator's doors, datagrams of
//! `tcp://` (WIRE.md, section 7.3).

/// A ping without payload: a header and its mask.
pub(crate) const PING: &[u8] = &[0x89, 0x80, 0, 0, 0, 0];
/// An unsolicited pong without payload.
pub(crate) const PONG: &[u8] = &[0x8A, 0x80, 0, 0, 0, 0];
/// A whole text message without text.
pub(crate) const TEXT: &[u8] = &[0x81, 0x80, 0, 0, 0, 0];
/// The beginning of a message in several frames, of which this one is empty.
pub(crate) const FRAGMENT: &[u8] = &[0x02, 0x80, 0, 0, 0, 0];
/// A further frame of a message, which is empty and not the last.
pub(crate) const CONTINUATION: &[u8] = &[0x00, 0x80, 0, 0, 0, 0];
/// A datagram of one byte behind its length.
pub(crate) const RAW_BYTE: &[u8] = &[0x80, 0x01, 0x00];

/// A request that a program answers, or does not; others follow it on the same stream.
pub(crate) const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// The beginning of a request.
pub(crate) const HEAD: &[u8] = b"GET / HTTP/1.1\r\n";
/// A line of a head that does not end.
pub(crate) const HEADER: &[u8] = b"a: b\r\n";
/// The request for a WebSocket.
pub(crate) const UPGRADE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
    Sec-WebSocket-Protocol: skipstone.1\r\n\r\n";

/// A ClientHello whose session id another server chose: it erases the line of a telnet client's (RFC 854: IAC EL) and
/// then injects its own command, which would send all players to a port without a listener.
pub(crate) const HELLO_WITH_ORDER: &[u8] = b"\x16\x03\x01\x00\x4f\x01\x00\x00\x4b\x03\x03\
    abcdefghijklmnopqrstuvwxyz012345\x20\xff\xf8drain 127.0.0.1:9\n            \
    \x00\x02\x13\x01\x01\x00\x00\x00";
/// A wrong token at the console.
pub(crate) const WRONG_TOKEN: &[u8] = b"0123456789abcdef0123456789abcdee\r\n";
/// The dashboard's page, asked for by any program.
pub(crate) const PAGE: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// A request to the dashboard from a page of another origin.
pub(crate) const FOREIGN_PAGE: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\
    Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n\r\n";
/// A wrong token at the dashboard.
pub(crate) const WRONG_BEARER: &[u8] = b"GET /api/log HTTP/1.1\r\nHost: 127.0.0.1\r\nx-skipstone: 1\r\n\
    Authorization: Bearer 0123456789abcdef0123456789abcdee\r\n\r\n";

/// As much of these bytes, repeated, as one write takes.
pub(crate) fn repeated(unit: &[u8]) -> Vec<u8> {
    unit.repeat(WRITE_BYTES / unit.len())
}

/// Four records of TLS.
const WRITE_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8446, sections 5.1, 4 and 4.1.2.
    #[test]
    fn the_hello_with_a_command_is_a_complete_hello() {
        let length = |at: usize| usize::from(u16::from_be_bytes([HELLO_WITH_ORDER[at], HELLO_WITH_ORDER[at + 1]]));
        assert_eq!((HELLO_WITH_ORDER[0], length(3)), (0x16, HELLO_WITH_ORDER.len() - 5));
        assert_eq!((HELLO_WITH_ORDER[5], length(7)), (1, HELLO_WITH_ORDER.len() - 9));
        // After version and random: the session id, one suite, no compression, no extensions.
        let (session, rest) = (43, HELLO_WITH_ORDER.len() - 8);
        assert_eq!((HELLO_WITH_ORDER[session], session + 1 + 32), (32, rest));
        assert!(HELLO_WITH_ORDER[session + 1..rest].starts_with(b"\xff\xf8drain "));
    }
}
