//! Work, as its expected cost in processor time. It is counted by the number of operations of each kind, and never read
//! from a clock: budgets of work are the same on every run, a thread that the system suspends spends nothing, and tests
//! can count.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Nanoseconds of a core of about 4 GHz. The rest of a budget may be negative: the cost of work is known only when it
/// is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(i64);

impl Cost {
    /// No work.
    pub const ZERO: Cost = Cost(0);

    /// This number of nanoseconds.
    pub const fn nanos(nanos: i64) -> Cost {
        Cost(nanos)
    }

    /// This number of microseconds.
    pub const fn micros(micros: i64) -> Cost {
        Cost(micros * 1_000)
    }

    /// In nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whether a budget has something left.
    pub const fn is_left(self) -> bool {
        self.0 > 0
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

impl Sub for Cost {
    type Output = Cost;

    fn sub(self, other: Cost) -> Cost {
        Cost(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl SubAssign for Cost {
    fn sub_assign(&mut self, other: Cost) {
        *self = *self - other;
    }
}

impl Mul<u64> for Cost {
    type Output = Cost;

    fn mul(self, times: u64) -> Cost {
        Cost(self.0.saturating_mul(i64::try_from(times).unwrap_or(i64::MAX)))
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::ZERO, Cost::add)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.3} ms", self.0 as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_can_be_overdrawn_without_wraparound() {
        let mut left = Cost::micros(2);
        left -= Cost::nanos(800) * 3;
        assert_eq!((left, left.is_left()), (Cost::nanos(-400), false));
        assert!(!(left + Cost::nanos(400)).is_left());
        assert_eq!(Cost::micros(1) * u64::MAX, Cost::nanos(i64::MAX));
        assert_eq!([Cost::nanos(1), Cost::micros(2)].into_iter().sum::<Cost>().to_string(), "0.002 ms");
    }
}
