//! Connection ids: chosen at random, and found by a table that no outside host can unbalance, because we chose the ids.

use crate::security::secret_rng::SecretRng;
use crate::wire::datagram::{KIND_CRYPTO, KIND_PACKET};
use core::hash::{BuildHasherDefault, Hasher};

/// Connections by id.
#[derive(Debug)]
pub(crate) struct IdTable {
    shard: Shard,
    by_id: std::collections::HashMap<u32, u32, BuildHasherDefault<IdHasher>>,
}

/// The shard of an endpoint, among several behind one port: the top bits of its connection ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shard {
    /// Number of the shard.
    pub index: u32,
    /// Number of top bits of the 24 that name a shard: 0 to 8.
    pub bits: u32,
}

impl Shard {
    /// The shard that a connection id belongs to.
    pub fn of(id: u32, bits: u32) -> u32 {
        if bits == 0 { 0 } else { id >> (24 - bits) }
    }

    /// The shard that a datagram to a server is for, by its connection id, if shards have `bits` bits. `None` for a
    /// datagram without a connection id, such as a HELLO or an OPEN, which the shard that received it handles; and for
    /// an invalid one.
    pub fn named_by(datagram: &[u8], bits: u32) -> Option<u32> {
        let [KIND_PACKET | KIND_CRYPTO, a, b, c, ..] = *datagram else { return None };
        let id = u32::from_be_bytes([0, a, b, c]);
        (id != 0).then(|| Shard::of(id, bits))
    }
}

impl IdTable {
    pub(crate) fn new(shard: Shard) -> Self {
        assert!(shard.bits <= 8 && shard.index < 1 << shard.bits, "a shard's number fits its bits");
        IdTable { shard, by_id: Default::default() }
    }

    /// How many players can have an id: half of the ids stay free of them, so that a free one is soon found.
    pub(crate) fn capacity(&self) -> usize {
        1 << (24 - self.shard.bits - 1)
    }

    /// Whether another connection can have an id. A connection that is closing, or was not accepted, has an id too, in
    /// addition to the connections that [`IdTable::capacity`] counts: an eighth of the ids still stays unused.
    pub(crate) fn has_room(&self) -> bool {
        self.by_id.len() < self.capacity() / 4 * 7
    }

    /// A new id for the connection at `index`, if there is room.
    pub(crate) fn assign(&mut self, secret_rng: &mut SecretRng, index: u32) -> u32 {
        assert!(self.has_room(), "the endpoint takes no connection for which there is no id");
        self.draw(secret_rng, index)
    }

    fn draw(&mut self, secret_rng: &mut SecretRng, index: u32) -> u32 {
        let free_bits = 24 - self.shard.bits;
        loop {
            let random = secret_rng.number() as u32 & ((1 << free_bits) - 1);
            let id = random | self.shard.index.checked_shl(free_bits).unwrap_or(0);
            if id != 0 && !self.by_id.contains_key(&id) {
                self.by_id.insert(id, index);
                return id;
            }
        }
    }

    /// A second id for the connection at `index`; `None` if a quarter of the ids would not stay unused.
    pub(crate) fn assign_spare(&mut self, secret_rng: &mut SecretRng, index: u32) -> Option<u32> {
        (self.by_id.len() < self.capacity() / 2 * 3).then(|| self.draw(secret_rng, index))
    }

    /// The number of ids in use.
    pub(crate) fn count(&self) -> usize {
        self.by_id.len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::datagram::{KIND_CHALLENGE, KIND_HELLO, KIND_OPEN};

    #[test]
    fn a_datagram_names_the_shard_that_assigned_its_id() {
        let mut secret_rng = SecretRng::new([7; 16]);
        for index in 0..6 {
            let mut table = IdTable::new(Shard { index, bits: 3 });
            for connection in 0..100 {
                let [_, a, b, c] = table.assign(&mut secret_rng, connection).to_be_bytes();
                assert_eq!(Shard::named_by(&[KIND_PACKET, a, b, c, 0], 3), Some(index));
                assert_eq!(Shard::named_by(&[KIND_CRYPTO, a, b, c], 3), Some(index));
            }
        }
    }

    #[test]
    fn there_is_no_room_well_before_the_ids_run_out() {
        let (mut table, mut secret_rng) = (IdTable::new(Shard { index: 3, bits: 8 }), SecretRng::new([7; 16]));
        let mut count = 0;
        while table.has_room() {
            table.assign(&mut secret_rng, count);
            count += 1;
        }
        assert_eq!((count as usize, table.capacity()), (7 << 13, 1 << 15));
        assert_eq!(table.assign_spare(&mut secret_rng, 0), None);
    }

    #[test]
    fn handshakes_and_invalid_datagrams_name_no_shard() {
        for kind in [KIND_HELLO, KIND_OPEN, KIND_CHALLENGE, 22, 0xFF] {
            assert_eq!(Shard::named_by(&[kind, 0xFF, 1, 2, 3], 1), None);
        }
        assert_eq!(Shard::named_by(&[KIND_PACKET, 0, 0, 0, 9], 1), None, "0 is no id");
        assert_eq!(Shard::named_by(&[KIND_PACKET, 0xFF, 1], 1), None, "it is cut short");
        assert_eq!(Shard::named_by(&[], 1), None);
    }
}
