//! MESSAGE frames (WIRE.md section 4.2): fields that follow from the previous message in the packet are left out.

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::message_flags::{
    FLAG_CHANNEL, FLAG_FRAGMENT, FLAG_SEQUENCE, INLINE_LENGTH_MAX, LENGTH_AS_BEFORE, LENGTH_BITS, LENGTH_FOLLOWS,
    LENGTH_IS_REST, TYPE_MESSAGE,
};
use crate::wire::message_run::MessageRun;
use crate::wire::number::Truncated;
use crate::wire::varint;

/// One message, or a fragment of one, as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its channel.
    pub channel: u16,
    /// Its place on the channel.
    pub sequence: Sequence,
    /// The place of the payload in its message; `None` for a whole one.
    pub fragment: Option<FragmentHeader>,
    /// The application's bytes.
    pub payload: &'a [u8],
}

/// The sequence of a received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// The message has no sequence, which only channels of mode unreliable allow. Never with a fragment.
    None,
    /// One more than the message before it in this packet, which was on the same channel and had one.
    Next,
    /// Truncated; the receiver resolves it.
    Truncated(Truncated),
}

/// The place of a fragment: `offset` and its payload reach to `total` at most, and the payload is neither empty nor
/// all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentHeader {
    /// Bytes of the message before the payload.
    pub offset: u32,
    /// Bytes of the message.
    pub total: u32,
}

impl FragmentHeader {
    fn holds(self, payload_len: usize) -> bool {
        let (payload, total) = (payload_len as u64, u64::from(self.total));
        payload > 0 && payload < total && u64::from(self.offset) + payload <= total
    }
}

/// The state of the encoder between the MESSAGE frames of one packet; the default is the start of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageEncoder {
    channel: u16,
    sequence: Option<u32>,
    /// Bytes of the payload before.
    length: Option<usize>,
}

impl MessageEncoder {
    /// Bytes of header that this message needs here, before its payload. `sequence` is the whole number and its
    /// truncated form, which is sent if necessary; messages of a channel either all have one or, if it is unreliable,
    /// may lack it.
    pub fn header_len(
        &self,
        channel: u16,
        sequence: Option<(u32, Truncated)>,
        fragment: Option<FragmentHeader>,
        payload_len: usize,
    ) -> usize {
        let fields = self.fields(channel, sequence);
        let channel_len = fields.channel.map_or(0, |channel| varint::len(channel.into()));
        let sequence_len = fields.sequence.map_or(0, Truncated::len);
        let fragment_len =
            fragment.map_or(0, |fragment| varint::len(fragment.offset.into()) + varint::len(fragment.total.into()));
        1 + channel_len + sequence_len + fragment_len + self.length_len(payload_len, fragment.is_some())
    }

    /// Writes the header, [`MessageEncoder::header_len`] bytes; the caller writes the payload of `payload_len` bytes
    /// after it.
    ///
    /// # Panics
    /// If a fragment has no sequence or is not a proper part of its message, or there is no room.
    pub fn encode_header(
        &mut self,
        writer: &mut Writer<'_>,
        channel: u16,
        sequence: Option<(u32, Truncated)>,
        fragment: Option<FragmentHeader>,
        payload_len: usize,
    ) {
        let fits = fragment.is_none_or(|fragment| sequence.is_some() && fragment.holds(payload_len));
        assert!(fits, "a fragment has a sequence and is a proper part of its message");
        let fields = self.fields(channel, sequence);
        let length_bits = self.length_bits(payload_len, fragment.is_some());
        writer.u8(TYPE_MESSAGE
            | if fields.channel.is_some() { FLAG_CHANNEL } else { 0 }
            | if fields.sequence.is_some() { FLAG_SEQUENCE } else { 0 }
            | if fragment.is_some() { FLAG_FRAGMENT } else { 0 }
            | length_bits);
        if let Some(channel) = fields.channel {
            writer.varint(channel.into());
        }
        if let Some(truncated) = fields.sequence {
            writer.truncated(truncated);
        }
        if let Some(fragment) = fragment {
            writer.varint(fragment.offset.into());
            writer.varint(fragment.total.into());
        }
        if length_bits == LENGTH_FOLLOWS {
            writer.varint(payload_len as u64);
        }
        *self = MessageEncoder { channel, sequence: sequence.map(|(sequence, _)| sequence), length: Some(payload_len) };
    }

    /// Whether a message with this sequence follows the previous one on its channel, so that its header contains
    /// neither.
    pub fn is_next(&self, channel: u16, sequence: u32) -> bool {
        channel == self.channel && self.sequence.is_some_and(|before| sequence == before.wrapping_add(1))
    }

    /// Bytes of a whole message that [`MessageEncoder::is_next`].
    pub fn next_len(&self, payload_len: usize) -> usize {
        1 + self.length_len(payload_len, false) + payload_len
    }

    /// Writes a whole message that [`MessageEncoder::is_next`], header and payload: most of all messages are such.
    pub fn encode_next(&mut self, writer: &mut Writer<'_>, payload: &[u8]) {
        let length_bits = self.length_bits(payload.len(), false);
        writer.u8(TYPE_MESSAGE | length_bits);
        if length_bits == LENGTH_FOLLOWS {
            writer.varint(payload.len() as u64);
        }
        writer.bytes(payload);
        self.sequence = self.sequence.map(|before| before.wrapping_add(1));
        self.length = Some(payload.len());
    }

    /// As if a message of this length had been written.
    pub fn expect_length(&mut self, payload_len: usize) {
        self.length = Some(payload_len);
    }

    /// Writes whole messages that follow the one before, from frames that [`MessageEncoder::encode_next`] wrote after a
    /// message of the same length: `count` messages, the last of which has `last_len` bytes.
    pub fn copy_next(&mut self, writer: &mut Writer<'_>, frames: &[u8], count: usize, last_len: usize) {
        writer.bytes(frames);
        self.sequence = self.sequence.map(|before| before.wrapping_add(count as u32));
        self.length = Some(last_len);
    }

    /// The bits of the first byte that give the payload's length. A fragment's length follows from the room that its
    /// header leaves, so the header does not depend on the length.
    fn length_bits(&self, payload_len: usize, is_fragment: bool) -> u8 {
        match payload_len {
            0..=INLINE_LENGTH_MAX => payload_len as u8,
            _ if self.length == Some(payload_len) && !is_fragment => LENGTH_AS_BEFORE,
            _ => LENGTH_FOLLOWS,
        }
    }

    fn length_len(&self, payload_len: usize, is_fragment: bool) -> usize {
        if self.length_bits(payload_len, is_fragment) == LENGTH_FOLLOWS { varint::len(payload_len as u64) } else { 0 }
    }

    fn fields(&self, channel: u16, sequence: Option<(u32, Truncated)>) -> Fields {
        let changes = channel != self.channel;
        match (sequence, self.sequence) {
            // The bare frame would mean the next sequence: the repeated channel marks that there is none.
            (None, Some(_)) => Fields { channel: Some(channel), sequence: None },
            (Some((sequence, _)), Some(before)) if !changes && sequence == before.wrapping_add(1) => {
                Fields { channel: None, sequence: None }
            }
            (sequence, _) => {
                Fields { channel: changes.then_some(channel), sequence: sequence.map(|(_, truncated)| truncated) }
            }
        }
    }
}

/// The optional fields that a frame needs at its place in the packet.
struct Fields {
    channel: Option<u16>,
    sequence: Option<Truncated>,
}

/// The state of the decoder between the MESSAGE frames of one packet; the default is the start of a packet.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MessageDecoder {
    channel: u16,
    has_sequence: bool,
    length: Option<usize>,
}

impl MessageDecoder {
    /// The messages at the beginning of `bytes` that follow this one.
    pub(super) fn run<'a>(&self, bytes: &'a [u8]) -> MessageRun<'a> {
        let length = self.length.filter(|_| self.has_sequence);
        length.map_or(MessageRun::at(&[], 0), |length| MessageRun::at(bytes, length))
    }

    /// Advances past a run that it returned.
    pub(super) fn skip_run(&mut self, run: &MessageRun<'_>) {
        if run.count > 0 {
            self.length = Some(run.last);
        }
    }

    /// Decodes the rest of a MESSAGE after its first byte, `flags`.
    pub(super) fn decode<'a>(&mut self, reader: &mut Reader<'a>, flags: u8) -> Result<Message<'a>, Malformed> {
        let says_channel = flags & FLAG_CHANNEL != 0;
        let channel = if says_channel { reader.varint_u16()? } else { self.channel };
        let sequence = if flags & FLAG_SEQUENCE != 0 {
            Sequence::Truncated(reader.truncated()?)
        } else if self.has_sequence && !says_channel {
            Sequence::Next
        } else {
            Sequence::None
        };
        let fragment = if flags & FLAG_FRAGMENT != 0 {
            Some(FragmentHeader { offset: reader.varint_u32()?, total: reader.varint_u32()? })
        } else {
            None
        };
        let payload = match flags & LENGTH_BITS {
            LENGTH_AS_BEFORE => reader.take(self.length.ok_or(Malformed)?)?,
            LENGTH_FOLLOWS => reader.prefixed(usize::MAX)?,
            LENGTH_IS_REST => reader.rest(),
            length => reader.take(length.into())?,
        };
        let has_sequence = sequence != Sequence::None;
        if fragment.is_some_and(|fragment| !has_sequence || !fragment.holds(payload.len())) {
            return Err(Malformed);
        }
        *self = MessageDecoder { channel, has_sequence, length: Some(payload.len()) };
        Ok(Message { channel, sequence, fragment, payload })
    }
}

/// Bytes of header of any MESSAGE in a datagram, at most: type, channel, sequence, offset, total, payload length.
pub const MESSAGE_HEADER_BYTES_MAX: usize = 1 + 4 + 5 + 8 + 8 + 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// The input of the encoder: channel, sequence, fragment and payload.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Sent {
        channel: u16,
        sequence: Option<u32>,
        fragment: Option<FragmentHeader>,
        payload: &'static [u8],
    }

    const fn sent(channel: u16, sequence: Option<u32>, payload: &'static [u8]) -> Sent {
        Sent { channel, sequence, fragment: None, payload }
    }

    fn encode(messages: &[Sent]) -> Vec<u8> {
        let mut buffer = [0xee; 4096];
        let mut writer = Writer::new(&mut buffer);
        let mut run = MessageEncoder::default();
        for &Sent { channel, sequence, fragment, payload } in messages {
            let sequence = sequence.map(|number| (number, Truncated::new(number.into(), 10)));
            let before = writer.len();
            let announced = run.header_len(channel, sequence, fragment, payload.len());
            run.encode_header(&mut writer, channel, sequence, fragment, payload.len());
            assert_eq!(writer.len() - before, announced);
            assert!(announced <= MESSAGE_HEADER_BYTES_MAX);
            writer.bytes(payload);
        }
        writer.written().to_vec()
    }

    fn decode(bytes: &[u8]) -> Result<Vec<Message<'_>>, Malformed> {
        let mut reader = Reader::new(bytes);
        let mut previous = MessageDecoder::default();
        let mut messages = Vec::new();
        while !reader.is_empty() {
            let flags = reader.u8()?;
            assert!(flags >= TYPE_MESSAGE);
            messages.push(previous.decode(&mut reader, flags)?);
        }
        Ok(messages)
    }

    fn assert_round_trip(messages: &[Sent]) {
        let bytes = encode(messages);
        let decoded = decode(&bytes).unwrap();
        assert_eq!(decoded.len(), messages.len());
        let mut before = None;
        for (message, sent) in decoded.iter().zip(messages) {
            let sequence = match message.sequence {
                Sequence::None => None,
                Sequence::Next => before.map(|before: u32| before.wrapping_add(1)),
                Sequence::Truncated(truncated) => Some(truncated.resolve_seq(sent.sequence.unwrap().wrapping_add(9))),
            };
            assert_eq!((message.channel, sequence), (sent.channel, sent.sequence));
            assert_eq!((message.fragment, message.payload), (sent.fragment, sent.payload));
            before = sequence;
        }
    }

    #[test]
    fn a_following_message_is_encoded_as_by_the_general_encoder() {
        for length in [0, 1, 13, 14, 63, 64, 100, 1_400, 16_383, 16_384, 70_000] {
            let payload = vec![7; length];
            let (mut buffers, mut runs) = ([vec![0; 70_100], vec![0; 70_100]], [MessageEncoder::default(); 2]);
            let [general, short] = &mut buffers;
            let (mut general, mut short) = (Writer::new(general), Writer::new(short));
            let truncated = Truncated::new(7, 10);
            runs.iter_mut().zip([&mut general, &mut short]).for_each(|(run, writer)| {
                run.encode_header(writer, 3, Some((u32::MAX, truncated)), None, 0);
            });
            assert!(runs[1].is_next(3, 0) && !runs[1].is_next(2, 0) && !runs[1].is_next(3, 1));
            runs[0].encode_header(&mut general, 3, Some((0, truncated)), None, length);
            general.bytes(&payload);
            let (before, announced) = (short.len(), runs[1].next_len(length));
            runs[1].encode_next(&mut short, &payload);
            assert_eq!(short.len() - before, announced);
            assert_eq!((short.written(), runs[1]), (general.written(), runs[0]));
        }
    }

    #[test]
    fn every_sequence_of_three_messages_round_trips() {
        let mut kinds = Vec::new();
        for channel in [0, 1, 63, 64, u16::MAX] {
            for sequence in [None, Some(0), Some(1), Some(u32::MAX)] {
                kinds.push(sent(channel, sequence, b"x"));
            }
        }
        for &a in &kinds {
            for &b in &kinds {
                for &c in &kinds {
                    assert_round_trip(&[a, b, c]);
                }
            }
        }
    }

    #[test]
    fn payload_lengths_round_trip_at_the_limits_of_each_form() {
        static PAYLOAD: [u8; 2000] = [0x55; 2000];
        for length in [0, 1, 13, 14, 63, 64, 2000] {
            assert_round_trip(&[sent(3, Some(70), &PAYLOAD[..length]), sent(3, Some(71), &PAYLOAD[..length])]);
        }
    }

    #[test]
    fn the_next_message_of_a_channel_costs_one_byte() {
        let run = [sent(0, Some(7), b"ab"), sent(0, Some(8), b"cd"), sent(0, Some(9), b"")];
        assert_eq!(encode(&run), b"\xa2\x07ab\x82cd\x80");
        assert_eq!(encode(&[sent(0, None, b"ab"), sent(0, None, b"")]), b"\x82ab\x80");
    }

    #[test]
    fn a_message_without_sequence_after_one_with_it_repeats_the_channel() {
        let run = [sent(5, Some(7), b""), sent(5, None, b""), sent(5, None, b""), sent(5, Some(8), b"")];
        assert_eq!(encode(&run), b"\xe0\x05\x07\xc0\x05\x80\xa0\x08");
        assert_round_trip(&run);
    }

    #[test]
    fn fragments_round_trip() {
        let fragment = |offset, total, payload| Sent {
            fragment: Some(FragmentHeader { offset, total }),
            ..sent(1, Some(4), payload)
        };
        assert_round_trip(&[
            fragment(0, 6, b"abc"),
            fragment(3, 6, b"def"),
            sent(1, Some(5), b"whole"),
            Sent { sequence: Some(6), ..fragment(u32::MAX - 1, u32::MAX, b"z") },
        ]);
    }

    #[test]
    fn a_payload_may_reach_to_the_end_of_the_packet() {
        let messages = decode(b"\x81a\x8fthe rest").unwrap();
        assert_eq!(messages[1].payload, b"the rest");
        assert_eq!(decode(b"\x8f").unwrap()[0].payload, b"");
    }

    #[test]
    fn a_repeated_channel_without_sequence_has_no_sequence() {
        let messages = decode(b"\xa0\x07\xc0\x00\x80").unwrap();
        let sequences: Vec<_> = messages.iter().map(|message| message.sequence).collect();
        let seven = Sequence::Truncated(Truncated { value: 7, bits: 7 });
        assert_eq!(sequences, [seven, Sequence::None, Sequence::None]);
    }

    #[test]
    fn a_channel_above_65535_is_malformed() {
        assert!(decode(b"\xc0\x80\x00\xff\xff").is_ok());
        assert_eq!(decode(b"\xc0\x80\x01\x00\x00"), Err(Malformed));
    }

    #[test]
    fn a_fragment_outside_of_its_message_is_malformed() {
        assert!(decode(b"\xb1\x07\x01\x02x").is_ok());
        let empty = b"\xb0\x07\x01\x02";
        let whole = b"\xb1\x07\x00\x01x";
        let beyond = b"\xb1\x07\x02\x02x";
        let offset_of_33_bits = b"\xb1\x07\xc0\x00\x00\x01\x00\x00\x00\x00\x02x";
        let total_of_33_bits = b"\xb1\x07\x00\xc0\x00\x00\x01\x00\x00\x00\x00x";
        for bytes in [&empty[..], whole, beyond, offset_of_33_bits, total_of_33_bits] {
            assert_eq!(decode(bytes), Err(Malformed));
        }
    }

    #[test]
    fn a_fragment_without_a_sequence_is_malformed() {
        assert_eq!(decode(b"\x91\x00\x02x"), Err(Malformed));
        assert_eq!(decode(b"\xa0\x07\xd1\x00\x00\x02x"), Err(Malformed));
        assert!(decode(b"\xa0\x07\x91\x00\x02x").is_ok());
    }

    #[test]
    fn every_truncated_message_is_malformed() {
        let fragment = Some(FragmentHeader { offset: 100, total: 200 });
        let bytes = encode(&[Sent { fragment, ..sent(300, Some(4), b"more than 13 bytes") }]);
        for cut in 1..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), Err(Malformed));
        }
    }

    #[test]
    #[should_panic(expected = "proper part")]
    fn encoding_a_fragment_of_the_whole_message_panics() {
        let fragment = Some(FragmentHeader { offset: 0, total: 1 });
        encode(&[Sent { fragment, ..sent(0, Some(0), b"x") }]);
    }

    #[test]
    #[should_panic(expected = "has a sequence")]
    fn encoding_a_fragment_without_a_sequence_panics() {
        let fragment = Some(FragmentHeader { offset: 0, total: 2 });
        encode(&[Sent { fragment, ..sent(0, None, b"x") }]);
    }
}
