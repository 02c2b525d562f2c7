//! The sending side: a window of the last packets, and repairs over it.

use super::symbol::{self, PREFIX_BYTES};
use crate::wire::cursor::Writer;
use crate::wire::repair::{INDEX_MAX, encode_repair_header, repair_header_len};
use core::ops::RangeInclusive;
use std::collections::VecDeque;

/// Keeps the packets from which repairs are computed. Memory of the last few is reused.
#[derive(Debug, Default)]
pub struct Encoder {
    sources: VecDeque<Source>,
    spare: Vec<Vec<u8>>,
    burst: u32,
    index: u8,
    combined: Vec<u8>,
    /// Whether a repair was sent: before the first repair the peer keeps no packets, so the packets that it covers are
    /// of no use to the peer.
    has_told: bool,
}

#[derive(Debug)]
struct Source {
    number: u64,
    burst: u32,
    symbol: Vec<u8>,
}

/// Number of bursts that a repair covers, including the current one.
const BURSTS: u32 = 3;
/// Maximum number of source packets that a repair covers.
const SOURCES_MAX: usize = 128;
/// Maximum number of packets whose memory waits for the next ones.
const SPARE_MAX: usize = 16;
/// Maximum distance from the first to the last number that a repair covers: coefficients repeat after 192.
pub(super) const SPAN_MAX: u64 = 180;

impl Encoder {
    /// A packet left with this content: its frames, without acknowledgements.
    pub fn on_source(&mut self, number: u64, content: &[u8]) {
        let mut symbol = self.spare.pop().unwrap_or_default();
        symbol::write(&mut symbol, number, content);
        self.sources.push_back(Source { number, burst: self.burst, symbol });
        while self.sources.len() > SOURCES_MAX || number - self.sources[0].number > SPAN_MAX {
            self.forget_oldest();
        }
    }

    /// Begins a new burst, to which the packets sent from now on belong, and moves the window on.
    pub fn begin_burst(&mut self) {
        self.burst = self.burst.wrapping_add(1);
        while self.sources.front().is_some_and(|source| self.burst.wrapping_sub(source.burst) >= BURSTS) {
            self.forget_oldest();
        }
    }

    /// Removes all sources: a block is complete.
    pub fn begin_block(&mut self) {
        while !self.sources.is_empty() {
            self.forget_oldest();
        }
    }

    /// Source packets in the window.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Bytes of the next repair's frame in the packet with this number; 0 if there is nothing to repair.
    pub fn repair_len(&self, number: u64) -> usize {
        let within = self.sources.iter().filter(|source| number - source.number <= SPAN_MAX);
        let longest = within.map(|source| source.symbol.len()).max();
        longest.map_or(0, |longest| {
            let (ranges, count) = self.ranges(number);
            longest + repair_header_len(number, &ranges[..count])
        })
    }

    /// Writes a repair over the window into the packet with this number. False if there is none, or no room for it.
    pub fn write_repair(&mut self, number: u64, writer: &mut Writer<'_>) -> bool {
        while self.sources.front().is_some_and(|source| number - source.number > SPAN_MAX) {
            self.forget_oldest();
        }
        let length = self.repair_len(number);
        if self.sources.is_empty() || length > writer.room() {
            return false;
        }
        let (ranges, count) = self.ranges(number);
        let header = repair_header_len(number, &ranges[..count]);
        let covered = &ranges[..count];
        encode_repair_header(writer, number, self.index, covered.iter().cloned());
        self.combined.clear();
        self.combined.resize(length - header, 0);
        for source in &self.sources {
            if covered.iter().any(|range| range.contains(&source.number)) {
                let factor = skipstone_gf256::coefficient(self.index, source.number);
                skipstone_gf256::mul_add(&mut self.combined, &source.symbol, factor);
            }
        }
        writer.bytes(&self.combined);
        self.index = if self.index == INDEX_MAX { 0 } else { self.index + 1 };
        true
    }

    /// Repairs were sent. After the first one the peer keeps packets; packets sent before are of no use in later
    /// repairs.
    pub fn on_repairs_sent(&mut self) {
        if !core::mem::replace(&mut self.has_told, true) {
            self.begin_block();
        }
    }

    /// The covered numbers as ranges, newest first, as many as the header has room for.
    fn ranges(&self, packet: u64) -> ([RangeInclusive<u64>; RANGES_MAX], usize) {
        let mut ranges = [const { 0..=0 }; RANGES_MAX];
        let mut count = 0_usize;
        let within = self.sources.iter().rev().filter(|source| packet - source.number <= SPAN_MAX);
        for number in within.map(|source| source.number) {
            match count.checked_sub(1).map(|last| &mut ranges[last]) {
                Some(last) if *last.start() == number + 1 => *last = number..=*last.end(),
                _ if count == RANGES_MAX => break,
                _ => {
                    ranges[count] = number..=number;
                    count += 1;
                }
            }
        }
        while repair_header_len(packet, &ranges[..count]) > HEADER_BYTES_MAX {
            count -= 1;
        }
        (ranges, count)
    }

    fn forget_oldest(&mut self) {
        if let Some(source) = self.sources.pop_front()
            && self.spare.len() < SPARE_MAX
        {
            self.spare.push(source.symbol);
        }
    }
}

/// Maximum bytes before the symbol.
const HEADER_BYTES_MAX: usize = 20;
/// Maximum number of ranges that a repair covers.
const RANGES_MAX: usize = 8;
/// Bytes by which a repair packet may be longer than the longest packet that it covers.
pub const EXTRA_BYTES: usize = HEADER_BYTES_MAX + PREFIX_BYTES;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::wire::frame::{Frame, Frames};

    /// A product in GF(256) by the textbook method: shift, add, reduce.
    fn times(a: u8, b: u8) -> u8 {
        let mut product = 0_u16;
        for bit in 0..8 {
            product ^= (u16::from(a) << bit) * (u16::from(b) >> bit & 1);
        }
        for bit in (8..15).rev() {
            product ^= (0x11D << (bit - 8)) * (product >> bit & 1);
        }
        product as u8
    }

    /// WIRE.md section 4.4, step by step.
    fn combination(index: u8, packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let symbol = |(number, content): &(u64, Vec<u8>)| {
            let checksum = crc32fast::hash(&[&number.to_be_bytes()[..], content].concat());
            [&(content.len() as u16).to_be_bytes()[..], &checksum.to_be_bytes(), content].concat()
        };
        let mut sum = vec![0; packets.iter().map(|packet| symbol(packet).len()).max().unwrap_or(0)];
        for packet in packets {
            let divisor = (index % 64) ^ (64 + (packet.0 % 192) as u8);
            let coefficient = (1..=255).find(|factor| times(*factor, divisor) == 1).expect("a field has inverses");
            sum.iter_mut().zip(symbol(packet)).for_each(|(sum, byte)| *sum ^= times(byte, coefficient));
        }
        sum
    }

    fn frame(encoder: &mut Encoder, number: u64) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 2_000];
        let mut writer = Writer::new(&mut buffer);
        encoder.write_repair(number, &mut writer).then(|| writer.written().to_vec())
    }

    #[test]
    fn a_repair_is_encoded_as_wire_md_states() {
        let mut rng = Rng::new(1);
        let mut encoder = Encoder::default();
        let mut packets: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut number = 150;
        for _ in 0..70 {
            number += 1 + u64::from(rng.below(2));
            let content: Vec<u8> = (0..1 + rng.below(300)).map(|_| rng.next_u64() as u8).collect();
            encoder.on_source(number, &content);
            packets.push((number, content));
            let bytes = frame(&mut encoder, number + 1).expect("there is a source");
            let Some(Ok(Frame::Repair(repair))) = Frames::new(&bytes).next() else { panic!("not a repair") };
            let covers = repair.covers(number + 1).expect("above 0").map(|range| range.expect("above 0"));
            let ranges: Vec<_> = covers.collect();
            assert!(ranges.len() <= RANGES_MAX);
            let covered: Vec<_> = packets
                .iter()
                .filter(|(number, _)| ranges.iter().any(|range| range.contains(number)))
                .cloned()
                .collect();
            assert!(covered.last().is_some_and(|(last, _)| *last == number));
            // A packet for which the ranges have no room may have been the longest; its zeros do no harm.
            let mut expected = combination(repair.index, &covered);
            assert!(expected.len() <= repair.symbol.len());
            expected.resize(repair.symbol.len(), 0);
            assert_eq!(repair.symbol, expected);
            assert_eq!(bytes.len(), encoder.repair_len(number + 1));
        }
    }

    #[test]
    fn the_window_slides_by_bursts_and_never_exceeds_the_coefficients() {
        let mut encoder = Encoder::default();
        for burst in 0..5 {
            encoder.begin_burst();
            encoder.on_source(burst * 2, b"a");
            encoder.on_source(burst * 2 + 1, b"b");
        }
        assert_eq!(encoder.sources(), 2 * BURSTS as usize);
        encoder.on_source(9 + SPAN_MAX, b"c");
        assert_eq!(encoder.sources(), 2, "the last of the burst, and this");
        assert!(frame(&mut encoder, 9 + 2 * SPAN_MAX).is_some());
        assert_eq!(encoder.sources(), 1);
        assert!(frame(&mut encoder, 10 + 2 * SPAN_MAX).is_none(), "too far from all of them");
        for number in 1_000..1_200 {
            encoder.on_source(number, b"d");
        }
        assert_eq!(encoder.sources(), SOURCES_MAX);
    }

    #[test]
    fn a_window_that_was_long_once_leaves_the_memory_of_few_packets() {
        let mut encoder = Encoder::default();
        for number in 0..SOURCES_MAX as u64 {
            encoder.on_source(number, &[7; 1_400]);
        }
        encoder.begin_block();
        assert_eq!((encoder.sources(), encoder.spare.len()), (0, SPARE_MAX));
    }

    #[test]
    fn the_first_repairs_are_followed_by_a_fresh_window() {
        let mut encoder = Encoder::default();
        encoder.on_source(0, b"a");
        encoder.on_repairs_sent();
        assert_eq!(encoder.sources(), 0, "the peer did not keep it");
        encoder.on_source(2, b"b");
        encoder.on_repairs_sent();
        assert_eq!(encoder.sources(), 1);
    }
}
