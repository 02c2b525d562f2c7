//! Bytes that wait for the kernel, and the stream that tungstenite sees: it reads from TCP within a budget and writes
//! into that buffer, so that every byte not yet sent is visible and many frames leave in one write call.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};

use super::transport::Transport;
use super::turn::Turn;
use crate::net::lengths;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// A queue of bytes in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct ByteQueue {
    bytes: Vec<u8>,
    sent: usize,
}

impl ByteQueue {
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

    /// One message after its length.
    pub(super) fn append_raw(&mut self, payload: &[u8]) {
        self.append(&lengths::prefix(payload.len()));
        self.append(payload);
    }

    /// One unfragmented message.
    pub(super) fn append_message(&mut self, kind: Data, payload: &[u8], mask: Option<[u8; 4]>) {
        let mut head = [0; FRAME_HEAD_BYTES_MAX];
        let from = write_head(&mut head, kind, payload.len(), mask);
        self.append(&head[from..]);
        self.append(payload);
        let start = self.bytes.len() - payload.len();
        hide(&mut self.bytes[start..], mask);
    }

    /// Writes as many bytes as `tcp` accepts, and returns the number of bytes and calls. `WouldBlock` is not an error.
    pub(super) fn write_to(&mut self, tcp: &mut impl Write) -> io::Result<Written> {
        let written = write_all_it_takes(tcp, &self.bytes[self.sent..])?;
        self.sent += written.bytes as usize;
        if self.len() == 0 {
            self.bytes.clear();
            self.sent = 0;
            self.bytes.shrink_to(KEPT_BYTES);
        }
        Ok(written)
    }

    /// Writes bytes after those that wait. If none wait, they go to `tcp` directly, and only bytes that it does not
    /// accept are copied.
    pub(super) fn write_behind(&mut self, tcp: &mut impl Write, bytes: &[u8]) -> io::Result<Written> {
        if self.len() > 0 {
            self.append(bytes);
            return self.write_to(tcp);
        }
        let written = write_all_it_takes(tcp, bytes)?;
        let rest = &bytes[written.bytes as usize..];
        if !rest.is_empty() {
            self.append(rest);
        }
        Ok(written)
    }
}

/// Writes as many of these bytes as `tcp` accepts.
fn write_all_it_takes(tcp: &mut impl Write, bytes: &[u8]) -> io::Result<Written> {
    let mut written = Written::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        match tcp.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                rest = &rest[count..];
                written.bytes += count as u64;
                written.calls += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Writes the head of an unfragmented message at the end of `room`, directly before the message, and returns its start.
pub(super) fn write_head(
    room: &mut [u8; FRAME_HEAD_BYTES_MAX],
    kind: Data,
    payload_bytes: usize,
    mask: Option<[u8; 4]>,
) -> usize {
    let header = FrameHeader { opcode: OpCode::Data(kind), mask, ..FrameHeader::default() };
    let from = FRAME_HEAD_BYTES_MAX - header.len(payload_bytes as u64);
    header.format(payload_bytes as u64, &mut &mut room[from..]).expect("it has room for its length");
    from
}

/// Applies a client's mask.
pub(super) fn hide(payload: &mut [u8], mask: Option<[u8; 4]>) {
    let Some(mask) = mask else { return };
    for (byte, key) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
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
    pub(super) outgoing: &'a mut ByteQueue,
    /// Unsent bytes beyond which writes block.
    pub(super) outgoing_bytes_max: usize,
    pub(super) turn: &'a mut Turn,
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn.read_frames(self.transport, buffer)
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
    fn bytes_keep_their_order_however_few_leave_at_once() {
        let mut outgoing = ByteQueue::default();
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
            // The gap was closed when it outgrew the rest; then up to 90 bytes remained.
            assert!(outgoing.sent <= outgoing.len() + 2 * 90, "the gap is closed again");
        }
        assert!(written > 10_000 && outgoing.len() > 0, "both lag and progress happened");
    }

    #[test]
    fn bytes_written_past_the_queue_keep_their_order_and_only_the_rest_is_queued() {
        let mut outgoing = ByteQueue::default();
        let mut kernel = Trickle { taken: Vec::new(), calls: VecDeque::new() };
        let (mut expected, mut untouched) = (Vec::new(), 0);
        for round in 0..2_000_usize {
            let added: Vec<u8> = (0..1 + round * 7 % 50).map(|index| (round + index) as u8).collect();
            expected.extend_from_slice(&added);
            // Occasionally the kernel accepts everything, and often a part.
            let limits = (0..round % 4).map(|index| if round % 5 == 0 { 1 << 20 } else { 1 + (round + index) % 30 });
            kernel.calls.extend(limits);
            let (waited, taken) = (outgoing.len(), kernel.taken.len());
            let written = outgoing.write_behind(&mut kernel, &added).unwrap();
            kernel.calls.clear();
            assert_eq!(written.bytes as usize, kernel.taken.len() - taken);
            assert_eq!(kernel.taken, expected[..kernel.taken.len()]);
            assert_eq!(outgoing.len(), expected.len() - kernel.taken.len());
            untouched += usize::from(waited == 0 && outgoing.bytes.is_empty());
        }
        assert!(untouched > 100 && outgoing.len() > 0, "{untouched} went past the queue");
    }

    #[test]
    fn a_stream_that_accepts_nothing_is_broken() {
        let mut outgoing = ByteQueue::default();
        outgoing.append(b"x");
        let mut kernel = Trickle { taken: Vec::new(), calls: [0].into() };
        assert_eq!(outgoing.write_to(&mut kernel).unwrap_err().kind(), io::ErrorKind::WriteZero);
    }
}
