//! Recently delivered numbered messages of an unreliable channel, so that a repeated message is delivered once. WIRE.md
//! section 4.2.

use super::footprint::allocated;
use super::window_cost;
use crate::ranges::RangeSet;

/// Numbers that were delivered, beyond a floor below which nothing is delivered any more.
#[derive(Debug)]
pub(super) struct Recent {
    floor: u64,
    /// The floor moves here when time passes: messages missing below were lost with all their repeats.
    aged: u64,
    delivered: RangeSet,
}

/// Maximum number of gaps that are kept open.
const GAPS_MAX: usize = 32;

impl Recent {
    /// Everything below this number was delivered or is too old.
    pub(super) fn above(floor: u64) -> Self {
        Recent { floor, aged: floor, delivered: RangeSet::default() }
    }

    /// Whether a message of this number was delivered, or is too old to be known.
    pub(super) fn contains(&self, number: u64) -> bool {
        number < self.floor || self.delivered.contains(number)
    }

    /// A message of this number is delivered.
    pub(super) fn insert(&mut self, number: u64) {
        self.delivered.insert(number);
        while self.delivered.range_count() > GAPS_MAX {
            self.raise_to_first();
        }
        self.close_gap();
    }

    /// Time passed: gaps that were open at the last call already are given up. `next` is the greatest number plus one.
    pub(super) fn grow_old(&mut self, next: u64) {
        self.floor = self.floor.max(self.aged);
        self.delivered.remove_below(self.floor);
        self.aged = next;
        self.close_gap();
    }

    /// Whether nothing below the greatest number is missing.
    pub(super) fn is_empty(&self) -> bool {
        self.delivered.is_empty()
    }

    /// Bytes of the receive window that the record occupies.
    pub(super) fn cost(&self) -> u64 {
        window_cost(0) * self.delivered.range_count() as u64
    }

    /// Memory of the record.
    pub(super) fn footprint(&self) -> u64 {
        allocated(self.delivered.range_count() * size_of::<(u64, u64)>())
    }

    fn close_gap(&mut self) {
        if self.delivered.first_range().is_some_and(|range| *range.start() <= self.floor) {
            self.raise_to_first();
        }
    }

    fn raise_to_first(&mut self) {
        if let Some(range) = self.delivered.pop_first_range() {
            self.floor = self.floor.max(range.end() + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_stay_open_until_filled_or_expired() {
        let mut recent = Recent::above(10);
        recent.insert(12);
        assert_eq!([9, 10, 11, 12, 13].map(|number| recent.contains(number)), [true, false, false, true, false]);
        recent.grow_old(13);
        assert!(!recent.contains(11), "it is not old yet");
        recent.insert(11);
        recent.insert(10);
        assert!(recent.is_empty() && recent.contains(12) && !recent.contains(13));
        recent.insert(20);
        recent.grow_old(21);
        recent.grow_old(21);
        assert!(recent.contains(15) && recent.is_empty() && recent.cost() == 0);
    }

    #[test]
    fn many_gaps_take_bounded_memory() {
        let mut recent = Recent::above(0);
        for number in (1..10_000).step_by(2) {
            recent.insert(number);
            assert!(recent.cost() <= window_cost(0) * GAPS_MAX as u64);
        }
        assert!(!recent.contains(9_998) && recent.contains(0));
    }
}
