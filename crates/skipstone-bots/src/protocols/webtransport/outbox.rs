//! What leaves on streams of a session: the one stream, and messages with streams of their own. Flow control may hold
//! both back; the queues are bounded.

use super::super::limits::queue_cost;
use super::quic::QuicLink;
use crate::protocol::{Protocol, QUEUE_BYTES_MAX, SendRefused};
use bytes::Buf;
use quinn_proto::{Dir, StreamId};
use skipstone_proto::Time;
use std::collections::VecDeque;
use web_transport_proto::VarInt;

/// The streams on which a client sends.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    stream: Option<StreamId>,
    /// Bytes of the one stream that flow control holds back.
    stream_rest: VecDeque<u8>,
    /// Messages that are not sent whole.
    messages: VecDeque<OwnStream>,
    /// What they cost.
    queued: usize,
}

/// A message on a stream of its own, with what goes before it.
#[derive(Debug)]
struct OwnStream {
    id: Option<StreamId>,
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// The one stream, once it is open.
    pub(super) fn stream(&self) -> Option<StreamId> {
        self.stream
    }

    /// Opens the one stream, unless it is open.
    pub(super) fn open_stream(&mut self, quic: &mut QuicLink, session: StreamId) -> Result<(), SendRefused> {
        if self.stream.is_none() {
            let id = quic.connection.streams().open(Dir::Bi);
            self.stream = Some(id.ok_or(SendRefused::Unwritable("the server allows no stream now"))?);
            self.stream_rest.extend(head(BIDIRECTIONAL, session));
        }
        Ok(())
    }

    /// Queues a message with a stream of its own.
    pub(super) fn push(&mut self, session: StreamId, data: &[u8]) -> Result<(), SendRefused> {
        if data.len() > QUEUE_BYTES_MAX {
            return Err(SendRefused::TooLong { size: data.len(), max: QUEUE_BYTES_MAX });
        }
        if self.queued + data.len() > QUEUE_BYTES_MAX {
            return Err(SendRefused::QueueFull { queued: self.queued });
        }
        let mut bytes = head(UNIDIRECTIONAL, session);
        bytes.extend_from_slice(data);
        self.queued += queue_cost(&bytes);
        self.messages.push_back(OwnStream { id: None, bytes, sent: 0 });
        Ok(())
    }

    /// Writes what waits. `framing` has the messages of the one stream.
    pub(super) fn write(&mut self, quic: &mut QuicLink, framing: &mut dyn Protocol, now: Time) {
        if let Some(id) = self.stream {
            while self.write_stream(quic, id, framing, now) {}
        }
        while self.write_message(quic) {}
    }

    /// Whether there may be more to write.
    fn write_stream(&mut self, quic: &mut QuicLink, id: StreamId, framing: &mut dyn Protocol, now: Time) -> bool {
        if self.stream_rest.is_empty() {
            let mut chunk = Vec::new();
            if !framing.poll_transmit(now, &mut chunk) {
                return false;
            }
            self.stream_rest.extend(chunk);
        }
        match quic.write(id, self.stream_rest.as_slices().0) {
            Some(count) => {
                self.stream_rest.advance(count);
                count > 0
            }
            // The server does not read the stream any more.
            None => {
                self.stream_rest.clear();
                true
            }
        }
    }

    fn write_message(&mut self, quic: &mut QuicLink) -> bool {
        let Some(message) = self.messages.front_mut() else { return false };
        if message.id.is_none() {
            message.id = quic.connection.streams().open(Dir::Uni);
        }
        // Without one, the server allows no further stream now.
        let Some(id) = message.id else { return false };
        if let Some(count) = quic.write(id, &message.bytes[message.sent..]) {
            message.sent += count;
            if message.sent < message.bytes.len() {
                return count > 0;
            }
        }
        quic.finish(id);
        self.queued -= queue_cost(&message.bytes);
        self.messages.pop_front();
        true
    }
}

/// What goes before the content of a stream of the session.
fn head(kind: u32, session: StreamId) -> Vec<u8> {
    let mut bytes = Vec::new();
    VarInt::from_u32(kind).encode(&mut bytes);
    VarInt::from_u64(u64::from(session)).expect("streams have 62 bits").encode(&mut bytes);
    bytes
}

/// The kinds of a session's streams.
pub(super) const BIDIRECTIONAL: u32 = 0x41;
pub(super) const UNIDIRECTIONAL: u32 = 0x54;
