//! Random loss: the given share, each datagram for itself.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Fate, LinkConfig, Loss, LossCause};

fn losses(rate: f64, seed: u64) -> Vec<bool> {
    let config = LinkConfig { loss: Loss::Random(rate), ..LinkConfig::default() };
    let (fates, arrivals, link) = common::run(config, seed, 100_000, Duration::from_micros(1));
    let lost: Vec<bool> = fates.iter().map(|&fate| fate == Fate::Lost(LossCause::Random)).collect();
    let lost_count = lost.iter().filter(|&&lost| lost).count();
    assert_eq!(link.stats().lost_random, lost_count as u64);
    assert_eq!(arrivals.len(), 100_000 - lost_count);
    assert!(arrivals.iter().all(|(arrival, _)| !lost[usize::try_from(arrival.tag).unwrap()]));
    lost
}

fn count(lost: &[bool]) -> usize {
    lost.iter().filter(|&&lost| lost).count()
}

#[test]
fn the_lost_share_equals_the_rate() {
    // Three standard deviations: sqrt(n p (1 - p)) is 22, 44 and 158.
    for (rate, expected, tolerance) in [(0.005, 500, 66), (0.02, 2_000, 132), (0.5, 50_000, 474)] {
        for seed in 1..=5 {
            let lost = count(&losses(rate, seed));
            assert!(lost.abs_diff(expected) <= tolerance, "seed {seed}, rate {rate}: {lost} lost");
        }
    }
}

#[test]
fn rate_0_loses_none_and_rate_1_loses_all() {
    assert_eq!(count(&losses(0.0, 1)), 0);
    assert_eq!(count(&losses(1.0, 1)), 100_000);
}

#[test]
fn losses_are_independent() {
    // Of 20,000 lost, a fifth are followed by another; three standard deviations are 170.
    let lost = losses(0.2, 1);
    let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count();
    assert!(pairs.abs_diff(4_000) <= 170, "{pairs} pairs");
}

#[test]
fn a_higher_rate_loses_a_superset() {
    let (one, two) = (losses(0.01, 1), losses(0.02, 1));
    assert!(one.iter().zip(&two).all(|(one, two)| !one || *two));
    assert!(count(&one) < count(&two));
}
