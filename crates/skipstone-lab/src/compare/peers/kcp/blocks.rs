//! The block code around KCP, as in kcp-go: M parity datagrams after every N data datagrams.
//!
//! ```text
//! sequence 4 | kind 2 | length 2, of what follows and itself | KCP's datagram
//! ```
//! The parity covers all from the length on, as if every datagram were as long as the longest.

use std::collections::{BTreeMap, VecDeque};

use reed_solomon_erasure::galois_8::ReedSolomon;

/// The size of a block, in datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockSize {
    pub(super) data: usize,
    pub(super) parity: usize,
}

const KIND_DATA: u16 = 0xF1;
const KIND_PARITY: u16 = 0xF2;
const HEADER_BYTES: usize = 6;
const LENGTH_BYTES: usize = 2;
/// Bytes by which a datagram of KCP's grows.
pub(super) const OVERHEAD_BYTES: usize = HEADER_BYTES + LENGTH_BYTES;
/// Blocks for which a receiver waits.
const BLOCKS_MAX: usize = 16;

impl BlockSize {
    fn shards(self) -> usize {
        self.data + self.parity
    }

    fn code(self) -> ReedSolomon {
        ReedSolomon::new(self.data, self.parity).expect("a code that exists")
    }
}

/// The sender's side.
pub(super) struct Encoder {
    size: BlockSize,
    code: ReedSolomon,
    sequence: u32,
    block: Vec<Vec<u8>>,
}

impl Encoder {
    pub(super) fn new(size: BlockSize) -> Self {
        Self { size, code: size.code(), sequence: 0, block: Vec::new() }
    }

    /// Sends a datagram, and the parity after the last datagram of its block.
    pub(super) fn encode(&mut self, datagram: &[u8], out: &mut VecDeque<Vec<u8>>) {
        let mut shard = ((datagram.len() + LENGTH_BYTES) as u16).to_le_bytes().to_vec();
        shard.extend_from_slice(datagram);
        out.push_back(self.with_header(KIND_DATA, &shard));
        self.block.push(shard);
        if self.block.len() < self.size.data {
            return;
        }
        let longest = self.block.iter().map(Vec::len).max().expect("it is full");
        let mut shards = std::mem::take(&mut self.block);
        shards.iter_mut().for_each(|shard| shard.resize(longest, 0));
        shards.resize(self.size.shards(), vec![0; longest]);
        self.code.encode(&mut shards).expect("shards of one length");
        for parity in &shards[self.size.data..] {
            out.push_back(self.with_header(KIND_PARITY, parity));
        }
    }

    fn with_header(&mut self, kind: u16, shard: &[u8]) -> Vec<u8> {
        let sequence = self.sequence.to_le_bytes();
        self.sequence = self.sequence.wrapping_add(1);
        [&sequence[..], &kind.to_le_bytes(), shard].concat()
    }
}

/// The receiver's side.
pub(super) struct Decoder {
    size: BlockSize,
    code: ReedSolomon,
    blocks: BTreeMap<u32, Block>,
}

/// The shards of a block that have come.
struct Block {
    shards: Vec<Option<Vec<u8>>>,
    is_done: bool,
}

impl Decoder {
    pub(super) fn new(size: BlockSize) -> Self {
        Self { size, code: size.code(), blocks: BTreeMap::new() }
    }

    /// Handles an arrived datagram. Returns KCP's datagrams: the one that it contained, or the ones that it repaired.
    pub(super) fn decode(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        let Some((header, shard)) = datagram.split_first_chunk::<HEADER_BYTES>() else { return Vec::new() };
        let sequence = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let shards = self.size.shards();
        let (number, place) = (sequence / shards as u32, sequence as usize % shards);
        let new = || Block { shards: vec![None; shards], is_done: false };
        let block = self.blocks.entry(number).or_insert_with(new);
        block.shards[place] = Some(shard.to_vec());
        let mut datagrams = Vec::new();
        if place < self.size.data {
            datagrams.extend(content(shard));
        }
        datagrams.extend(block.repair(self.size, &self.code));
        while self.blocks.len() > BLOCKS_MAX {
            self.blocks.pop_first();
        }
        datagrams
    }
}

impl Block {
    /// The missing datagrams, once enough has come.
    fn repair(&mut self, size: BlockSize, code: &ReedSolomon) -> Vec<Vec<u8>> {
        let missing: Vec<usize> = (0..size.data).filter(|place| self.shards[*place].is_none()).collect();
        let came = self.shards.iter().flatten().count();
        if self.is_done || came < size.data {
            return Vec::new();
        }
        self.is_done = true;
        if missing.is_empty() {
            return Vec::new();
        }
        // Any parity shard has the length of the longest.
        let longest = self.shards.iter().flatten().map(Vec::len).max().expect("enough came");
        self.shards.iter_mut().flatten().for_each(|shard| shard.resize(longest, 0));
        if code.reconstruct_data(&mut self.shards).is_err() {
            return Vec::new();
        }
        missing.iter().filter_map(|place| content(self.shards[*place].as_deref()?)).collect()
    }
}

/// KCP's datagram in a shard.
fn content(shard: &[u8]) -> Option<Vec<u8>> {
    let (length, _) = shard.split_first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*length));
    shard.get(LENGTH_BYTES..length).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_AND_THREE: BlockSize = BlockSize { data: 10, parity: 3 };

    #[test]
    fn one_plus_two_sends_every_datagram_three_times() {
        let size = BlockSize { data: 1, parity: 2 };
        let (mut encoder, mut decoder, mut wire) = (Encoder::new(size), Decoder::new(size), VecDeque::new());
        encoder.encode(&[7; 30], &mut wire);
        encoder.encode(&[8; 9], &mut wire);
        assert_eq!(wire.len(), 6);
        let came = [2, 4].map(|only| decoder.decode(&wire[only]));
        assert_eq!(came, [vec![vec![7; 30]], vec![vec![8; 9]]]);
    }

    #[test]
    fn any_three_of_thirteen_datagrams_may_be_lost() {
        let datagrams: Vec<Vec<u8>> = (1..=10_u8).map(|number| vec![number; 20 + usize::from(number)]).collect();
        for lost in [[0, 1, 2], [3, 9, 10], [0, 11, 12], [7, 8, 9]] {
            let (mut encoder, mut decoder, mut wire) =
                (Encoder::new(TEN_AND_THREE), Decoder::new(TEN_AND_THREE), VecDeque::new());
            datagrams.iter().for_each(|datagram| encoder.encode(datagram, &mut wire));
            assert_eq!(wire.len(), 13);
            let kept = wire.iter().enumerate().filter(|(at, _)| !lost.contains(at));
            let mut came: Vec<_> = kept.flat_map(|(_, datagram)| decoder.decode(datagram)).collect();
            came.sort();
            assert_eq!(came, datagrams, "{lost:?}");
        }
    }

    #[test]
    fn four_losses_are_too_many_and_no_data_is_invented() {
        let (mut encoder, mut decoder, mut wire) =
            (Encoder::new(TEN_AND_THREE), Decoder::new(TEN_AND_THREE), VecDeque::new());
        (0..10_u8).for_each(|number| encoder.encode(&[number; 30], &mut wire));
        let came: usize = wire.iter().skip(4).map(|datagram| decoder.decode(datagram).len()).sum();
        assert_eq!(came, 6);
        assert!(decoder.decode(&[1, 2, 3]).is_empty());
    }
}
