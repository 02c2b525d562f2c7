//! Random draws from a seed: accounts to read, and changes of them.

use crate::statements::Change;
use skipstone_lab::measure::splitmix::{mix, splitmix};

/// A series of draws.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// The series of this purpose.
    pub(crate) fn new(seed: u64, purpose: u64) -> Draw {
        Draw(mix(seed ^ mix(purpose)))
    }

    /// A whole number from 0 up to, not including, `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(splitmix(&mut self.0)) * u128::from(end)) >> 64) as u64
    }

    /// A change of this account.
    pub(crate) fn change(&mut self, id: i64) -> Change {
        Change {
            id,
            score: self.below(1_000_000) as i64,
            rating: self.below(1_000_000) as i64,
            deposit: self.below(1_000) as i64 - 500,
        }
    }
}
