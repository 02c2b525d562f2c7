//! A budget of work, as a share of a core that refills over time.

use crate::cost::Cost;
use crate::time::Time;

/// A share of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreShare {
    /// Work that refills in a microsecond.
    pub per_micro: Cost,
    /// Work that may be spent at once.
    pub burst: Cost,
}

/// The work spent from a share that has not refilled yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    spent: Cost,
    at: Time,
}

impl Allowance {
    /// The rest of the share at this time: zero or less if more was spent than available.
    pub fn left(&mut self, now: Time, share: &CoreShare) -> Cost {
        let back = share.per_micro * now.since(self.at).as_micros() as u64;
        *self = Allowance { spent: (self.spent - back).max(Cost::ZERO), at: now.max(self.at) };
        share.burst - self.spent
    }

    /// Charges work that was done.
    pub fn charge(&mut self, cost: Cost) {
        self.spent += cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    #[test]
    fn a_spent_allowance_refills_with_time_up_to_its_maximum() {
        let share = CoreShare { per_micro: Cost::nanos(10), burst: Cost::micros(8_000) };
        let (mut allowance, start) = (Allowance::default(), Time::from_micros(5_000_000));
        assert_eq!(allowance.left(start, &share), share.burst);
        allowance.charge(Cost::micros(9_000));
        assert_eq!(allowance.left(start, &share), Cost::micros(-1_000));
        assert_eq!(allowance.left(start + Duration::from_millis(100), &share), Cost::ZERO, "a hundredth of a core");
        assert_eq!(allowance.left(start + Duration::from_secs(60), &share), share.burst);
    }
}
