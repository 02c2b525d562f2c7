//! The packet that is being written: the place of its frames, their records for the ledger, and the bytes of reliable
//! messages that the peer can still take.

use crate::recovery::{Ledger, Record};
use crate::seq::Seq;
use crate::wire::cursor::Writer;
use crate::wire::message::{FragmentHeader, MessageEncoder};
use crate::wire::number::Truncated;

/// A packet's plaintext under construction.
pub(crate) struct Packet<'a> {
    /// The position of the next frame.
    pub writer: Writer<'a>,
    /// The state of the last message frame, which the next one need not repeat.
    pub run: MessageEncoder,
    /// The ledger, which stores a record for each frame whose fate matters.
    pub ledger: &'a mut Ledger,
    /// The channel whose turn it is.
    pub channel: u16,
    /// The packet's number.
    pub number: u64,
    /// Bytes of frames that fit into a packet that holds nothing else.
    pub capacity: usize,
    /// Whether a frame written so far asks for an acknowledgement.
    pub is_ack_eliciting: bool,
    /// Payload bytes that are sent for the first time, for statistics.
    pub new_payload_bytes: u32,
    /// Messages whose first byte is in this packet.
    pub messages: u32,
    /// Retransmitted messages and fragments.
    pub resent: u32,
    /// Bytes of frames after which no further new message is begun: a burst is cut into packets of about equal size.
    pub target: usize,
    /// Age of the latest of its new messages, in ms.
    pub age_ms: u16,
    /// Bytes written before the first message.
    pub messages_from: usize,
    /// Bytes that messages leave free.
    pub reserve: usize,
}

impl<'a> Packet<'a> {
    /// An empty packet that writes into `writer`, which already holds the packet's number.
    pub(crate) fn new(writer: Writer<'a>, ledger: &'a mut Ledger, capacity: usize) -> Self {
        let number = ledger.next();
        Packet {
            writer,
            run: MessageEncoder::default(),
            ledger,
            channel: 0,
            number,
            capacity,
            is_ack_eliciting: false,
            new_payload_bytes: 0,
            messages: 0,
            resent: 0,
            target: usize::MAX,
            age_ms: 0,
            messages_from: 0,
            reserve: 0,
        }
    }

    /// Whether the next new message belongs in another packet.
    pub(crate) fn is_at_target(&self) -> bool {
        self.writer.len() - self.messages_from >= self.target
    }

    /// Bytes left until the target, for messages that may be cut into fragments.
    fn room_to_target(&self) -> usize {
        let to_target = self.target.saturating_sub(self.writer.len() - self.messages_from);
        self.room().min(to_target.max(FRAGMENT_BYTES_MIN + FRAGMENT_HEADER_BYTES_MAX))
    }

    /// Bytes left.
    pub(crate) fn room(&self) -> usize {
        self.writer.room().saturating_sub(self.reserve)
    }

    /// Notes a frame that asks for an acknowledgement and whose fate matters.
    pub(crate) fn record(&mut self, record: Record) {
        self.is_ack_eliciting = true;
        self.ledger.record(record);
    }
}

/// The receive window of the peer, and its occupied part. WIRE.md section 4.1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendWindow {
    /// Cost of the reliable messages in flight.
    pub taken: u64,
    /// The limit that the peer advertised last.
    pub limit: u64,
}

impl SendWindow {
    /// Whether a message of this cost may be sent.
    pub(crate) fn admits(&self, cost: u64) -> bool {
        self.taken + cost <= self.limit
    }
}

/// A fragment smaller than this is not worth the rest of a packet.
const FRAGMENT_BYTES_MIN: usize = 64;
/// Bytes of a fragment's header: flags, channel, sequence, offset, total, length.
const FRAGMENT_HEADER_BYTES_MAX: usize = 1 + 4 + 5 + 8 + 8 + 4;

impl Packet<'_> {
    pub(super) fn message(
        &mut self,
        sequence: Option<(u32, Truncated)>,
        fragment: Option<FragmentHeader>,
        payload: &[u8],
    ) {
        let channel = self.channel;
        self.run.encode_header(&mut self.writer, channel, sequence, fragment, payload.len());
        self.writer.bytes(payload);
    }

    /// Writes as much of `rest` of a message as fits and returns where it ended; `None` if that is too little.
    pub(super) fn fragment(
        &mut self,
        sequence: Seq,
        wire: (u32, Truncated),
        rest: core::ops::Range<u32>,
        payload: &[u8],
    ) -> Option<u32> {
        let header = Some(FragmentHeader { offset: rest.start, total: payload.len() as u32 });
        let wanted = (rest.end - rest.start) as usize;
        let room = self.room_to_target();
        let overhead = self.run.header_len(self.channel, Some(wire), header, wanted.min(room));
        let length = wanted.min(room.saturating_sub(overhead));
        if length < wanted.min(FRAGMENT_BYTES_MIN) || length == 0 {
            return None;
        }
        // Datagrams have grown since the message was split into fragments, of which the receiver may hold some.
        let length = if length == payload.len() { length.div_ceil(2) } else { length };
        let end = rest.start + length as u32;
        self.message(Some(wire), header, &payload[rest.start as usize..end as usize]);
        let channel = self.channel;
        self.record(Record::Fragment { channel, sequence, offset: rest.start, length: length as u32 });
        Some(end)
    }
}
