//! A timer wheel: thousands of connections, each with one deadline, and no cost for those that are not due.
//!
//! Hierarchical (Varghese and Lauck, 1987): six levels of 64 slots, the finest of 128 µs, the coarsest of 38 h in all.
//! An entry that has become too early is put back when it comes up; one that has become too late is added a second
//! time, so that moving a deadline never searches. Slots are lists through one vector: once that has its size, nothing
//! is allocated, however entries gather.

use crate::time::Time;

/// Deadlines of connections, by their place in the endpoint.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// Ticks that have passed.
    now: u64,
    levels: [WheelLevel; LEVELS],
    /// Every entry that waits, in the list of its slot; and places that are free, in a list of their own.
    nodes: Vec<Node>,
    free: u32,
    /// Entries whose time has come.
    due: Vec<WheelEntry>,
    len: usize,
}

#[derive(Debug)]
struct WheelLevel {
    /// Bit per slot: whether the slot holds an entry.
    occupied: u64,
    slots: [List; SLOTS],
}

/// Places of the first and the last entry of a slot, or [`NONE`].
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

#[derive(Debug)]
struct Node {
    entry: WheelEntry,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct WheelEntry {
    tick: u64,
    index: u32,
}

const NONE: u32 = u32::MAX;
const EMPTY: List = List { first: NONE, last: NONE };
const LEVELS: usize = 6;
const SLOTS: usize = 64;
const SLOT_BITS: u32 = 6;
/// A tick is 2^7 µs.
const TICK_BITS: u32 = 7;

/// The first tick that is not before `at`.
pub(crate) fn tick_of(at: Time) -> u64 {
    at.as_micros().div_ceil(1 << TICK_BITS)
}

impl Default for Wheel {
    fn default() -> Self {
        let level = |_| WheelLevel { occupied: 0, slots: [EMPTY; SLOTS] };
        let levels = core::array::from_fn(level);
        Wheel { now: 0, levels, nodes: Vec::new(), free: NONE, due: Vec::new(), len: 0 }
    }
}

impl Wheel {
    /// Wakes `index` at the first tick that is not before `at`.
    pub(crate) fn arm(&mut self, index: u32, at: Time) {
        self.len += 1;
        self.place(WheelEntry { tick: tick_of(at), index });
    }

    /// The next entry whose time has come by now, and the tick for which it was armed; in no particular order.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<(u32, u64)> {
        if self.due.is_empty() {
            self.advance(now.as_micros() >> TICK_BITS);
        }
        let entry = self.due.pop()?;
        self.len -= 1;
        Some((entry.index, entry.tick))
    }

    /// How many entries wait.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// When the next entry may be due: never late, sometimes early.
    pub(crate) fn next(&self) -> Time {
        if !self.due.is_empty() {
            return Time::ZERO;
        }
        self.next_slot().map_or(Time::NEVER, |tick| Time::from_micros(tick << TICK_BITS))
    }

    /// The tick at which the next occupied slot expires. An entry in a level differs from `now` in no higher digit, so
    /// it expires before all entries in the levels above.
    fn next_slot(&self) -> Option<u64> {
        let (number, level) = self.levels.iter().enumerate().find(|(_, level)| level.occupied != 0)?;
        let shift = SLOT_BITS * number as u32;
        let position = self.now >> shift;
        let distance = level.occupied.rotate_right((position % SLOTS as u64) as u32).trailing_zeros();
        Some(((position + u64::from(distance)) << shift).max(self.now))
    }

    fn place(&mut self, entry: WheelEntry) {
        if entry.tick <= self.now {
            self.due.push(entry);
            return;
        }
        // The level is that of the highest digit in which the entry's tick differs from now.
        let level = ((63 - (entry.tick ^ self.now).leading_zeros()) / SLOT_BITS).min(LEVELS as u32 - 1);
        // An entry beyond the last level waits in its furthest slot and is placed again from there.
        let span = 1 << (SLOT_BITS * LEVELS as u32);
        let tick = entry.tick.min(self.now + span - (span >> SLOT_BITS));
        let slot = (tick >> (SLOT_BITS * level)) as usize % SLOTS;
        self.levels[level as usize].occupied |= 1 << slot;
        let place = self.node(entry);
        let list = &mut self.levels[level as usize].slots[slot];
        if list.last == NONE {
            list.first = place;
        } else {
            self.nodes[list.last as usize].next = place;
        }
        list.last = place;
    }

    /// A place for an entry that waits.
    fn node(&mut self, entry: WheelEntry) -> u32 {
        let (place, node) = (self.free, Node { entry, next: NONE });
        if place == NONE {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        self.free = core::mem::replace(&mut self.nodes[place as usize], node).next;
        place
    }

    fn advance(&mut self, tick: u64) {
        while self.now < tick {
            // Nothing lies between here and the next occupied slot.
            let next = self.next_slot().map_or(tick, |slot| slot.clamp(self.now + 1, tick));
            let before = core::mem::replace(&mut self.now, next);
            for number in (0..LEVELS).rev() {
                let shift = SLOT_BITS * number as u32;
                if before >> shift != next >> shift {
                    self.cascade(number, (next >> shift) as usize % SLOTS);
                }
            }
        }
    }

    fn cascade(&mut self, level: usize, slot: usize) {
        if self.levels[level].occupied >> slot & 1 == 0 {
            return;
        }
        self.levels[level].occupied &= !(1 << slot);
        let mut place = core::mem::replace(&mut self.levels[level].slots[slot], EMPTY).first;
        while place != NONE {
            let Node { entry, next } = &mut self.nodes[place as usize];
            let (entry, following) = (*entry, core::mem::replace(next, self.free));
            self.free = place;
            self.place(entry);
            place = following;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn every_deadline_comes_up_at_its_tick_and_no_earlier() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let mut wheel = Wheel::default();
            let (mut now, mut deadlines) = (Time::ZERO, Vec::new());
            for step in 0..400 {
                for _ in 0..rng.below(4) {
                    let reach = 1 << (7 + rng.below(30));
                    let at = Time::from_micros(now.as_micros() + rng.next_u64() % reach);
                    wheel.arm(deadlines.len() as u32, at);
                    deadlines.push(Some(at));
                }
                let next = deadlines.iter().flatten().min().copied().unwrap_or(Time::NEVER);
                assert!(wheel.next().as_micros() <= next.as_micros().saturating_add(128), "seed {seed} step {step}");
                now = Time::from_micros(now.as_micros() + rng.next_u64() % (1 << (5 + rng.below(26))));
                while let Some((index, _)) = wheel.pop_due(now) {
                    let at = deadlines[index as usize].take().expect("each comes up once");
                    assert!(at <= now, "seed {seed}: {at:?} came up at {now:?}");
                }
                let late = deadlines.iter().flatten().find(|at| at.as_micros() + 128 <= now.as_micros());
                assert_eq!(late, None, "seed {seed} step {step} now {now:?}");
            }
        }
    }

    #[test]
    fn a_deadline_beyond_the_last_level_waits() {
        let mut wheel = Wheel::default();
        let far = Time::from_micros(1 << 50);
        wheel.arm(7, far);
        assert_eq!(wheel.pop_due(Time::from_micros((1 << 50) - 1)), None);
        assert_eq!(wheel.pop_due(far), Some((7, (1 << 50) >> TICK_BITS)));
    }
}
