//! Frames of the right form and the wrong sense, drawn at random: what a peer may say that has joined as any other and
//! then lies.

use super::clear::Eavesdropper;
use skipstone_proto::rng::Rng;
use skipstone_proto::wire::ack::{encode_ack, encode_repaired};
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::frame;
use skipstone_proto::wire::message::{FragmentHeader, MessageEncoder};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::wire::repair::{INDEX_MAX, SYMBOL_BYTES_MIN, encode_repair_header, repair_header_len};
use std::ops::RangeInclusive;

/// Changes the packets of one side into lies. Those of the handshake it leaves as they are.
pub(crate) struct Liar {
    rng: Rng,
    eyes: Eavesdropper,
    /// How many packets were changed.
    pub(crate) lies: u64,
}

/// No lie is longer: the packets of a handshake are, and stay.
const LIE_BYTES_MAX: usize = 1_100;

impl Liar {
    pub(crate) fn new(seed: u64) -> Self {
        Liar { rng: Rng::new(seed), eyes: Eavesdropper::default(), lies: 0 }
    }

    /// Looks at a datagram of either side, and perhaps puts lies into one of its own.
    pub(crate) fn pass(&mut self, is_own: bool, datagram: &mut Vec<u8>) {
        let is_lie = is_own && self.rng.chance(0.6);
        if !is_lie {
            self.eyes.see(datagram);
            return;
        }
        let Liar { rng, eyes, lies } = self;
        let is_changed = eyes.rewrite(datagram, LIE_BYTES_MAX, |number, writer| {
            for _ in 0..=rng.below(4) {
                lie(rng, number, writer);
            }
        });
        *lies += u64::from(is_changed);
    }
}

/// A number that is special to somebody: near another, near an end of a range, or any.
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

/// Writes one frame, if there is room.
fn lie(rng: &mut Rng, number: u64, writer: &mut Writer<'_>) {
    let room = writer.room();
    if room < 64 {
        return;
    }
    let any = special(rng, number);
    match rng.below(15) {
        0 => frame::encode_ping(writer),
        1 | 2 => {
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
    // To the end of the packet, whatever comes behind.
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

/// Whether a fragment is a part of its message, and not all of it.
fn is_proper(fragment: &FragmentHeader, length: usize) -> bool {
    let (length, total) = (length as u64, u64::from(fragment.total));
    length > 0 && length < total && u64::from(fragment.offset) + length <= total
}
