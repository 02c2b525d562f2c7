//! Connection ids: chosen at random, found by a table that nobody outside can unbalance, because we chose the ids.

use crate::security::mint::Mint;
use core::hash::{BuildHasherDefault, Hasher};

/// Which connection has an id.
#[derive(Debug)]
pub(crate) struct IdTable {
    shard: Shard,
    by_id: std::collections::HashMap<u32, u32, BuildHasherDefault<IdHasher>>,
}

/// Which of several endpoints behind one port this is: the top bits of its connection ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shard {
    /// Its number.
    pub index: u32,
    /// How many top bits of the 24 name a shard: 0 to 8.
    pub bits: u32,
}

impl Shard {
    /// The shard that a connection id belongs to.
    pub fn of(id: u32, bits: u32) -> u32 {
        if bits == 0 { 0 } else { id >> (24 - bits) }
    }
}

impl IdTable {
    pub(crate) fn new(shard: Shard) -> Self {
        assert!(shard.bits <= 8 && shard.index < 1 << shard.bits, "a shard's number fits its bits");
        IdTable { shard, by_id: Default::default() }
    }

    /// How many connections can have an id: half of the ids stay unused, so that a free one is soon found.
    pub(crate) fn capacity(&self) -> usize {
        1 << (24 - self.shard.bits - 1)
    }

    /// A new id for the connection at `index`.
    pub(crate) fn assign(&mut self, mint: &mut Mint, index: u32) -> u32 {
        let free_bits = 24 - self.shard.bits;
        assert!(self.by_id.len() < self.capacity(), "the endpoint takes no more connections than there are ids");
        loop {
            let random = mint.number() as u32 & ((1 << free_bits) - 1);
            let id = random | self.shard.index.checked_shl(free_bits).unwrap_or(0);
            if id != 0 && !self.by_id.contains_key(&id) {
                self.by_id.insert(id, index);
                return id;
            }
        }
    }

    pub(crate) fn find(&self, id: u32) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn release(&mut self, id: u32) {
        self.by_id.remove(&id);
    }
}

/// Spreads the ids over the table: a multiplication (Fibonacci hashing).
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
