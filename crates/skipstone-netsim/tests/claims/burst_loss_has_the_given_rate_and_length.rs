//! Burst loss: the given share in the long run, in bursts of the given mean length, geometrically distributed.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig, Loss, LossCause};

struct Bursts {
    rate: f64,
    lengths: Vec<u64>,
}

impl Bursts {
    fn mean_length(&self) -> f64 {
        self.lengths.iter().sum::<u64>() as f64 / self.lengths.len() as f64
    }
}

fn bursts(rate: f64, mean_length: f64, seed: u64, count: u64) -> Bursts {
    let config = LinkConfig { loss: Loss::Burst { rate, mean_length }, ..LinkConfig::default() };
    let (fates, _, link) = common::run(config, seed, count, Duration::from_nanos(1));
    let mut lengths = Vec::new();
    let mut length = 0;
    for fate in fates.into_iter().chain([Fate::Queued]) {
        match fate {
            Fate::Lost(cause) => {
                assert_eq!(cause, LossCause::Burst);
                length += 1;
            }
            Fate::Queued if length > 0 => lengths.push(core::mem::take(&mut length)),
            Fate::Queued => {}
        }
    }
    assert_eq!(link.stats().lost_burst, lengths.iter().sum::<u64>());
    Bursts { rate: lengths.iter().sum::<u64>() as f64 / count as f64, lengths }
}

#[test]
fn the_rate_and_the_mean_length_are_as_configured() {
    for (rate, mean_length) in [(0.02, 3.0), (0.05, 1.0), (0.1, 10.0), (0.5, 2.0)] {
        for seed in 1..=3 {
            let bursts = bursts(rate, mean_length, seed, 1_000_000);
            let mean = bursts.mean_length();
            assert!((bursts.rate / rate - 1.0).abs() < 0.04, "seed {seed}, {rate}: lost {}", bursts.rate);
            assert!((mean / mean_length - 1.0).abs() < 0.04, "seed {seed}, {mean_length}: bursts of {mean}");
        }
    }
}

#[test]
fn the_rate_and_length_hold_within_100000_datagrams() {
    let bursts = bursts(0.02, 3.0, 1, 100_000);
    let mean = bursts.mean_length();
    assert!((0.018..0.022).contains(&bursts.rate), "lost {}", bursts.rate);
    assert!((2.7..3.3).contains(&mean), "bursts of {mean}");
}

#[test]
fn lengths_are_geometric() {
    // With a mean of 4, every length is three quarters as common as the one before.
    let bursts = bursts(0.1, 4.0, 1, 1_000_000);
    let of_length = |length| bursts.lengths.iter().filter(|&&other| other == length).count() as f64;
    for length in 1..6 {
        let ratio = of_length(length + 1) / of_length(length);
        assert!((0.70..0.80).contains(&ratio), "{ratio} from {length} to {}", length + 1);
    }
}

#[test]
fn the_first_datagram_is_lost_at_the_same_rate() {
    let config = LinkConfig { loss: Loss::Burst { rate: 0.2, mean_length: 5.0 }, ..LinkConfig::default() };
    let lost =
        (0..10_000).filter(|&seed| common::run(config.clone(), seed, 1, Duration::ZERO).0 != [Fate::Queued]).count();
    // Three standard deviations are 120.
    assert!(lost.abs_diff(2_000) <= 120, "{lost} lost");
}

#[test]
fn the_highest_loss_still_has_gaps_of_one() {
    let bursts = bursts(0.75, 3.0, 1, 100_000);
    assert!((0.74..0.76).contains(&bursts.rate), "lost {}", bursts.rate);
    // Every gap is exactly one datagram, so there are as many bursts as datagrams that arrive, give or take the ends.
    let delivered = ((1.0 - bursts.rate) * 100_000.0).round() as usize;
    assert!(bursts.lengths.len().abs_diff(delivered) <= 1);
}

#[test]
fn a_disabled_chain_restarts() {
    let bursty = LinkConfig { loss: Loss::Burst { rate: 0.5, mean_length: 100.0 }, ..LinkConfig::default() };
    let changed = (0..1_000).filter(|&seed| {
        let mut link = Link::new(bursty.clone(), seed).expect("this makes sense");
        let before = link.send(Duration::ZERO, b"", 0);
        link.set_config(LinkConfig::default()).expect("this makes sense");
        link.send(Duration::ZERO, b"", 1);
        link.set_config(bursty.clone()).expect("this makes sense");
        link.send(Duration::ZERO, b"", 2) != before
    });
    // Half of them, where one in a hundred would change its state by itself; three standard deviations are 47.
    let changed = changed.count();
    assert!(changed.abs_diff(500) <= 47, "{changed} changed");
}
