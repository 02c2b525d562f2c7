//! A timer wheel: thousands of connections, each with one deadline, and no cost for those that are not due.
//!
//! Hierarchical (Varghese and Lauck, 1987): six levels of 64 slots, the finest of 128 µs, the coarsest of 38 h in all.
//! Each connection has one entry, which moves when its deadline becomes earlier; one that has become later is detected
//! when it expires. Slots are doubly linked lists through one vector, so that moving an entry never searches and
//! allocates nothing.

use crate::time::Time;

/// Deadlines of connections, by their place in the endpoint.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// Ticks that have passed. The slot of the finest level at this tick holds the entries that are due.
    now: u64,
    /// First entry of each slot, or [`NONE`]: the finest level's 64 slots, then the next level's.
    slots: [u32; LEVELS * SLOTS],
    /// For each level a bit per slot: whether the slot holds an entry.
    occupied: [u64; LEVELS],
    /// The entry of each connection.
    entries: Vec<WheelEntry>,
    /// Number of entries that wait.
    len: usize,
}

/// A connection's entry.
#[derive(Clone, Copy, Debug)]
struct WheelEntry {
    /// The tick at which it expires, or [`NEVER`] if it waits in no slot.
    tick: u64,
    /// Its neighbours in its slot, or [`NONE`].
    previous: u32,
    next: u32,
    /// Place of its slot in [`Wheel::slots`].
    slot: u16,
}

const NONE: u32 = u32::MAX;
/// The tick of [`Time::NEVER`].
const NEVER: u64 = tick_of(Time::NEVER);
const ABSENT: WheelEntry = WheelEntry { tick: NEVER, previous: NONE, next: NONE, slot: 0 };
const LEVELS: usize = 6;
const SLOTS: usize = 64;
const SLOT_BITS: u32 = 6;
/// A tick is 2^7 µs.
const TICK_BITS: u32 = 7;

/// The first tick that is not before `at`.
const fn tick_of(at: Time) -> u64 {
    at.as_micros().div_ceil(1 << TICK_BITS)
}

impl Default for Wheel {
    fn default() -> Self {
        Wheel { now: 0, slots: [NONE; LEVELS * SLOTS], occupied: [0; LEVELS], entries: Vec::new(), len: 0 }
    }
}

impl Wheel {
    /// Wakes `index` at the first tick that is not before `at`, if nothing wakes it earlier.
    #[inline]
    pub(crate) fn arm(&mut self, index: u32, at: Time) {
        let tick = tick_of(at);
        if tick < self.tick(index) {
            self.bring_forward(index, tick);
        }
    }

    /// Wakes `index` no more.
    pub(crate) fn disarm(&mut self, index: u32) {
        if self.tick(index) != NEVER {
            self.unlink(index);
            self.entries[index as usize].tick = NEVER;
            self.len -= 1;
        }
    }

    /// The next connection whose time has come by now, in no particular order. Its entry waits no longer.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<u32> {
        let until = now.as_micros() >> TICK_BITS;
        loop {
            let first = self.slots[self.now as usize % SLOTS];
            if first != NONE {
                self.disarm(first);
                return Some(first);
            }
            if self.now >= until {
                return None;
            }
            self.advance(until);
        }
    }

    /// How many entries wait.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The time at which the next entry may be due: never late, sometimes early.
    pub(crate) fn next(&self) -> Time {
        self.next_slot().map_or(Time::NEVER, |tick| Time::from_micros(tick << TICK_BITS))
    }

    /// The tick at which the next occupied slot expires. An entry in a level differs from `now` in no higher digit, so
    /// it expires before all entries in the levels above.
    fn next_slot(&self) -> Option<u64> {
        let (level, occupied) = self.occupied.iter().enumerate().find(|(_, occupied)| **occupied != 0)?;
        let shift = SLOT_BITS * level as u32;
        let position = self.now >> shift;
        let distance = occupied.rotate_right((position % SLOTS as u64) as u32).trailing_zeros();
        Some((position + u64::from(distance)) << shift)
    }

    /// The tick at which a connection's entry expires.
    fn tick(&self, index: u32) -> u64 {
        self.entries.get(index as usize).map_or(NEVER, |entry| entry.tick)
    }

    /// Moves an entry to an earlier tick, from nowhere perhaps.
    fn bring_forward(&mut self, index: u32, tick: u64) {
        if self.tick(index) != NEVER {
            self.unlink(index);
        } else {
            self.entries.resize(self.entries.len().max(index as usize + 1), ABSENT);
            self.len += 1;
        }
        self.link(index, tick);
    }

    /// Puts an entry into the slot of its tick, or among those that are due.
    fn link(&mut self, index: u32, tick: u64) {
        // An entry beyond the last level waits in its furthest slot and is placed again from there.
        let span = 1 << (SLOT_BITS * LEVELS as u32);
        let until = tick.clamp(self.now, self.now + span - (span >> SLOT_BITS));
        // The level is the position of the highest digit in which the entry's tick differs from now.
        let digit = (63 - (until ^ self.now | 1).leading_zeros()) / SLOT_BITS;
        let level = digit.min(LEVELS as u32 - 1);
        let position = (until >> (SLOT_BITS * level)) as usize % SLOTS;
        self.occupied[level as usize] |= 1 << position;
        let slot = level as usize * SLOTS + position;
        let next = core::mem::replace(&mut self.slots[slot], index);
        self.entries[index as usize] = WheelEntry { tick, previous: NONE, next, slot: slot as u16 };
        if next != NONE {
            self.entries[next as usize].previous = index;
        }
    }

    /// Takes an entry out of its slot.
    fn unlink(&mut self, index: u32) {
        let WheelEntry { previous, next, slot, .. } = self.entries[index as usize];
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        if previous != NONE {
            self.entries[previous as usize].next = next;
            return;
        }
        self.slots[slot as usize] = next;
        if next == NONE {
            self.occupied[slot as usize / SLOTS] &= !(1 << (slot as usize % SLOTS));
        }
    }

    /// Lets time pass until the next occupied slot, and no further than `until`. Nothing may be due.
    fn advance(&mut self, until: u64) {
        let next = self.next_slot().map_or(until, |slot| slot.min(until));
        let before = core::mem::replace(&mut self.now, next);
        for level in (1..LEVELS).rev() {
            let shift = SLOT_BITS * level as u32;
            if before >> shift != next >> shift {
                self.cascade(level * SLOTS + (next >> shift) as usize % SLOTS);
            }
        }
    }

    /// Moves a slot's entries to the levels below.
    fn cascade(&mut self, slot: usize) {
        let mut index = core::mem::replace(&mut self.slots[slot], NONE);
        self.occupied[slot / SLOTS] &= !(1 << (slot % SLOTS));
        while index != NONE {
            let WheelEntry { tick, next, .. } = self.entries[index as usize];
            self.link(index, tick);
            index = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    const INDICES: u32 = 60;

    #[test]
    fn every_deadline_fires_at_its_tick_and_no_earlier() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let mut wheel = Wheel::default();
            let (mut now, mut model) = (Time::ZERO, BTreeMap::new());
            for step in 0..600 {
                for _ in 0..rng.below(6) {
                    let index = rng.below(INDICES);
                    if rng.below(4) == 0 {
                        wheel.disarm(index);
                        model.remove(&index);
                        continue;
                    }
                    let reach = 1 << (7 + rng.below(30));
                    let at = Time::from_micros(now.as_micros() + rng.next_u64() % reach);
                    wheel.arm(index, at);
                    let earliest = model.entry(index).or_insert(at);
                    *earliest = at.min(*earliest);
                }
                let next = model.values().min().copied().unwrap_or(Time::NEVER);
                assert!(wheel.next().as_micros() <= next.as_micros().saturating_add(128), "seed {seed} step {step}");
                assert_eq!(wheel.len(), model.len(), "seed {seed} step {step}");
                now = Time::from_micros(now.as_micros() + rng.next_u64() % (1 << (5 + rng.below(26))));
                while let Some(index) = wheel.pop_due(now) {
                    let at = model.remove(&index).expect("it waits, and comes up once");
                    assert!(at <= now, "seed {seed}: {at:?} came up at {now:?}");
                }
                let late = model.values().find(|at| at.as_micros() + 128 <= now.as_micros());
                assert_eq!(late, None, "seed {seed} step {step} now {now:?}");
            }
        }
    }

    #[test]
    fn a_deadline_beyond_the_last_level_is_kept() {
        let mut wheel = Wheel::default();
        let far = Time::from_micros(1 << 50);
        wheel.arm(7, far);
        assert_eq!(wheel.pop_due(Time::from_micros((1 << 50) - 1)), None);
        assert_eq!(wheel.pop_due(far), Some(7));
    }

    #[test]
    fn a_deadline_of_never_is_not_stored() {
        let mut wheel = Wheel::default();
        wheel.arm(0, Time::NEVER);
        assert_eq!((wheel.len(), wheel.next()), (0, Time::NEVER));
    }
}
