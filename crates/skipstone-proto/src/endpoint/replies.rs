//! Stateless answers to unknown hosts. No answer is longer than the datagram that it answers; few may wait, and
//! networks have equal shares of them.

use super::answer::{answer_len, write_answer};
use super::fair_queue::FairQueue;
use super::transmit::Transmit;
use crate::network::Network;
use crate::path::Path;
use crate::wire::cursor::Writer;
use bytes::Bytes;

/// Stateless answers that wait to be sent, and the answer to queries.
#[derive(Debug)]
pub(crate) struct Replies {
    handshakes: FairQueue<Reply>,
    resets: FairQueue<Reply>,
    queries: FairQueue<QueryReply>,
    /// The application's answer to queries from now on, if it gives one.
    query_answer: Option<Bytes>,
    /// Number of answers that wait, in all queues.
    waiting: usize,
    /// Number of answers that were taken out.
    popped: u64,
    /// The last datagram that left was an answer: connections are next.
    is_connections_turn: bool,
}

#[derive(Debug)]
struct Reply {
    path: Path,
    length: u8,
    bytes: [u8; REPLY_BYTES_MAX],
}

/// An answer to a query: written when it leaves, so that waiting answers share the application's bytes.
#[derive(Debug)]
struct QueryReply {
    path: Path,
    nonce: u64,
    payload: Bytes,
}

pub(crate) const REPLY_BYTES_MAX: usize = 160;
const REPLIES_MAX: usize = 1_024;
/// Greatest number of RESETs, and of answers to queries, that wait apart from the others.
const OTHER_REPLIES_MAX: usize = 256;

impl Replies {
    /// No answers; `key` is secret.
    pub(super) fn new(key: u64) -> Self {
        Replies {
            handshakes: FairQueue::new(REPLIES_MAX, key),
            resets: FairQueue::new(OTHER_REPLIES_MAX, key),
            queries: FairQueue::new(OTHER_REPLIES_MAX, key),
            query_answer: None,
            waiting: 0,
            popped: 0,
            is_connections_turn: false,
        }
    }

    /// Queues the answer that `write` writes. False if an answer was dropped because too many wait.
    pub(crate) fn push(&mut self, path: Path, write: impl FnOnce(&mut Writer<'_>)) -> bool {
        let has_room = self.handshakes.push(&Network::of(&path.remote), Reply::new(path, write));
        self.count();
        has_room
    }

    /// Queues a RESET. False if one was dropped because too many wait.
    pub(super) fn push_reset(&mut self, path: Path, write: impl FnOnce(&mut Writer<'_>)) -> bool {
        let has_room = self.resets.push(&Network::of(&path.remote), Reply::new(path, write));
        self.count();
        has_room
    }

    /// Sets the answer to queries; `None` stops answering.
    pub(super) fn set_query_answer(&mut self, payload: Option<Bytes>) {
        self.query_answer = payload;
    }

    /// Whether there is an answer to a query of `query_bytes` bytes, and it is no longer than the query.
    pub(super) fn can_answer(&self, query_bytes: usize) -> bool {
        self.query_answer.as_ref().is_some_and(|payload| answer_len(payload) <= query_bytes)
    }

    /// Queues an answer to a query. False if there is none, or one was dropped because too many wait.
    pub(super) fn push_answer(&mut self, path: Path, nonce: u64) -> bool {
        let Some(payload) = self.query_answer.clone() else { return false };
        let has_room = self.queries.push(&Network::of(&path.remote), QueryReply { path, nonce, payload });
        self.count();
        has_room
    }

    fn count(&mut self) {
        self.waiting = self.handshakes.len() + self.resets.len() + self.queries.len();
    }

    /// Whether connections have their turn before the next answer: they alternate.
    pub(super) fn is_connections_turn(&mut self) -> bool {
        core::mem::take(&mut self.is_connections_turn)
    }

    /// The next answer. Of eight, six are of handshakes, one is a RESET, and one goes to a query, as long as there are
    /// any.
    pub(crate) fn pop(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        self.is_connections_turn = true;
        self.popped += 1;
        let order: [Kind; 3] = match self.popped % 8 {
            3 => [Kind::Reset, Kind::Handshake, Kind::Query],
            7 => [Kind::Query, Kind::Handshake, Kind::Reset],
            _ => [Kind::Handshake, Kind::Reset, Kind::Query],
        };
        let next = order.into_iter().find_map(|kind| match kind {
            Kind::Handshake => self.handshakes.pop().map(|reply| reply.copy_to(buffer)),
            Kind::Reset => self.resets.pop().map(|reply| reply.copy_to(buffer)),
            Kind::Query => self.queries.pop().and_then(|reply| reply.write_to(buffer)),
        });
        self.count();
        next
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }
}

/// The kind of request that is answered.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Handshake,
    Reset,
    Query,
}

impl Reply {
    fn new(path: Path, write: impl FnOnce(&mut Writer<'_>)) -> Self {
        let mut bytes = [0; REPLY_BYTES_MAX];
        let mut writer = Writer::new(&mut bytes);
        write(&mut writer);
        let length = writer.len() as u8;
        Reply { path, length, bytes }
    }

    fn copy_to(&self, buffer: &mut [u8]) -> Transmit {
        let bytes = usize::from(self.length);
        buffer[..bytes].copy_from_slice(&self.bytes[..bytes]);
        Transmit { path: self.path, bytes, segment_bytes: bytes }
    }
}

impl QueryReply {
    /// Writes the answer; `None` if the buffer is too short for it.
    fn write_to(&self, buffer: &mut [u8]) -> Option<Transmit> {
        if answer_len(&self.payload) > buffer.len() {
            return None;
        }
        let mut writer = Writer::new(buffer);
        write_answer(&mut writer, self.nonce, &self.payload);
        let bytes = writer.len();
        Some(Transmit { path: self.path, bytes, segment_bytes: bytes })
    }
}
