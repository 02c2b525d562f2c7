//! A search for the most clients that a server serves: doubling until it fails, then halving the gap.

use crate::units::Bounds;

/// Between what passed and what did not.
#[derive(Debug, Clone, Copy)]
pub struct LimitSearch {
    bounds: Bounds,
    passed: u32,
    failed: Option<u32>,
}

impl LimitSearch {
    /// Nothing was tried yet.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, passed: 0, failed: None }
    }

    /// The next number to try; `None` when the gap is within 3%.
    pub fn next(&self) -> Option<u32> {
        match (self.passed, self.failed) {
            (0, None) => Some(self.bounds.low),
            (0, Some(_)) => None,
            (passed, None) => (passed < self.bounds.high).then(|| (passed * 2).min(self.bounds.high)),
            (passed, Some(failed)) => {
                let gap = failed - passed;
                (gap > (passed * 3 / 100).max(1)).then(|| passed + gap / 2)
            }
        }
    }

    /// A number was tried.
    pub fn tried(&mut self, clients: u32, has_passed: bool) {
        if has_passed {
            self.passed = clients;
        } else {
            self.failed = Some(clients);
        }
    }

    /// The most that passed; 0 if the lower bound did not.
    pub fn passed(&self) -> u32 {
        self.passed
    }

    /// The least that did not pass; `None` if the upper bound did.
    pub fn failed(&self) -> Option<u32> {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(limit: u32) -> (u32, Option<u32>, u32) {
        let (mut gap, mut trials) = (LimitSearch::new(Bounds { low: 100, high: 4_000 }), 0);
        while let Some(clients) = gap.next() {
            gap.tried(clients, clients <= limit);
            trials += 1;
        }
        (gap.passed(), gap.failed(), trials)
    }

    #[test]
    fn a_search_ends_within_three_percent_or_at_its_bounds() {
        for limit in [100, 101, 150, 777, 1_000, 3_999] {
            let (passed, failed, trials) = found(limit);
            assert!(passed <= limit && limit < failed.unwrap() && trials < 15, "{limit}: {passed} {failed:?} {trials}");
            assert!(failed.unwrap() - passed <= (passed * 3 / 100).max(1));
        }
        assert_eq!(found(99), (0, Some(100), 1));
        assert_eq!(found(4_000).0, 4_000);
        assert_eq!(found(9_999).1, None);
    }
}
