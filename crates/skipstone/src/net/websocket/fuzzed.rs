//! What strangers' bytes on the TCP port are read by, for the fuzz targets.

use super::frames::{RawItem, RawReader};
use super::proxy_protocol::ProxyHeader;
use bytes::Bytes;

/// How far bytes were understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Understood {
    /// They are something else.
    Not,
    /// More are needed.
    Incomplete,
    /// They break a rule.
    Malformed,
    /// The first so many of them are whole.
    Whole(usize),
}

/// The bytes in front of a proxied connection.
pub fn proxy_header(bytes: &[u8]) -> Understood {
    match ProxyHeader::read(bytes) {
        ProxyHeader::Absent => Understood::Not,
        ProxyHeader::Incomplete => Understood::Incomplete,
        ProxyHeader::Malformed => Understood::Malformed,
        ProxyHeader::Complete(bytes, _) => Understood::Whole(bytes),
    }
}

/// The messages at the beginning of a stream without WebSocket, and how the rest was understood.
pub fn stream_messages(bytes: &[u8]) -> (Vec<Bytes>, Understood) {
    let mut reader = RawReader::new(bytes.to_vec());
    let mut messages = Vec::new();
    loop {
        match reader.next() {
            RawItem::Message(message) => messages.push(message),
            RawItem::Incomplete => return (messages, Understood::Incomplete),
            RawItem::Broken => return (messages, Understood::Malformed),
        }
    }
}
