//! Bytes that wait for the kernel, and the stream that tungstenite sees: it reads from TCP within a budget and writes
//! into that buffer, so that every byte not yet sent is visible and many frames leave in one write call.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};

use super::frames;
use super::transport::Transport;
use super::turn::Turn;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// A queue of bytes in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        // Closing the gap only when it is the larger half keeps the copying linear in the bytes sent.
        if self.sent > self.len() {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// One message behind its length.
    pub(super) fn append_raw(&mut self, payload: &[u8]) {
        self.append(&frames::prefix(payload.len()));
        self.append(payload);
    }

    /// One unfragmented message.
    pub(super) fn append_message(&mut self, kind: Data, payload: &[u8], mask: Option<[u8; 4]>) {
        let header = FrameHeader { opcode: OpCode::Data(kind), mask, ..FrameHeader::default() };
        let mut head = [0; FRAME_HEAD_BYTES_MAX];
        let mut rest = &mut head[..];
        header.format(payload.len() as u64, &mut rest).expect("a frame header has at most 14 bytes");
        let head_bytes = FRAME_HEAD_BYTES_MAX - rest.len();
        self.append(&head[..head_bytes]);
        self.append(payload);
        let Some(mask) = mask else { return };
        let start = self.bytes.len() - payload.len();
        for (byte, key) in self.bytes[start..].iter_mut().zip(mask.iter().cycle()) {
            *byte ^= key;
        }
    }

    /// Writes as many bytes as `tcp` accepts, and returns the number of bytes and calls. `WouldBlock` is no error.
    pub(super) fn write_to(&mut self, tcp: &mut impl Write) -> io::Result<Written> {
        let mut written = Written::default();
        while self.len() > 0 {
            match tcp.write(&self.bytes[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.sent += count;
                    written.bytes += count as u64;
                    written.calls += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes.clear();
        self.sent = 0;
        self.bytes.shrink_to(KEPT_BYTES);
        Ok(written)
    }
}

/// Bytes and calls of one write to the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) bytes: u64,
    pub(super) calls: u64,
}

/// The stream as tungstenite sees it.
pub(super) struct Pipe<'a> {
    pub(super) transport: &'a mut Transport,
    pub(super) outgoing: &'a mut Outgoing,
    /// Unsent bytes beyond which writes block.
    pub(super) outgoing_bytes_max: usize,
    pub(super) turn: &'a mut Turn,
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn.read(self.transport, buffer)
    }
}

impl Write for Pipe<'_> {
    /// Takes all bytes or none, so that frames that bypass tungstenite never end up inside another frame.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.outgoing.len() + bytes.len() > self.outgoing_bytes_max {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.outgoing.append(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The keys that a client masks its frames with: unpredictable to the application, as RFC 6455 section 10.3 asks, since
/// the standard library keys the hash from the system's entropy.
#[derive(Debug, Default)]
pub(super) struct Masks {
    keyed: RandomState,
    count: u64,
}

impl Masks {
    pub(super) fn next(&mut self) -> [u8; 4] {
        self.count += 1;
        (self.keyed.hash_one(self.count) as u32).to_ne_bytes()
    }
}

/// Two bytes, eight of length, four of mask.
pub(super) const FRAME_HEAD_BYTES_MAX: usize = 14;
/// Memory that an idle connection may keep for its next burst.
const KEPT_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Takes a few bytes per call, then blocks.
    struct Trickle {
        taken: Vec<u8>,
        calls: VecDeque<usize>,
    }

    impl Write for Trickle {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let Some(limit) = self.calls.pop_front() else {
                return Err(io::ErrorKind::WouldBlock.into());
            };
            let count = limit.min(bytes.len());
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_keep_their_order_however_few_leave_at_a_time() {
        let mut outgoing = Outgoing::default();
        let mut kernel = Trickle { taken: Vec::new(), calls: VecDeque::new() };
        let mut expected = Vec::new();
        let mut written = 0;
        for round in 0..2_000_usize {
            let added: Vec<u8> = (0..round * 7 % 50).map(|index| (round + index) as u8).collect();
            outgoing.append(&added);
            expected.extend(added);
            kernel.calls.extend((0..round % 4).map(|index| 1 + (round * 13 + index) % 30));
            written += outgoing.write_to(&mut kernel).unwrap().bytes as usize;
            kernel.calls.clear();
            assert_eq!(kernel.taken, expected[..written]);
            assert_eq!(outgoing.len(), expected.len() - written);
            // Closed when it outgrew the rest; then up to 90 bytes left.
            assert!(outgoing.sent <= outgoing.len() + 2 * 90, "the gap is closed again");
        }
        assert!(written > 10_000 && outgoing.len() > 0, "both lag and progress happened");
    }

    #[test]
    fn a_stream_that_takes_nothing_is_broken() {
        let mut outgoing = Outgoing::default();
        outgoing.append(b"x");
        let mut kernel = Trickle { taken: Vec::new(), calls: [0].into() };
        assert_eq!(outgoing.write_to(&mut kernel).unwrap_err().kind(), io::ErrorKind::WriteZero);
    }
}
