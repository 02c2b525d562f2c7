//! How bad the path of a seed is.

use crate::measure::chance::Chance;

/// How bad a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weather {
    /// Nothing is lost, held back or sent twice.
    Clean,
    /// A little of one thing.
    Fair,
    /// Anything.
    Rough,
}

impl Weather {
    pub(super) fn of(seed: u64) -> Weather {
        match Chance::of(seed, "weather").share() {
            share if share < 0.15 => Weather::Clean,
            share if share < 0.27 => Weather::Fair,
            _ => Weather::Rough,
        }
    }
}
