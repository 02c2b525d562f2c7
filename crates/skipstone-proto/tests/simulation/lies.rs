//! Well-formed frames with false content, drawn at random: the packets of a peer that has joined like any other and
//! then lies.

use super::clear::Eavesdropper;
use super::stranger::write_recovery;
use skipstone_proto::rng::Rng;
use skipstone_proto::wire::ack::{encode_ack, encode_repaired};
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{self, Datagram};
use skipstone_proto::wire::frame::{self, Frame, Frames};
use skipstone_proto::wire::message::{FragmentHeader, MessageEncoder};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::wire::repair::{INDEX_MAX, SYMBOL_BYTES_MIN, encode_repair_header, repair_header_len};
use std::ops::RangeInclusive;

/// Changes the packets of one side into lies. Packets that open and end the connection keep their content.
pub(crate) struct Liar {
    rng: Rng,
    eyes: Eavesdropper,
    manner: Manner,
    /// How much greater the packet numbers of this connection are than those that the liar's endpoint knows.
    ahead: u64,
    /// How many packets were changed.
    pub(crate) lies: u64,
}

/// The ways in which a peer lies, besides by single frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Its packet numbers are far apart.
    leaps: bool,
    /// Packets are full of acknowledgements.
    acknowledges: bool,
    /// It makes the other side recover packets that never existed.
    recovers: bool,
    /// It acknowledges nothing, so that the other side sends everything again and again.
    is_deaf: bool,
    /// It lies from the first packet on, not only once the connection is established.
    is_early: bool,
}

/// The first packets of each side, which open the connection.
const HANDSHAKE_PACKETS: u64 = 4;
/// No changed packet becomes longer than this, or than it was: packets of a handshake are short enough, and keep their
/// length.
const LIE_BYTES_MAX: usize = 1_100;
/// Number of kinds of lies, and the kind of an acknowledgement.
const KINDS: u32 = 15;
const KIND_ACK: u32 = 1;
/// A packet's number in its longest form.
const NUMBER_BYTES: usize = 5;

impl Manner {
    pub(crate) fn drawn(rng: &mut Rng) -> Self {
        let mut draw = |one_of| rng.below(one_of) == 0;
        Manner { leaps: draw(3), acknowledges: draw(4), recovers: draw(2), is_deaf: draw(3), is_early: draw(2) }
    }
}

impl Liar {
    pub(crate) fn new(seed: u64, manner: Manner) -> Self {
        Liar { rng: Rng::new(seed), eyes: Eavesdropper::default(), manner, ahead: 0, lies: 0 }
    }

    /// Looks at a datagram of either side, and may put lies into one of its own side.
    pub(crate) fn pass(&mut self, is_own: bool, datagram: &mut Vec<u8>) {
        if let Ok(Datagram::Hello(_) | Datagram::Challenge(_)) = datagram::decode(datagram) {
            self.ahead = 0;
        }
        if !is_own && self.ahead > 0 {
            // Its own endpoint has never sent the acknowledged packets.
            let bytes_max = datagram.len();
            self.eyes.rewrite(datagram, bytes_max, |number, frames, writer| {
                writer.truncated(Truncated::new(number, 1 << 13));
                writer.bytes(content(frames));
                Some(number)
            });
            return;
        }
        let is_lie = is_own && self.rng.chance(0.6);
        if !is_own || !is_lie && self.ahead == 0 && !self.manner.is_deaf {
            self.eyes.see(datagram);
            return;
        }
        let Liar { rng, eyes, manner, ahead, lies } = self;
        let bytes_max = LIE_BYTES_MAX.max(datagram.len() + NUMBER_BYTES);
        let is_changed = eyes.rewrite(datagram, bytes_max, |number, frames, writer| {
            let is_kept = !is_lie || matters(frames) || number < HANDSHAKE_PACKETS && !manner.is_early;
            if is_kept && *ahead == 0 && (!manner.is_deaf || matters(frames)) {
                return None;
            }
            if manner.leaps && !is_kept && rng.below(2) == 0 {
                *ahead += [1, 3, 300, 20_000, 1 << 27, 1 << 30][rng.below(6) as usize];
            }
            let number = number + *ahead;
            writer.truncated(Truncated { value: number as u32, bits: 32 });
            if is_kept {
                writer.bytes(if manner.is_deaf { content(frames) } else { frames });
                return Some(number);
            }
            let count = if manner.acknowledges && rng.below(4) == 0 { 100 } else { 1 + rng.below(4) };
            for _ in 0..count {
                if writer.room() < 64 {
                    break;
                }
                let kind = if count == 100 { KIND_ACK } else { rng.below(KINDS) };
                lie(rng, kind, number, writer);
            }
            // To the end of the packet.
            if manner.recovers && number > 3 && writer.room() >= 64 && rng.below(2) == 0 {
                write_recovery(writer, number, number - 1 - u64::from(rng.below(3)));
            }
            Some(number)
        });
        *lies += u64::from(is_changed && is_lie);
    }
}

/// Whether a packet opens or ends a connection.
fn matters(frames: &[u8]) -> bool {
    let mut frames = Frames::new(frames).flatten();
    frames.any(|it| matches!(it, Frame::Accept { .. } | Frame::Connect { .. } | Frame::Close { .. } | Frame::Closed))
}

/// Frames without the acknowledgements that they begin with.
fn content(bytes: &[u8]) -> &[u8] {
    let (mut frames, mut from) = (Frames::new(bytes), 0);
    while let Some(Ok(Frame::Ack(_) | Frame::Repaired(_))) = frames.next() {
        from = bytes.len() - frames.remaining();
    }
    &bytes[from..]
}

/// A number that may be a special case: near another, near an end of a range, or any.
fn special(rng: &mut Rng, near: u64) -> u64 {
    let ends = [0, 64, 1 << 14, 1 << 16, 1 << 21, 1 << 30, 1 << 31, 1 << 32, (1 << 62) - 1];
    let number = match rng.below(6) {
        0..=2 => near.saturating_add(u64::from(rng.below(40))).saturating_sub(u64::from(rng.below(40))),
        3 => ends[rng.below(ends.len() as u32) as usize],
        4 => ends[rng.below(ends.len() as u32) as usize].saturating_sub(1),
        _ => rng.next_u64() >> (2 + rng.below(61)),
    };
    number.min((1 << 62) - 1)
}

/// Disjoint ranges, newest first.
fn ranges(rng: &mut Rng, newest: u64) -> Vec<RangeInclusive<u64>> {
    let (mut end, mut ranges) = (Some(newest), Vec::new());
    for _ in 0..=rng.below(20) {
        let Some(last) = end else { break };
        let first = last.saturating_sub(special(rng, 3).min(1 << 40));
        ranges.push(first..=last);
        end = first.checked_sub(2 + u64::from(rng.below(5)));
    }
    ranges
}

/// Writes one frame of this kind. There is some room.
fn lie(rng: &mut Rng, kind: u32, number: u64, writer: &mut Writer<'_>) {
    let any = special(rng, number);
    match kind {
        0 => frame::encode_ping(writer),
        KIND_ACK | 2 => {
            let window = (rng.below(2) == 0).then(|| special(rng, 1 << 16));
            let (ranges, delay) = (ranges(rng, any), special(rng, 1_000));
            encode_ack(writer, ranges.into_iter(), 1 << rng.below(40), delay, window);
        }
        3 => {
            let ranges = ranges(rng, any);
            encode_repaired(writer, ranges.into_iter(), 1 << rng.below(40), 0);
        }
        4 => frame::encode_new_id(writer, special(rng, 1), 1 + rng.below((1 << 24) - 1)),
        5 => frame::encode_path_challenge(writer, rng.next_u64()),
        6 => frame::encode_path_response(writer, rng.next_u64()),
        7 => frame::encode_time_request(writer, any),
        8 => {
            let held = special(rng, 10);
            frame::encode_time_response(writer, any, special(rng, 1_000_000), held);
        }
        9 => frame::encode_late(writer, special(rng, 20) as u16),
        10 => frame::encode_extension(writer, 0x40 + rng.below(0x40) as u8, &vec![7; rng.below(20) as usize]),
        11 if rng.below(20) == 0 => frame::encode_accept(writer, 1 + rng.below(1 << 20), b""),
        11 if rng.below(20) == 0 => frame::encode_connect(writer, b"again", b""),
        11 if rng.below(40) == 0 => frame::encode_closed(writer),
        11 if rng.below(80) == 0 => frame::encode_close(writer, any, "bye"),
        12 => repair(rng, number, writer),
        _ => message(rng, any, writer),
    }
}

fn repair(rng: &mut Rng, number: u64, writer: &mut Writer<'_>) {
    let newest = number.saturating_sub(special(rng, 3).min(number));
    let mut covered = ranges(rng, newest);
    covered.truncate(1 + rng.below(6) as usize);
    let symbol = SYMBOL_BYTES_MIN + rng.below(300) as usize;
    if repair_header_len(number, &covered) + symbol > writer.room() {
        return;
    }
    encode_repair_header(writer, number, rng.below(u32::from(INDEX_MAX) + 1) as u8, covered.into_iter());
    // The symbol extends to the end of the packet, whatever follows.
    writer.bytes(&vec![rng.below(256) as u8; symbol]);
}

fn message(rng: &mut Rng, any: u64, writer: &mut Writer<'_>) {
    let length = rng.below(200) as usize;
    let sequence = special(rng, any & 0xFF) as u32;
    let total = special(rng, 400) as u32;
    let offset = if rng.below(2) == 0 { rng.below(500) } else { special(rng, 300) as u32 };
    let fragment = Some(FragmentHeader { offset, total }).filter(|it| rng.below(2) == 0 && is_proper(it, length));
    let bits = [7, 14, 21, 28, 32][rng.below(5) as usize];
    let value = if bits == 32 { sequence } else { sequence & ((1 << bits) - 1) };
    let channel = if rng.below(3) == 0 { special(rng, 5) as u16 } else { rng.below(6) as u16 };
    let place = (fragment.is_some() || rng.below(4) > 0).then_some((sequence, Truncated { value, bits }));
    let mut encoder = MessageEncoder::default();
    if encoder.header_len(channel, place, fragment, length) + length > writer.room() {
        return;
    }
    encoder.encode_header(writer, channel, place, fragment, length);
    writer.bytes(&vec![3; length]);
}

/// Whether a fragment is a part of its message, and not the whole.
fn is_proper(fragment: &FragmentHeader, length: usize) -> bool {
    let (length, total) = (length as u64, u64::from(fragment.total));
    length > 0 && length < total && u64::from(fragment.offset) + length <= total
}
