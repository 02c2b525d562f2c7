//! Unauthenticated bytes on TCP and in HTTP/3: the result is the same however they are split, and complete messages
//! stay complete.

use skipstone::http3_fuzzed::{http3_capsules, http3_datagrams, http3_request};
use skipstone::net::websocket::fuzzed::{self, Understood};

/// A header of the PROXY protocol: no prefix of one is mistaken for anything else, and the bytes after it change
/// nothing.
pub fn proxy_header(bytes: &[u8]) {
    let verdict = fuzzed::proxy_header(bytes);
    let Understood::Whole(length) = verdict else { return };
    assert!(length <= bytes.len(), "a header has no more bytes than there are");
    assert_eq!(fuzzed::proxy_header(&bytes[..length]), verdict);
    for end in 1..length {
        assert_eq!(fuzzed::proxy_header(&bytes[..end]), Understood::Incomplete, "its first {end} bytes");
    }
}

/// Length-prefixed messages: none is empty, and together they are the bytes of the stream.
pub fn stream_messages(bytes: &[u8]) {
    let (messages, _) = fuzzed::stream_messages(bytes);
    let mut at = 0;
    for message in messages {
        assert!(!message.is_empty(), "no message is empty");
        assert_eq!(message, bytes[at + 2..at + 2 + message.len()]);
        at += 2 + message.len();
    }
}

/// A request for a session, the capsules that follow it, and datagrams on a stream.
pub fn http3(bytes: &[u8]) {
    if let Some(Ok(length)) = http3_request(bytes) {
        assert_eq!(http3_request(&bytes[..length]), Some(Ok(length)), "what follows it changes nothing");
        assert_eq!(http3_request(&bytes[..length - 1]), None, "it is no longer than it has to be");
    }
    let whole = http3_capsules(bytes, bytes.len());
    for piece_bytes in [1, 7] {
        assert_eq!(http3_capsules(bytes, piece_bytes), whole, "in pieces of {piece_bytes}");
    }
    let datagrams = http3_datagrams(bytes, bytes.len());
    for piece_bytes in [1, 7] {
        assert_eq!(http3_datagrams(bytes, piece_bytes), datagrams, "in pieces of {piece_bytes}");
    }
    assert!(datagrams.0.iter().map(|datagram| datagram.len() + 2).sum::<usize>() <= bytes.len());
}
