//! All parsers: they never panic, and what they decode can be encoded and decoded again.

use core::ops::RangeInclusive;
use skipstone_proto::Settings;
use skipstone_proto::wire::ack::{PacketRanges, encode_ack, encode_repaired};
use skipstone_proto::wire::cursor::{Reader, Writer};
use skipstone_proto::wire::datagram::{self, Datagram};
use skipstone_proto::wire::frame::{self, Frame, Frames};
use skipstone_proto::wire::message::{FragmentHeader, MessageEncoder, Sequence};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::wire::repair::{encode_repair_header, repair_header_len};

/// Any bytes as a datagram, as frames, as settings and as numbers: no panic.
pub fn decode(bytes: &[u8]) {
    let _ = datagram::decode(bytes);
    let _ = datagram::decode(&with_check(bytes));
    let _ = Settings::decode(bytes);
    for frame in Frames::new(bytes).flatten() {
        let reference = u64::from(u32::MAX);
        match frame {
            Frame::Ack(ack) => drop(ack.ranges(ack.largest.resolve(reference)).count()),
            Frame::Repaired(repaired) => drop(repaired.ranges(repaired.largest.resolve(reference)).count()),
            Frame::Repair(repair) => {
                for number in [0, 5, reference] {
                    let _ = repair.covers(number).map(Iterator::count);
                }
            }
            Frame::Accept { settings, .. } => drop(Settings::decode(settings)),
            _ => {}
        }
    }
    let mut reader = Reader::new(bytes);
    while let Ok(number) = reader.truncated() {
        let reference = reader.varint().unwrap_or(0);
        number.resolve(reference);
        number.resolve_seq(reference as u32);
    }
}

/// What decodes can be encoded, and decodes to the same value.
pub fn round_trip(bytes: &[u8]) {
    let whole = with_check(bytes);
    if let Ok(decoded) = datagram::decode(&whole) {
        let mut buffer = vec![0; bytes.len() + ROOM];
        let length = encode_datagram(&mut buffer, &decoded);
        assert_eq!(datagram::decode(&buffer[..length]), Ok(decoded));
    }
    if let Ok(settings) = Settings::decode(bytes) {
        assert_eq!(Settings::decode(&settings.encode()), Ok(settings));
    }
    if let Some(items) = items(bytes) {
        let mut buffer = vec![0; 4 * bytes.len() + ROOM];
        let mut writer = Writer::new(&mut buffer);
        encode_items(&mut writer, &items);
        let length = writer.len();
        assert_eq!(self::items(&buffer[..length]), Some(items));
    }
}

/// The datagram with this beginning and a valid checksum, which random bytes would not have.
pub(crate) fn with_check(bytes: &[u8]) -> Vec<u8> {
    let mut whole = bytes.to_vec();
    if bytes.first() != Some(&datagram::KIND_PACKET) {
        whole.resize(bytes.len() + datagram::CHECK_BYTES, 0);
        datagram::append_check(&mut whole, bytes.len());
    }
    whole
}

const ROOM: usize = 1 << 12;

fn encode_datagram(buffer: &mut [u8], datagram: &Datagram<'_>) -> usize {
    let writer = &mut Writer::new(buffer);
    match *datagram {
        Datagram::Packet { to } => datagram::encode_packet_header(writer, to),
        Datagram::Hello(hello) => {
            datagram::encode_hello(writer, hello.source, hello.nonce, hello.offer.bytes);
        }
        Datagram::Challenge(challenge) => datagram::encode_challenge(writer, &challenge),
        Datagram::Open(open) => {
            datagram::encode_open_header(writer, &open);
            let length = writer.len();
            return datagram::append_check(buffer, length);
        }
        Datagram::Crypto { to, from, bytes } => {
            datagram::encode_crypto_header(writer, to, from);
            writer.bytes(bytes);
            let length = writer.len();
            return datagram::append_check(buffer, length);
        }
        Datagram::Versions { to, nonce, versions } => {
            datagram::encode_versions(writer, to, nonce, &versions.collect::<Vec<_>>());
        }
        Datagram::Refuse { to, nonce, code, reason } => datagram::encode_refuse(writer, to, nonce, code, reason),
        Datagram::Reset { id } => datagram::encode_reset(writer, id),
        Datagram::Query { nonce } => datagram::encode_query(writer, nonce, datagram::QUERY_BYTES_MIN),
        Datagram::Answer { nonce, versions, payload } => {
            datagram::encode_answer(writer, nonce, &versions.collect::<Vec<_>>(), payload);
        }
    }
    writer.len()
}

/// The meaning of a frame, independent of its encoding.
#[derive(Debug, PartialEq, Eq)]
enum Item<'a> {
    Plain(Frame<'a>),
    Ack { largest: u64, bits: u8, ranges: Ranges, delay_us: u64, window: Option<u64> },
    Repaired { largest: u64, bits: u8, ranges: Ranges },
    Repair { index: u8, ranges: Ranges, symbol: &'a [u8] },
    Message { channel: u16, sequence: Option<(u32, Truncated)>, fragment: Option<FragmentHeader>, payload: &'a [u8] },
}

type Ranges = Vec<(u64, u64)>;

fn whole(ranges: PacketRanges<'_>) -> Option<Ranges> {
    ranges.map(|range| range.ok().map(RangeInclusive::into_inner)).collect()
}

/// Far enough from 0 that every number has room below it.
const REFERENCE: u64 = 1 << 40;

/// The frames of a packet, if it is well-formed and every acknowledgement is valid.
fn items(bytes: &[u8]) -> Option<Vec<Item<'_>>> {
    let mut before = None;
    Frames::new(bytes)
        .map(|frame| {
            Some(match frame.ok()? {
                Frame::Ack(ack) => {
                    let largest = ack.largest.resolve(REFERENCE);
                    Item::Ack {
                        largest,
                        bits: ack.largest.bits,
                        ranges: whole(ack.ranges(largest))?,
                        delay_us: ack.delay_us,
                        window: ack.window,
                    }
                }
                Frame::Repaired(repaired) => {
                    let largest = repaired.largest.resolve(REFERENCE);
                    Item::Repaired { largest, bits: repaired.largest.bits, ranges: whole(repaired.ranges(largest))? }
                }
                Frame::Repair(repair) => Item::Repair {
                    index: repair.index,
                    ranges: whole(repair.covers(REFERENCE).ok()?)?,
                    symbol: repair.symbol,
                },
                // An encoder would not write this.
                Frame::Late { age_ms } if age_ms > u64::from(u16::MAX) => return None,
                Frame::Message(message) => {
                    let whole = match message.sequence {
                        Sequence::None => None,
                        Sequence::Next => before.map(|before: u32| before.wrapping_add(1)),
                        Sequence::Truncated(truncated) => Some(truncated.value),
                    };
                    before = whole;
                    Item::Message {
                        channel: message.channel,
                        // Complete numbers, so that omitted ones compare equal.
                        sequence: whole.map(|whole| (whole, Truncated { value: whole, bits: 32 })),
                        fragment: message.fragment,
                        payload: message.payload,
                    }
                }
                other => Item::Plain(other),
            })
        })
        .collect()
}

fn encode_items(writer: &mut Writer<'_>, items: &[Item<'_>]) {
    let mut run = MessageEncoder::default();
    for item in items {
        match item {
            Item::Plain(Frame::Padding) => writer.zeros(1),
            Item::Plain(Frame::Ping) => frame::encode_ping(writer),
            Item::Plain(Frame::Connect { token, limits }) => frame::encode_connect(writer, token, limits),
            Item::Plain(Frame::Extension { kind, body }) => frame::encode_extension(writer, *kind, body),
            Item::Plain(Frame::Accept { source, settings }) => frame::encode_accept(writer, *source, settings),
            Item::Plain(Frame::Close { code, reason }) => frame::encode_close(writer, *code, reason),
            Item::Plain(Frame::Closed) => frame::encode_closed(writer),
            Item::Plain(Frame::PathChallenge { token }) => frame::encode_path_challenge(writer, *token),
            Item::Plain(Frame::PathResponse { token }) => frame::encode_path_response(writer, *token),
            Item::Plain(Frame::NewId { sequence, id }) => frame::encode_new_id(writer, *sequence, *id),
            Item::Plain(Frame::TimeRequest { sent_us }) => frame::encode_time_request(writer, *sent_us),
            Item::Plain(Frame::TimeResponse { sent_us, server_us, held_us }) => {
                frame::encode_time_response(writer, *sent_us, *server_us, *held_us);
            }
            Item::Plain(Frame::Late { age_ms }) => frame::encode_late(writer, *age_ms as u16),
            Item::Plain(Frame::Ack(_) | Frame::Repaired(_) | Frame::Repair(_) | Frame::Message(_)) => {
                unreachable!("they have items of their own")
            }
            Item::Ack { bits, ranges, delay_us, window, .. } => {
                let distance = (1 << (bits - 1)) - 1;
                assert!(encode_ack(writer, inclusive(ranges), distance, *delay_us, *window), "there is room");
            }
            Item::Repaired { bits, ranges, .. } => {
                let distance = (1 << (bits - 1)) - 1;
                assert!(encode_repaired(writer, inclusive(ranges), distance, 0), "there is room");
            }
            Item::Repair { index, ranges, symbol } => {
                let ranges: Vec<_> = inclusive(ranges).collect();
                let from = writer.len();
                encode_repair_header(writer, REFERENCE, *index, ranges.iter().cloned());
                let announced = repair_header_len(REFERENCE, &ranges);
                assert!(writer.len() - from <= announced, "the header is not longer than was announced");
                writer.bytes(symbol);
            }
            Item::Message { channel, sequence, fragment, payload } => {
                let expected = run.header_len(*channel, *sequence, *fragment, payload.len());
                let from = writer.len();
                run.encode_header(writer, *channel, *sequence, *fragment, payload.len());
                assert_eq!(writer.len() - from, expected, "the header has the length that was announced");
                writer.bytes(payload);
            }
        }
    }
}

fn inclusive(ranges: &Ranges) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
    ranges.iter().map(|(start, end)| *start..=*end)
}
