//! A set of numbers kept as sorted, disjoint, non-adjacent ranges: packet numbers received, bytes acknowledged. For
//! tens of ranges: a number in the middle moves all ranges above it. [`crate::sparse_ranges`] is for more.

use core::ops::RangeInclusive;

/// A sorted set of inclusive ranges. Adding at the upper end, the usual case, costs no search.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct RangeSet(Vec<(u64, u64)>);

impl RangeSet {
    /// Adds one number. False if it was there already.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        if let Some(last) = self.0.last_mut() {
            if number == last.1 + 1 {
                last.1 = number;
                return true;
            }
            if number > last.1 {
                self.0.push((number, number));
                return true;
            }
        }
        if self.contains(number) {
            return false;
        }
        self.insert_range(number..=number);
        true
    }

    /// Adds every number of a range.
    pub(crate) fn insert_range(&mut self, range: RangeInclusive<u64>) {
        let (mut first, mut last) = range.into_inner();
        assert!(first <= last, "a range runs upward");
        let begin = self.0.partition_point(|r| r.1.saturating_add(1) < first);
        let end = self.0.partition_point(|r| r.0 <= last.saturating_add(1));
        if begin < end {
            first = first.min(self.0[begin].0);
            last = last.max(self.0[end - 1].1);
        }
        self.0.splice(begin..end, [(first, last)]);
    }

    /// Whether the number is in the set.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|r| r.1 < number);
        self.0.get(at).is_some_and(|r| r.0 <= number)
    }

    /// The greatest number.
    pub(crate) fn last(&self) -> Option<u64> {
        self.0.last().map(|r| r.1)
    }

    /// The range with the smallest numbers.
    pub(crate) fn first_range(&self) -> Option<RangeInclusive<u64>> {
        self.0.first().map(|r| r.0..=r.1)
    }

    /// Takes the range with the smallest numbers out.
    pub(crate) fn pop_first_range(&mut self) -> Option<RangeInclusive<u64>> {
        (!self.0.is_empty()).then(|| self.0.remove(0)).map(|r| r.0..=r.1)
    }

    /// Removes every number below `bound`.
    pub(crate) fn remove_below(&mut self, bound: u64) {
        let gone = self.0.partition_point(|r| r.1 < bound);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(bound);
        }
    }

    /// Removes every number of a range.
    pub(crate) fn remove_range(&mut self, range: RangeInclusive<u64>) {
        let (first, last) = range.into_inner();
        let begin = self.0.partition_point(|r| r.1 < first);
        let end = self.0.partition_point(|r| r.0 <= last);
        if begin >= end {
            return;
        }
        let (left, right) = (self.0[begin].0, self.0[end - 1].1);
        let before = (left < first).then(|| (left, first - 1));
        let after = (right > last).then(|| (last + 1, right));
        self.0.splice(begin..end, before.into_iter().chain(after));
    }

    /// The ranges, smallest numbers first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = RangeInclusive<u64>> + '_ {
        self.0.iter().map(|r| r.0..=r.1)
    }

    /// How many ranges.
    pub(crate) fn range_count(&self) -> usize {
        self.0.len()
    }

    /// How many numbers.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(|r| r.1 - r.0 + 1).sum()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::RangeSet;
    use crate::rng::Rng;

    #[test]
    fn ranges_agree_with_a_plain_set_on_random_operations() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut set, mut model) = (RangeSet::default(), [false; 130]);
            for _ in 0..60 {
                let first = rng.below(100) as usize;
                match rng.below(10) {
                    0..6 => assert_eq!(set.insert(first as u64), !core::mem::replace(&mut model[first], true)),
                    6..9 => {
                        let last = first + rng.below(20) as usize;
                        set.insert_range(first as u64..=last as u64);
                        model[first..=last].fill(true);
                    }
                    9 if first.is_multiple_of(2) => {
                        let last = first + rng.below(20) as usize;
                        set.remove_range(first as u64..=last as u64);
                        model[first..=last].fill(false);
                    }
                    _ => {
                        set.remove_below(first as u64 / 4);
                        model[..first / 4].fill(false);
                    }
                }
                for (number, there) in model.iter().enumerate() {
                    assert_eq!(set.contains(number as u64), *there, "seed {seed}, number {number}, {set:?}");
                }
                let ranges: Vec<_> = set.iter().collect();
                assert!(ranges.windows(2).all(|w| w[0].end() + 1 < *w[1].start()), "{set:?}");
                assert_eq!(set.len(), model.iter().filter(|there| **there).count() as u64);
            }
        }
    }
}
