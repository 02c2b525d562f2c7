//! Datagrams of sessions that wait to be sent, consecutively in one buffer.

use crate::net::udp::AddressPair;
use std::ops::Range;

/// A function that sends datagrams: the shared socket, the destination and the source, the bytes, and the length of a
/// segment if there are several.
pub(super) type Send<'a> = &'a mut dyn FnMut(u32, AddressPair, &[u8], Option<usize>);

#[derive(Debug, Default)]
pub(super) struct DatagramQueue {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// The shared UDP socket.
    socket: u32,
    to: AddressPair,
    range: Range<usize>,
    /// Bytes of each datagram except the last, if there are several.
    segment_bytes: Option<usize>,
}

/// Enough for the output of one round of a server's sockets.
const BYTES_MAX: usize = 4 << 20;
/// A larger buffer is not kept.
const KEPT_BYTES_MAX: usize = 256 << 10;

impl DatagramQueue {
    /// Whether this number of bytes fits.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.bytes.len() + bytes <= BYTES_MAX
    }

    /// False if it does not fit.
    pub(super) fn push(&mut self, socket: u32, to: AddressPair, bytes: &[u8], segment_bytes: Option<usize>) -> bool {
        let start = self.bytes.len();
        if !self.has_room(bytes.len()) {
            return false;
        }
        self.bytes.extend_from_slice(bytes);
        self.entries.push(Entry { socket, to, range: start..self.bytes.len(), segment_bytes });
        true
    }

    /// Whether more waits than the size of a buffer that is kept.
    pub(super) fn is_long(&self) -> bool {
        self.bytes.len() >= KEPT_BYTES_MAX
    }

    /// Passes all datagrams to `send`.
    pub(super) fn drain(&mut self, send: Send<'_>) {
        for Entry { socket, to, range, segment_bytes } in self.entries.drain(..) {
            send(socket, to, &self.bytes[range], segment_bytes);
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
    }
}
