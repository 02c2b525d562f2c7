//! The received packets that the decoder keeps: a ring by packet number, as large as the reach of repair packets.

use crate::redundancy::fec::symbol::{self, PREFIX_BYTES};

/// The symbols of the last packets. Empty until the first repair; from then on the sender may count on them.
///
/// The size is twice the span of the last repairs, since packets come before the repairs that cover them. In quiet
/// times the store is kept, but smaller. Memory is reused, and bounded by [`BYTES_MAX`].
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Empty, or a power of two.
    slots: Vec<StoreSlot>,
    /// Bytes of the longest buffer.
    longest: usize,
    /// The number of slots that the largest span needed, among the repairs since the last check.
    wanted: usize,
    repairs: u32,
    packets_since_repair: u32,
    /// Bytes of all symbols' buffers.
    symbol_bytes: usize,
}

#[derive(Debug, Default)]
struct StoreSlot {
    /// The packet's number plus one; 0 if there is none.
    number: u64,
    symbol: Vec<u8>,
}

/// Slots at least: a few bursts of a few packets, with acknowledgements between them.
const SLOTS_MIN: usize = 32;
/// Slots at most: the greatest span of a repair, and 75 packets that overtook it.
pub(super) const SLOTS_MAX: usize = 256;
/// Slots in quiet times: three bursts of twenty packets, so that the first repairs afterwards find the packets that
/// they cover.
const QUIET_SLOTS_MAX: usize = 64;
/// Packets without a repair that make times quiet.
const QUIET_MAX: u32 = 512;
/// The number of repairs after which slots that none of them needed are given back.
const REPAIRS_PER_LOOK: u32 = 64;
/// Bytes of all symbols: [`SLOTS_MAX`] of a whole datagram on Ethernet. There are fewer slots if datagrams are larger.
pub(super) const BYTES_MAX: usize = 384 * 1_024;

impl Store {
    /// Whether nothing is kept, because no repair has arrived.
    pub(super) fn is_closed(&self) -> bool {
        self.slots.is_empty()
    }

    /// The symbol of a packet, if it is here.
    pub(super) fn get(&self, number: u64) -> Option<&[u8]> {
        let mask = (self.slots.len() as u64).checked_sub(1)?;
        let slot = &self.slots[(number & mask) as usize];
        (slot.number == number + 1).then_some(&slot.symbol[..])
    }

    /// Keeps a packet's content, if a newer one is not in its place.
    pub(super) fn keep(&mut self, number: u64, content: &[u8]) {
        let length = content.len() + PREFIX_BYTES;
        if length > self.longest {
            self.longest = length;
            self.resize(self.slots.len());
        }
        let Some(mask) = (self.slots.len() as u64).checked_sub(1) else { return };
        let slot = &mut self.slots[(number & mask) as usize];
        if slot.number > number {
            return;
        }
        slot.number = number + 1;
        let before = slot.symbol.capacity();
        slot.symbol.clear();
        slot.symbol.reserve_exact(length);
        symbol::write(&mut slot.symbol, number, content);
        self.symbol_bytes = self.symbol_bytes + slot.symbol.capacity() - before;
    }

    /// Memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.slots.len() * size_of::<StoreSlot>() + self.symbol_bytes) as u64
    }

    /// A packet that is not a repair has arrived.
    pub(super) fn on_packet(&mut self) {
        self.packets_since_repair = self.packets_since_repair.saturating_add(1);
        if self.packets_since_repair == QUIET_MAX {
            self.resize(self.slots.len().min(QUIET_SLOTS_MAX));
        }
    }

    /// A repair that spans `span` numbers has arrived, at most [`SLOTS_MAX`].
    pub(super) fn on_repair(&mut self, span: usize) {
        self.packets_since_repair = 0;
        self.wanted = self.wanted.max((2 * span).next_power_of_two().clamp(SLOTS_MIN, SLOTS_MAX));
        self.repairs += 1;
        let is_look = self.repairs == REPAIRS_PER_LOOK;
        if self.wanted > self.slots.len() || is_look {
            self.resize(self.wanted);
        }
        if is_look {
            (self.wanted, self.repairs) = (0, 0);
        }
    }

    /// Changes to `wanted` slots, or to as many as there are bytes for.
    fn resize(&mut self, wanted: usize) {
        let affordable = 1 << (BYTES_MAX / self.longest.max(1)).max(1).ilog2();
        let count = wanted.min(affordable);
        if count == self.slots.len() {
            return;
        }
        let mut slots: Vec<StoreSlot> = (0..count).map(|_| StoreSlot::default()).collect();
        for slot in self.slots.drain(..).filter(|slot| slot.number > 0) {
            let place = &mut slots[(slot.number - 1) as usize & (count - 1)];
            if place.number < slot.number {
                *place = slot;
            }
        }
        self.symbol_bytes = slots.iter().map(|slot| slot.symbol.capacity()).sum();
        self.slots = slots;
    }

    /// Slots, and the bytes that they hold on to.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        (self.slots.len(), self.slots.iter().map(|slot| slot.symbol.capacity()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(store: &Store, numbers: core::ops::Range<u64>) -> usize {
        numbers.filter(|number| store.get(*number).is_some()).count()
    }

    #[test]
    fn stored_packets_follow_the_span_of_repairs() {
        let mut store = Store::default();
        store.keep(0, b"before the first repair");
        assert!(store.is_closed() && store.get(0).is_none());
        store.on_repair(10);
        (0..1_000).for_each(|number| store.keep(number, b"x"));
        assert_eq!(kept(&store, 0..1_000), SLOTS_MIN);
        store.on_repair(181);
        assert_eq!(kept(&store, 0..1_000), SLOTS_MIN, "what was kept is still there");
        (1_000..2_000).for_each(|number| store.keep(number, b"x"));
        assert_eq!(kept(&store, 0..2_000), SLOTS_MAX);
        (0..2 * REPAIRS_PER_LOOK).for_each(|_| store.on_repair(20));
        assert_eq!(store.size().0, 64, "one large span is not remembered for ever");
        assert_eq!(kept(&store, 0..2_000), 64, "the newest stay");
    }

    #[test]
    fn a_quiet_period_keeps_a_small_store() {
        let mut store = Store::default();
        store.on_repair(181);
        for number in 0..10_000 {
            store.on_packet();
            store.keep(number, &[1; 1_472]);
        }
        assert_eq!(kept(&store, 9_900..10_000), QUIET_SLOTS_MAX);
        assert!(store.size().1 < 100_000, "{:?}", store.size());
    }

    #[test]
    fn stored_bytes_are_bounded_for_any_packet_length() {
        let mut store = Store::default();
        for (length, expected) in [(100, SLOTS_MAX), (1_472, SLOTS_MAX), (1_473, SLOTS_MAX), (9_000, 32), (65_507, 4)] {
            for number in 0..1_000 {
                store.on_repair(181);
                store.keep(number, &vec![1; length]);
            }
            let (slots, bytes) = store.size();
            assert!(slots == expected && bytes <= BYTES_MAX, "{length}: {slots} slots, {bytes} bytes");
            assert_eq!(store.symbol_bytes, bytes);
        }
    }
}
