//! The numbers of one sender that one receiver misses, as ranges: eight bytes each, however many numbers it holds.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Missing numbers: disjoint, ascending, not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Gaps {
    ranges: Vec<Range<u32>>,
}

impl Gaps {
    /// Numbers above all others here are missing.
    pub(super) fn push(&mut self, missing: Range<u32>) {
        assert!(!missing.is_empty(), "a gap misses something");
        assert!(self.ranges.last().is_none_or(|last| last.end < missing.start), "gaps open in ascending order");
        self.ranges.push(missing);
    }

    /// A number arrived: whether it was missing.
    pub(super) fn fill(&mut self, number: u32) -> bool {
        let at = self.ranges.partition_point(|range| range.end <= number);
        let Some(range) = self.ranges.get_mut(at).filter(|range| range.contains(&number)) else {
            return false;
        };
        let (before, after) = (range.start..number, number + 1..range.end);
        match (before.is_empty(), after.is_empty()) {
            (true, true) => drop(self.ranges.remove(at)),
            (true, false) => *range = after,
            (false, true) => *range = before,
            (false, false) => {
                *range = before;
                self.ranges.insert(at + 1, after);
            }
        }
        true
    }

    /// Whether the ranges are disjoint, ascending and not empty, below this number: gaps that were read may not be.
    pub(super) fn are_sound(&self, below: u32) -> bool {
        let ends = self.ranges.iter().map(|range| (range.start, range.end));
        let ascend = self.ranges.windows(2).all(|pair| pair[0].end < pair[1].start);
        ascend && ends.into_iter().all(|(start, end)| start < end && end <= below)
    }

    /// How many numbers among these are missing.
    pub(super) fn missing(&self, among: Range<u32>) -> u64 {
        let start = self.ranges.partition_point(|range| range.end <= among.start);
        self.ranges[start..]
            .iter()
            .take_while(|range| range.start < among.end)
            .map(|range| u64::from(range.end.min(among.end) - range.start.max(among.start)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_number_is_filled_once_in_any_order() {
        let mut gaps = Gaps::default();
        gaps.push(3..8);
        gaps.push(10..11);
        assert!(!gaps.fill(2) && !gaps.fill(8) && !gaps.fill(11));
        for number in [5, 3, 7, 4, 6, 10] {
            assert!(gaps.fill(number), "{number} was missing");
            assert!(!gaps.fill(number), "{number} has arrived");
        }
        assert_eq!(gaps.missing(0..100), 0);
        assert!(gaps.ranges.is_empty());
    }

    #[test]
    fn missing_counts_only_what_was_asked_for() {
        let mut gaps = Gaps::default();
        gaps.push(3..8);
        gaps.push(10..20);
        assert_eq!(gaps.missing(0..100), 15);
        assert_eq!(gaps.missing(5..12), 5);
        assert_eq!(gaps.missing(8..10), 0);
    }
}
