//! Frames, which an opened packet consists of (WIRE.md section 4).

use crate::wire::Malformed;
use crate::wire::ack::{self, Ack, Repaired};
use crate::wire::cursor::{self, Reader, Writer};
use crate::wire::message::{self, Message};
use crate::wire::message_flags::TYPE_MESSAGE;
use crate::wire::message_run::MessageRun;
use crate::wire::repair::{self, Repair};
use crate::wire::varint;

/// One frame as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// One or more bytes that mean nothing.
    Padding,
    /// Asks for an acknowledgement, without other content.
    Ping,
    /// ACK or ACK_WINDOW (section 4.1).
    Ack(Ack<'a>),
    /// A client identifies itself to the application.
    Connect {
        /// The application's, [`TOKEN_BYTES_MAX`] at most.
        token: &'a [u8],
        /// The client's limits, still encoded (section 5).
        limits: &'a [u8],
    },
    /// A server's application accepted the client.
    Accept {
        /// The server's connection id, not 0.
        source: u32,
        /// Settings, still encoded (section 5).
        settings: &'a [u8],
    },
    /// The connection ends.
    Close {
        /// A close code (section 8).
        code: u64,
        /// For people, [`REASON_BYTES_MAX`] at most.
        reason: &'a str,
    },
    /// The answer to a CLOSE.
    Closed,
    /// Which packets were recovered from repair packets (section 4.3).
    Repaired(Repaired<'a>),
    /// A repair symbol, to the end of the packet (section 4.4).
    Repair(Repair<'a>),
    /// The messages of this packet are late (section 4.5).
    Late {
        /// Their lateness, in ms.
        age_ms: u64,
    },
    /// A challenge, which the peer at this address answers with a PATH_RESPONSE.
    PathChallenge {
        /// Random.
        token: u64,
    },
    /// The answer to a PATH_CHALLENGE.
    PathResponse {
        /// The token of the challenge that it answers.
        token: u64,
    },
    /// A client asks for the server's time (section 4.6).
    TimeRequest {
        /// The client's clock when it asked, in µs.
        sent_us: u64,
    },
    /// The answer to a TIME_REQUEST.
    TimeResponse {
        /// The time in the request that it answers.
        sent_us: u64,
        /// The server's clock when it answered, in µs.
        server_us: u64,
        /// How long the server had the request by then, in µs.
        held_us: u64,
    },
    /// Another id by which the sender can be reached, for packets after a move (section 6.3).
    NewId {
        /// The number of ids that the sender had given before, including its first.
        sequence: u64,
        /// Not 0.
        id: u32,
    },
    /// One of the extension range that this version does not know (section 4.7).
    Extension {
        /// [`TYPE_EXTENSION`] to 0x7F.
        kind: u8,
        /// The frame's content.
        body: &'a [u8],
    },
    /// A message or a fragment of one (section 4.2).
    Message(Message<'a>),
}

impl Frame<'_> {
    /// Whether the packet that holds this asks for an acknowledgement. (A packet without any frame does too.)
    pub const fn is_ack_eliciting(&self) -> bool {
        match self {
            Frame::Padding
            | Frame::Ack(_)
            | Frame::Close { .. }
            | Frame::Closed
            | Frame::Repaired(_)
            | Frame::Repair(_)
            | Frame::Late { .. }
            | Frame::PathChallenge { .. }
            | Frame::PathResponse { .. }
            | Frame::TimeRequest { .. }
            | Frame::TimeResponse { .. } => false,
            Frame::Ping | Frame::Connect { .. } | Frame::Accept { .. } | Frame::NewId { .. } | Frame::Message(_) => {
                true
            }
            Frame::Extension { kind, .. } => *kind >= TYPE_EXTENSION_ELICITING,
        }
    }
}

/// The frames of one packet, in order; ends after an error, which makes the whole packet malformed.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    reader: Reader<'a>,
    previous: message::MessageDecoder,
}

impl<'a> Frames<'a> {
    /// Begins at the first byte after the packet number; `frames` reaches to the end of the packet, without its tag.
    pub fn new(frames: &'a [u8]) -> Frames<'a> {
        Frames { reader: Reader::new(frames), previous: message::MessageDecoder::default() }
    }

    /// Bytes that are still to be decoded.
    pub fn remaining(&self) -> usize {
        self.reader.remaining()
    }

    /// The run of messages that follows the message just taken; empty if the last frame was not a message.
    pub fn run(&self) -> MessageRun<'a> {
        self.previous.run(self.reader.peek())
    }

    /// Passes over a run that is next.
    pub fn skip_run(&mut self, run: &MessageRun<'_>) {
        if self.reader.take(run.bytes.len()).is_ok() {
            self.previous.skip_run(run);
        }
    }

    fn decode(&mut self) -> Result<Frame<'a>, Malformed> {
        let reader = &mut self.reader;
        match reader.u8()? {
            TYPE_PADDING => {
                skip_padding(reader);
                Ok(Frame::Padding)
            }
            TYPE_PING => Ok(Frame::Ping),
            ack @ (ack::TYPE_ACK | ack::TYPE_ACK_WINDOW) => ack::decode(reader, ack).map(Frame::Ack),
            TYPE_CONNECT => {
                Ok(Frame::Connect { token: reader.prefixed(TOKEN_BYTES_MAX)?, limits: reader.prefixed(usize::MAX)? })
            }
            TYPE_ACCEPT => decode_accept(reader),
            TYPE_CLOSE => Ok(Frame::Close { code: reader.varint()?, reason: reader.prefixed_str(REASON_BYTES_MAX)? }),
            TYPE_CLOSED => Ok(Frame::Closed),
            ack::TYPE_REPAIRED => ack::decode_repaired(reader).map(Frame::Repaired),
            repair::TYPE_REPAIR => repair::decode(reader).map(Frame::Repair),
            TYPE_LATE => Ok(Frame::Late { age_ms: reader.varint()? }),
            TYPE_PATH_CHALLENGE => Ok(Frame::PathChallenge { token: reader.u64()? }),
            TYPE_PATH_RESPONSE => Ok(Frame::PathResponse { token: reader.u64()? }),
            TYPE_TIME_REQUEST => Ok(Frame::TimeRequest { sent_us: reader.varint()? }),
            TYPE_TIME_RESPONSE => Ok(Frame::TimeResponse {
                sent_us: reader.varint()?,
                server_us: reader.varint()?,
                held_us: reader.varint()?,
            }),
            TYPE_NEW_ID => decode_new_id(reader),
            flags @ TYPE_MESSAGE.. => self.previous.decode(reader, flags).map(Frame::Message),
            kind @ TYPE_EXTENSION..TYPE_MESSAGE => Ok(Frame::Extension { kind, body: reader.prefixed(usize::MAX)? }),
            0x10..TYPE_EXTENSION => Err(Malformed),
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let frame = self.decode();
        if frame.is_err() {
            self.reader.rest();
        }
        Some(frame)
    }
}

impl std::iter::FusedIterator for Frames<'_> {}

fn skip_padding(reader: &mut Reader<'_>) {
    let rest = reader.rest();
    let zeros = rest.iter().take_while(|&&byte| byte == TYPE_PADDING).count();
    *reader = Reader::new(&rest[zeros..]);
}

fn decode_accept<'a>(reader: &mut Reader<'a>) -> Result<Frame<'a>, Malformed> {
    let source = reader.u24()?;
    if source == 0 {
        return Err(Malformed);
    }
    Ok(Frame::Accept { source, settings: reader.prefixed(usize::MAX)? })
}

fn decode_new_id<'a>(reader: &mut Reader<'a>) -> Result<Frame<'a>, Malformed> {
    match (reader.varint()?, reader.u24()?) {
        (_, 0) => Err(Malformed),
        (sequence, id) => Ok(Frame::NewId { sequence, id }),
    }
}

/// Writes a PING, one byte. (PADDING is [`Writer::zeros`].)
pub fn encode_ping(writer: &mut Writer<'_>) {
    writer.u8(TYPE_PING);
}

/// Writes a CONNECT; `token` has [`TOKEN_BYTES_MAX`] at most, and the limits are encoded.
///
/// # Panics
/// If the token is longer than [`TOKEN_BYTES_MAX`], or there is no room.
pub fn encode_connect(writer: &mut Writer<'_>, token: &[u8], limits: &[u8]) {
    assert!(token.len() <= TOKEN_BYTES_MAX, "a token has a limit");
    writer.u8(TYPE_CONNECT);
    writer.prefixed(token);
    writer.prefixed(limits);
}

/// Bytes of a CONNECT.
pub const fn connect_len(token: &[u8], limits: &[u8]) -> usize {
    1 + cursor::prefixed_len(token.len()) + cursor::prefixed_len(limits.len())
}

/// Writes an ACCEPT with encoded settings; `source` is the server's id, not 0.
///
/// # Panics
/// If `source` is 0, or there is no room.
pub fn encode_accept(writer: &mut Writer<'_>, source: u32, settings: &[u8]) {
    assert!(source != 0, "a connection id is not 0");
    writer.u8(TYPE_ACCEPT);
    writer.u24(source);
    writer.prefixed(settings);
}

/// Bytes of an ACCEPT.
pub const fn accept_len(settings: &[u8]) -> usize {
    1 + 3 + cursor::prefixed_len(settings.len())
}

/// Writes a CLOSE; `reason` has [`REASON_BYTES_MAX`] at most.
///
/// # Panics
/// If the reason is longer than [`REASON_BYTES_MAX`], or there is no room.
pub fn encode_close(writer: &mut Writer<'_>, code: u64, reason: &str) {
    assert!(reason.len() <= REASON_BYTES_MAX, "the reason of a CLOSE has a limit");
    writer.u8(TYPE_CLOSE);
    writer.varint(code);
    writer.prefixed(reason.as_bytes());
}

/// Writes a CLOSED, 1 byte.
pub fn encode_closed(writer: &mut Writer<'_>) {
    writer.u8(TYPE_CLOSED);
}

/// Writes a frame of the extension range.
///
/// # Panics
/// If `kind` is not of that range, or there is no room.
pub fn encode_extension(writer: &mut Writer<'_>, kind: u8, body: &[u8]) {
    assert!((TYPE_EXTENSION..TYPE_MESSAGE).contains(&kind), "a type of the extension range");
    writer.u8(kind);
    writer.prefixed(body);
}

/// Writes a LATE, [`LATE_BYTES_MAX`] at most.
pub fn encode_late(writer: &mut Writer<'_>, age_ms: u16) {
    writer.u8(TYPE_LATE);
    writer.varint(age_ms.into());
}

/// Writes a PATH_CHALLENGE, [`PATH_BYTES`] long.
pub fn encode_path_challenge(writer: &mut Writer<'_>, token: u64) {
    writer.u8(TYPE_PATH_CHALLENGE);
    writer.u64(token);
}

/// Writes a PATH_RESPONSE, [`PATH_BYTES`] long.
pub fn encode_path_response(writer: &mut Writer<'_>, token: u64) {
    writer.u8(TYPE_PATH_RESPONSE);
    writer.u64(token);
}

/// Writes a TIME_REQUEST, [`TIME_REQUEST_BYTES_MAX`] at most.
pub fn encode_time_request(writer: &mut Writer<'_>, sent_us: u64) {
    writer.u8(TYPE_TIME_REQUEST);
    writer.varint(sent_us);
}

/// Writes a TIME_RESPONSE, [`TIME_RESPONSE_BYTES_MAX`] at most.
pub fn encode_time_response(writer: &mut Writer<'_>, sent_us: u64, server_us: u64, held_us: u64) {
    writer.u8(TYPE_TIME_RESPONSE);
    writer.varint(sent_us);
    writer.varint(server_us);
    writer.varint(held_us);
}

/// Writes a NEW_ID, [`NEW_ID_BYTES_MAX`] at most; `id` is not 0.
///
/// # Panics
/// If `id` is 0, or there is no room.
pub fn encode_new_id(writer: &mut Writer<'_>, sequence: u64, id: u32) {
    assert!(id != 0, "a connection id is not 0");
    writer.u8(TYPE_NEW_ID);
    writer.varint(sequence);
    writer.u24(id);
}

/// Bytes of a CLOSE.
pub const fn close_len(code: u64, reason: &str) -> usize {
    1 + varint::len(code) + cursor::prefixed_len(reason.len())
}

/// Bytes of the token in a CONNECT, at most.
pub const TOKEN_BYTES_MAX: usize = 1024;
/// Bytes of the reason in a CLOSE, at most.
pub const REASON_BYTES_MAX: usize = 512;
/// Bytes of a CLOSED.
pub const CLOSED_BYTES: usize = 1;
/// Bytes of a PATH_CHALLENGE or a PATH_RESPONSE.
pub const PATH_BYTES: usize = 9;
/// Bytes of a TIME_REQUEST, at most.
pub const TIME_REQUEST_BYTES_MAX: usize = 9;
/// Bytes of a TIME_RESPONSE, at most.
pub const TIME_RESPONSE_BYTES_MAX: usize = 25;

/// Bytes of a NEW_ID, at most.
pub const NEW_ID_BYTES_MAX: usize = 12;
/// Bytes of a LATE, at most.
pub const LATE_BYTES_MAX: usize = 5;

const TYPE_PADDING: u8 = 0x00;
const TYPE_PING: u8 = 0x01;
const TYPE_CONNECT: u8 = 0x04;
const TYPE_ACCEPT: u8 = 0x05;
const TYPE_CLOSE: u8 = 0x06;
const TYPE_CLOSED: u8 = 0x07;
const TYPE_LATE: u8 = 0x0A;
const TYPE_PATH_CHALLENGE: u8 = 0x0B;
const TYPE_PATH_RESPONSE: u8 = 0x0C;
const TYPE_TIME_REQUEST: u8 = 0x0D;
const TYPE_TIME_RESPONSE: u8 = 0x0E;
const TYPE_NEW_ID: u8 = 0x0F;
/// The first type of the extension range, whose frames have a length and ask for no acknowledgement.
pub const TYPE_EXTENSION: u8 = 0x40;
/// The first of those that ask for an acknowledgement.
pub const TYPE_EXTENSION_ELICITING: u8 = 0x60;

#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::message::{MessageEncoder, Sequence};
    use crate::wire::{datagram, settings};

    fn frames(bytes: &[u8]) -> Result<Vec<Frame<'_>>, Malformed> {
        Frames::new(bytes).collect()
    }

    fn written(encode: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut buffer = vec![0; 2000];
        let mut writer = Writer::new(&mut buffer);
        encode(&mut writer);
        writer.written().to_vec()
    }

    fn one_of_each() -> Vec<u8> {
        written(|w| {
            encode_connect(w, b"token", b"limits");
            encode_accept(w, 0x01_0203, b"settings");
            assert!(ack::encode_ack(w, [3..=9].into_iter(), 0, 25, None));
            encode_close(w, 1002, "kicked");
            encode_path_challenge(w, 0x0102_0304_0506_0708);
            encode_path_response(w, 7);
            encode_time_request(w, 1_000_000);
            encode_time_response(w, 1_000_000, 7_000_000_000, 250);
            w.zeros(3);
            encode_ping(w);
            MessageEncoder::default().encode_header(w, 2, None, None, 4);
            w.bytes(b"text");
        })
    }

    #[test]
    fn every_frame_round_trips() {
        let bytes = one_of_each();
        let decoded = frames(&bytes).unwrap();
        assert_eq!(decoded.len(), 11);
        assert_eq!(decoded[0], Frame::Connect { token: b"token", limits: b"limits" });
        assert_eq!(decoded[1], Frame::Accept { source: 0x01_0203, settings: b"settings" });
        let Frame::Ack(ack) = decoded[2] else { panic!("not an ACK") };
        assert_eq!((ack.delay_us, ack.window), (25, None));
        assert_eq!(ack.ranges(9).collect::<Vec<_>>(), [Ok(3..=9)]);
        assert_eq!(decoded[3], Frame::Close { code: 1002, reason: "kicked" });
        assert_eq!(decoded[4], Frame::PathChallenge { token: 0x0102_0304_0506_0708 });
        assert_eq!(decoded[5], Frame::PathResponse { token: 7 });
        assert_eq!(decoded[6], Frame::TimeRequest { sent_us: 1_000_000 });
        let response = Frame::TimeResponse { sent_us: 1_000_000, server_us: 7_000_000_000, held_us: 250 };
        assert_eq!(decoded[7], response);
        assert_eq!(decoded[8], Frame::Padding);
        assert_eq!(decoded[9], Frame::Ping);
        let Frame::Message(message) = decoded[10] else { panic!("not a MESSAGE") };
        assert_eq!((message.channel, message.sequence), (2, Sequence::None));
        assert_eq!(message.payload, b"text");
    }

    #[test]
    fn encoded_lengths_match_the_declared_ones() {
        for length in [0, 63, 64, 512] {
            let bytes = vec![b'x'; length];
            let text = "x".repeat(length);
            assert_eq!(written(|w| encode_connect(w, &bytes, b"limits")).len(), connect_len(&bytes, b"limits"));
            assert_eq!(written(|w| encode_accept(w, 1, &bytes)).len(), accept_len(&bytes));
            assert_eq!(written(|w| encode_close(w, 1000, &text)).len(), close_len(1000, &text));
        }
    }

    #[test]
    fn padding_ack_close_path_and_time_frames_do_not_elicit_acks() {
        let bytes = one_of_each();
        let eliciting: Vec<_> = frames(&bytes).unwrap().iter().map(Frame::is_ack_eliciting).collect();
        assert_eq!(eliciting, [true, true, false, false, false, false, false, false, false, true, true]);
    }

    #[test]
    fn a_packet_may_have_no_frames() {
        assert_eq!(frames(&[]), Ok(vec![]));
    }

    #[test]
    fn a_run_of_padding_is_one_frame() {
        assert_eq!(frames(&[0; 1000]), Ok(vec![Frame::Padding]));
        assert_eq!(frames(&[0, 0, 1, 0]), Ok(vec![Frame::Padding, Frame::Ping, Frame::Padding]));
    }

    #[test]
    fn other_frames_between_messages_do_not_break_their_run() {
        let bytes = b"\xe0\x05\x07\x01\x00\x80";
        let decoded = frames(bytes).unwrap();
        let Some(Frame::Message(last)) = decoded.last() else { panic!("not a MESSAGE") };
        assert_eq!((last.channel, last.sequence), (5, Sequence::Next));
    }

    #[test]
    fn reserved_types_are_malformed() {
        for reserved in 0x10..0x40 {
            assert_eq!(frames(&[reserved, 0, 0, 0, 0, 0, 0, 0]), Err(Malformed));
        }
    }

    #[test]
    fn decoding_stops_after_an_error() {
        let mut frames = Frames::new(&[1, 0x3F, 1, 1]);
        assert_eq!(frames.next(), Some(Ok(Frame::Ping)));
        assert_eq!(frames.next(), Some(Err(Malformed)));
        assert_eq!(frames.next(), None);
        assert_eq!(frames.next(), None);
    }

    #[test]
    fn tokens_and_reasons_over_their_limits_are_malformed() {
        let connect =
            |length: usize| [&[4, 0x40 | (length >> 8) as u8, length as u8][..], &vec![0; length + 1]].concat();
        let close = |length: usize| [&[6, 0, 0x40 | (length >> 8) as u8, length as u8][..], &vec![0; length]].concat();
        assert!(frames(&connect(TOKEN_BYTES_MAX)).is_ok());
        assert_eq!(frames(&connect(TOKEN_BYTES_MAX + 1)), Err(Malformed));
        assert!(frames(&close(REASON_BYTES_MAX)).is_ok());
        assert_eq!(frames(&close(REASON_BYTES_MAX + 1)), Err(Malformed));
    }

    #[test]
    fn a_reason_that_is_not_utf8_is_malformed() {
        assert_eq!(frames(&[6, 0, 2, 0xc3, 0x28]), Err(Malformed));
    }

    #[test]
    fn an_accept_without_an_id_is_malformed() {
        assert!(frames(&[5, 0, 0, 1, 0]).is_ok());
        assert_eq!(frames(&[5, 0, 0, 0, 0]), Err(Malformed));
    }

    #[test]
    fn every_truncated_frame_is_malformed() {
        let connect = written(|w| encode_connect(w, b"token", b"limits"));
        let accept = written(|w| encode_accept(w, 1, b"settings"));
        let close = written(|w| encode_close(w, 1000, "reason"));
        let challenge = written(|w| encode_path_challenge(w, 1));
        let response = written(|w| encode_path_response(w, 1));
        assert_eq!((challenge.len(), response.len()), (PATH_BYTES, PATH_BYTES));
        let time_request = written(|w| encode_time_request(w, varint::MAX));
        let time_response = written(|w| encode_time_response(w, varint::MAX, varint::MAX, varint::MAX));
        assert_eq!((time_request.len(), time_response.len()), (TIME_REQUEST_BYTES_MAX, TIME_RESPONSE_BYTES_MAX));
        for whole in [connect, accept, close, challenge, response, time_request, time_response] {
            for cut in 1..whole.len() {
                assert_eq!(frames(&whole[..cut]), Err(Malformed));
            }
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic() {
        // xorshift64: any bytes suffice, as long as they are the same in every run.
        let mut state = 0x5eed_5eed_5eed_5eed_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let valid = one_of_each();
        for round in 0..20_000 {
            let mut bytes = if round % 2 == 0 { valid.clone() } else { vec![0; 40] };
            for byte in &mut bytes {
                if round % 2 == 1 || random() % 16 == 0 {
                    *byte = random() as u8;
                }
            }
            for frame in Frames::new(&bytes) {
                if let Ok(Frame::Ack(ack)) = frame {
                    ack.ranges(ack.largest.resolve(random())).for_each(drop);
                }
            }
            _ = settings::Settings::decode(&bytes);
            bytes[0] = datagram::KIND_PACKET + (random() % 8) as u8;
            _ = datagram::decode(&bytes);
        }
    }
}
