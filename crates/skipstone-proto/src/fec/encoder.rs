//! The sending side: a window of the last packets, and repairs over it.

use super::symbol::{self, PREFIX_BYTES};
use crate::wire::cursor::Writer;
use crate::wire::repair::{INDEX_MAX, encode_repair_header, repair_header_len};
use core::ops::RangeInclusive;
use std::collections::VecDeque;

/// Keeps what repairs are made of. Memory is reused: nothing is allocated once the window has its size.
#[derive(Debug, Default)]
pub struct Encoder {
    sources: VecDeque<Source>,
    spare: Vec<Vec<u8>>,
    burst: u32,
    index: u8,
    combined: Vec<u8>,
    /// The peer keeps no packets before its first repair: what that one covers is of no use to it.
    has_told: bool,
}

#[derive(Debug)]
struct Source {
    number: u64,
    burst: u32,
    symbol: Vec<u8>,
}

/// Bursts that a repair covers, the present one included.
const BURSTS: u32 = 3;
/// Source packets that a repair covers, at most.
const SOURCES_MAX: usize = 128;
/// From the first to the last number that a repair covers, at most: coefficients repeat after 192.
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

    /// What leaves from now on belongs to another burst; the window moves on.
    pub fn begin_burst(&mut self) {
        self.burst = self.burst.wrapping_add(1);
        while self.sources.front().is_some_and(|source| self.burst.wrapping_sub(source.burst) >= BURSTS) {
            self.forget_oldest();
        }
    }

    /// Forgets all sources: a block is complete.
    pub fn begin_block(&mut self) {
        while !self.sources.is_empty() {
            self.forget_oldest();
        }
    }

    /// Source packets in the window.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Bytes of the next repair's frame, at most; 0 if there is nothing to repair.
    pub fn repair_len(&self) -> usize {
        let longest = self.sources.iter().map(|source| source.symbol.len()).max();
        longest.map_or(0, |longest| longest + HEADER_BYTES_MAX)
    }

    /// Writes a repair over the window into the packet with this number. False if there is none, or no room for it.
    pub fn write_repair(&mut self, number: u64, writer: &mut Writer<'_>) -> bool {
        let length = self.repair_len();
        while self.sources.front().is_some_and(|source| number - source.number > SPAN_MAX) {
            self.forget_oldest();
        }
        if self.sources.is_empty() || length > writer.room() {
            return false;
        }
        let (ranges, count) = self.ranges(number);
        let covered = &ranges[..count];
        encode_repair_header(writer, number, self.index, covered.iter().cloned());
        self.combined.clear();
        self.combined.resize(length - HEADER_BYTES_MAX, 0);
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

    /// A repair left. After the first one the peer keeps packets; what left before is of no use in later ones.
    pub fn on_repairs_sent(&mut self) {
        if !core::mem::replace(&mut self.has_told, true) {
            self.begin_block();
        }
    }

    /// The covered numbers as ranges, newest first, as many as the header has room for.
    fn ranges(&self, packet: u64) -> ([RangeInclusive<u64>; RANGES_MAX], usize) {
        let mut ranges = [const { 0..=0 }; RANGES_MAX];
        let mut count = 0_usize;
        for number in self.sources.iter().rev().map(|source| source.number) {
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
        if let Some(source) = self.sources.pop_front() {
            self.spare.push(source.symbol);
        }
    }
}

/// Bytes before the symbol, at most.
const HEADER_BYTES_MAX: usize = 20;
/// Ranges that a repair covers, at most.
const RANGES_MAX: usize = 8;
/// Bytes by which a repair packet may be longer than the longest packet that it covers.
pub const EXTRA_BYTES: usize = HEADER_BYTES_MAX + PREFIX_BYTES;
