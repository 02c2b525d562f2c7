//! A set of numbers in very many ranges, which come in any order: the sequences that a channel has delivered out of
//! order, where the peer chooses the gaps. Each operation costs the logarithm of the number of ranges. Few ranges are
//! cheaper in [`crate::ranges`].

use core::ops::RangeInclusive;
use std::collections::BTreeMap;

/// Disjoint, non-adjacent ranges by their first number.
#[derive(Default, Debug)]
pub(crate) struct SparseRanges {
    ranges: BTreeMap<u64, u64>,
    /// Ranges that were read or written so far.
    #[cfg(test)]
    touched: core::cell::Cell<u64>,
}

impl SparseRanges {
    /// Adds one number. False if it was there already.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let before = self.at_or_below(number);
        if before.is_some_and(|(_, last)| number <= last) {
            return false;
        }
        let after = self.ranges.get(&(number + 1)).copied();
        self.note(2);
        let last = after.unwrap_or(number);
        if after.is_some() {
            self.ranges.remove(&(number + 1));
        }
        let first = before.filter(|(_, last)| last + 1 == number).map_or(number, |(first, _)| first);
        self.ranges.insert(first, last);
        true
    }

    /// Whether the number is in the set.
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.at_or_below(number).is_some_and(|(_, last)| number <= last)
    }

    /// The range with the smallest numbers.
    pub(crate) fn first_range(&self) -> Option<RangeInclusive<u64>> {
        self.ranges.first_key_value().map(|(first, last)| *first..=*last)
    }

    /// Takes the range with the smallest numbers out.
    pub(crate) fn pop_first_range(&mut self) -> Option<RangeInclusive<u64>> {
        self.note(1);
        self.ranges.pop_first().map(|(first, last)| first..=last)
    }

    /// How many ranges.
    pub(crate) fn range_count(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn at_or_below(&self, number: u64) -> Option<(u64, u64)> {
        self.note(1);
        self.ranges.range(..=number).next_back().map(|(first, last)| (*first, *last))
    }

    #[cfg(test)]
    fn note(&self, ranges: u64) {
        self.touched.set(self.touched.get() + ranges);
    }

    #[cfg(not(test))]
    fn note(&self, _: u64) {}
}

#[cfg(test)]
mod tests {
    use super::SparseRanges;
    use crate::rng::Rng;

    #[test]
    fn sparse_ranges_agree_with_a_plain_set_on_random_operations() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut set, mut model) = (SparseRanges::default(), [false; 100]);
            for _ in 0..80 {
                let number = rng.below(100) as usize;
                if rng.below(12) == 0 {
                    let first = set.pop_first_range();
                    assert_eq!(first.as_ref().map(|range| *range.start() as usize), model.iter().position(|is| *is));
                    first.into_iter().flatten().for_each(|number| model[number as usize] = false);
                } else {
                    let is_new = !core::mem::replace(&mut model[number], true);
                    assert_eq!(set.insert(number as u64), is_new, "seed {seed}");
                }
                for (number, there) in model.iter().enumerate() {
                    assert_eq!(set.contains(number as u64), *there, "seed {seed}, number {number}, {set:?}");
                }
                let runs = (0..100).filter(|at| model[*at] && (*at == 0 || !model[at - 1])).count();
                assert_eq!((set.range_count(), set.is_empty()), (runs, runs == 0), "seed {seed}");
            }
        }
    }

    #[test]
    fn an_insertion_among_100000_ranges_touches_a_few_of_them() {
        let mut set = SparseRanges::default();
        // Every second number, in descending order: each is the smallest so far, which moves all others in a sorted
        // list.
        (1..=98_000).rev().for_each(|at| assert!(set.insert(2 * at)));
        assert_eq!(set.range_count(), 98_000);
        let mut rng = Rng::new(1);
        (0..98_000).for_each(|_| {
            set.insert(u64::from(rng.below(196_000)));
        });
        assert!(set.touched.get() <= 3 * 2 * 98_000, "{} ranges were touched", set.touched.get());
    }
}
