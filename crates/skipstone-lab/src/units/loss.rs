//! A link's loss and its chances, from what a user wrote.

use skipstone::netsim::Loss;

use super::burst::Burst;
use super::percent::Percent;

/// Bursts go before loss at random.
pub fn loss(random: Option<Percent>, burst: Option<Burst>) -> Loss {
    match (random, burst) {
        (_, Some(burst)) => Loss::Burst { rate: burst.rate.fraction(), mean_length: burst.mean_length() },
        (Some(random), None) => Loss::Random(random.fraction()),
        (None, None) => Loss::None,
    }
}

/// As a share of 1.
pub fn chance(percent: Option<Percent>) -> f64 {
    percent.map_or(0.0, |percent| percent.fraction())
}
