//! Messages on a stream without WebSocket (WIRE.md, section 7.3): each after its length, whose highest bit is set, so
//! that the first byte distinguishes the stream from TLS and HTTP.

use super::transport::Transport;
use super::turn::Turn;
use crate::net::lengths::{First, LENGTH_BYTES, first};
use bytes::Bytes;
use std::io;

/// Bytes of a message.
pub(super) const RAW_MESSAGE_BYTES_MAX: usize = 16_384;
/// The first bytes that a length can have.
pub(super) const FIRST_BYTES: std::ops::RangeInclusive<u8> = 0x80..=0xC0;
const READ_BYTES: usize = 4 << 10;

/// A reader of messages.
#[derive(Debug, Default)]
pub(super) struct RawReader {
    /// Received bytes, and space after them, which is zeroed when it is allocated and not before each read.
    buffer: Vec<u8>,
    /// Number of received bytes.
    filled: usize,
    /// Number of bytes that were returned.
    taken: usize,
}

/// The next item on a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RawItem {
    Message(Bytes),
    /// An invalid length.
    Broken,
    /// More bytes are needed.
    Incomplete,
}

impl RawReader {
    /// A reader that has these bytes already.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        RawReader { filled: bytes.len(), buffer: bytes, taken: 0 }
    }

    pub(super) fn next(&mut self) -> RawItem {
        match first(&self.buffer[self.taken..self.filled], 1..=RAW_MESSAGE_BYTES_MAX) {
            First::Whole(message) => {
                let message = Bytes::copy_from_slice(message);
                self.taken += LENGTH_BYTES + message.len();
                RawItem::Message(message)
            }
            First::Broken => RawItem::Broken,
            First::Incomplete => RawItem::Incomplete,
        }
    }

    /// Reads once. The buffer never has more than one incomplete message and one read.
    pub(super) fn fill(&mut self, turn: &mut Turn, transport: &mut Transport) -> io::Result<usize> {
        let read = turn.read(transport, self.room());
        self.filled += read.as_ref().map_or(0, |count| *count);
        if self.filled == 0 {
            self.buffer.truncate(READ_BYTES);
            self.buffer.shrink_to(READ_BYTES);
        }
        read
    }

    /// The space for one read, after the bytes that were not returned yet.
    fn room(&mut self) -> &mut [u8] {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= core::mem::take(&mut self.taken);
        let end = self.filled + READ_BYTES;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        &mut self.buffer[self.filled..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::lengths::prefix;

    #[test]
    fn messages_arrive_complete_however_the_bytes_are_split() {
        let lengths = [1, 2, 127, 128, 255, 256, 4_080, RAW_MESSAGE_BYTES_MAX];
        let messages: Vec<Vec<u8>> = lengths.iter().map(|length| vec![*length as u8; *length]).collect();
        let stream: Vec<u8> =
            messages.iter().flat_map(|message| [&prefix(message.len())[..], message].concat()).collect();
        assert!(lengths.iter().all(|length| FIRST_BYTES.contains(&prefix(*length)[0])));
        for step in [1, 7, 4_096, stream.len()] {
            let mut reader = RawReader::default();
            let mut came = Vec::new();
            for part in stream.chunks(step) {
                for piece in part.chunks(READ_BYTES) {
                    reader.room()[..piece.len()].copy_from_slice(piece);
                    reader.filled += piece.len();
                }
                while let RawItem::Message(message) = reader.next() {
                    came.push(message.to_vec());
                }
            }
            assert_eq!(came, messages, "{step} bytes at a time");
            assert_eq!(reader.next(), RawItem::Incomplete);
        }
    }

    #[test]
    fn the_buffer_is_zeroed_once_and_not_before_each_read() {
        let mut reader = RawReader::default();
        reader.room().fill(7);
        assert!(reader.room().iter().all(|byte| *byte == 7), "it was zeroed again");
    }

    #[test]
    fn an_impossible_length_breaks_the_stream() {
        for bad in [[0x80, 0], [0xC0, 1], [0xFF, 0xFF], [0, 5], [0x7F, 0xFF], [0x47, 0x45]] {
            assert_eq!(RawReader::new(bad.to_vec()).next(), RawItem::Broken, "{bad:?}");
        }
    }
}
