//! Stateless answers to unknown hosts. No answer is longer than the datagram that it answers; few may wait.

use super::answer::{answer_len, write_answer};
use super::transmit::Transmit;
use crate::path::Path;
use crate::wire::cursor::Writer;
use bytes::Bytes;
use std::collections::VecDeque;

/// Stateless answers that wait to be sent, and the answer to queries.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    handshakes: VecDeque<Reply>,
    queries: VecDeque<QueryReply>,
    /// The application's answer to queries from now on, if it gives one.
    query_answer: Option<Bytes>,
}

#[derive(Debug)]
struct Reply {
    path: Path,
    length: u8,
    bytes: [u8; REPLY_BYTES_MAX],
}

/// An answer to a query: written when it leaves, so that many that wait share the application's bytes.
#[derive(Debug)]
struct QueryReply {
    path: Path,
    nonce: u64,
    payload: Bytes,
}

pub(crate) const REPLY_BYTES_MAX: usize = 160;
const REPLIES_MAX: usize = 1_024;
/// Greatest number of answers to queries that wait, apart from the others: a flood of queries cannot stop handshakes.
const QUERY_REPLIES_MAX: usize = 256;

impl Replies {
    /// Queues the answer that `write` writes. False if too many wait already.
    pub(crate) fn push(&mut self, path: Path, write: impl FnOnce(&mut Writer<'_>)) -> bool {
        if self.handshakes.len() >= REPLIES_MAX {
            return false;
        }
        let mut bytes = [0; REPLY_BYTES_MAX];
        let mut writer = Writer::new(&mut bytes);
        write(&mut writer);
        let length = writer.len() as u8;
        self.handshakes.push_back(Reply { path, length, bytes });
        true
    }

    /// Whether there is room for a RESET; most of the queue is reserved for handshakes.
    pub(super) fn has_room_for_reset(&self) -> bool {
        self.handshakes.len() < REPLIES_MAX / 4
    }

    /// Sets the answer to queries; `None` stops answering.
    pub(super) fn set_query_answer(&mut self, payload: Option<Bytes>) {
        self.query_answer = payload;
    }

    /// Whether there is an answer to a query of so many bytes, and it is no longer than the query.
    pub(super) fn can_answer(&self, query_bytes: usize) -> bool {
        self.query_answer.as_ref().is_some_and(|payload| answer_len(payload) <= query_bytes)
    }

    /// Queues an answer to a query. False if too many wait already, or there is none.
    pub(super) fn push_answer(&mut self, path: Path, nonce: u64) -> bool {
        let Some(payload) = self.query_answer.clone().filter(|_| self.queries.len() < QUERY_REPLIES_MAX) else {
            return false;
        };
        self.queries.push_back(QueryReply { path, nonce, payload });
        true
    }

    /// The next answer; answers to handshakes come first.
    #[inline]
    pub(crate) fn pop(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        if self.handshakes.is_empty() && self.queries.is_empty() { None } else { self.pop_first(buffer) }
    }

    #[cold]
    fn pop_first(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        if let Some(reply) = self.handshakes.pop_front() {
            let bytes = usize::from(reply.length);
            buffer[..bytes].copy_from_slice(&reply.bytes[..bytes]);
            return Some(Transmit { path: reply.path, bytes, segment_bytes: bytes });
        }
        let reply = self.queries.pop_front().filter(|reply| answer_len(&reply.payload) <= buffer.len())?;
        let mut writer = Writer::new(buffer);
        write_answer(&mut writer, reply.nonce, &reply.payload);
        let bytes = writer.len();
        Some(Transmit { path: reply.path, bytes, segment_bytes: bytes })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.handshakes.is_empty() && self.queries.is_empty()
    }
}
