//! The budget of redundancy: a share of the bytes that it protects.

/// Grows with each source packet and is charged for each repair and copy. It is never overdrawn.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    percent: u32,
    /// Hundredths of bytes.
    credit: u64,
}

/// Bytes of budget that may accumulate: a burst of repairs after a long quiet time is useless.
const SAVED_MAX: u64 = 64 * 1_024;

impl Budget {
    /// A budget of this percentage of the source packets' bytes.
    pub fn new(percent: u16) -> Self {
        Budget { percent: percent.into(), credit: 0 }
    }

    /// A source packet of this many bytes left.
    pub fn earn(&mut self, bytes: u64) {
        self.credit = (self.credit + bytes * u64::from(self.percent)).min(SAVED_MAX * 100);
    }

    /// Number of bytes that the budget allows.
    pub fn affordable(&self) -> u64 {
        self.credit / 100
    }

    /// Whether the budget allows this many bytes.
    pub fn allows(&self, bytes: u64) -> bool {
        self.credit >= bytes * 100
    }

    /// Charges this many bytes, if the budget allows them.
    pub fn spend(&mut self, bytes: u64) -> bool {
        let allows = self.allows(bytes);
        if allows {
            self.credit -= bytes * 100;
        }
        allows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_spend_no_more_than_their_share() {
        for percent in [0, 1, 33, 100, 250] {
            let mut budget = Budget::new(percent);
            let (mut earned, mut spent) = (0_u64, 0_u64);
            for step in 0..10_000_u64 {
                let source = 40 + step * 7 % 1_400;
                budget.earn(source);
                earned += source;
                let repair = 60 + step * 13 % 1_400;
                while budget.spend(repair) {
                    spent += repair;
                }
                assert!(spent * 100 <= earned * u64::from(percent), "{percent}%: {spent} of {earned}");
            }
        }
    }
}
