//! Fades: the given share of the time in the long run, of the given mean length in time, however densely one sends.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{ConfigError, Fate, Link, LinkConfig, Loss, LossCause};

const MEAN: Duration = Duration::from_millis(40);

fn faded(rate: f64, mean_length: Duration) -> LinkConfig {
    LinkConfig { loss: Loss::Fade { rate, mean_length }, ..LinkConfig::default() }
}

/// The share that was lost, and how long losses in a row lasted on average.
fn fades(rate: f64, seed: u64, spacing: Duration) -> (f64, Duration) {
    let count = 4_000 * 1_000_000 / spacing.as_micros() as u64;
    let (fates, _, link) = common::run(faded(rate, MEAN), seed, count, spacing);
    let lost = fates.iter().filter(|fate| **fate == Fate::Lost(LossCause::Fade)).count();
    assert_eq!(link.stats().lost(), lost as u64);
    let begins = fates.windows(2).filter(|pair| pair[0] == Fate::Queued && pair[1] != Fate::Queued).count();
    (lost as f64 / count as f64, spacing * lost as u32 / begins.max(1) as u32)
}

#[test]
fn the_rate_and_duration_are_as_configured_at_any_density() {
    for spacing in [1, 2, 5].map(Duration::from_millis) {
        let (share, length) = fades(0.05, 1, spacing);
        assert!((share / 0.05 - 1.0).abs() < 0.05, "every {spacing:?}: lost {share}");
        // Of a fade that begins and ends between two datagrams nothing is seen, so that those seen are a little longer.
        assert!((length.as_secs_f64() / MEAN.as_secs_f64() - 1.0).abs() < 0.1, "every {spacing:?}: {length:?}");
    }
}

#[test]
fn simultaneous_datagrams_share_their_fate() {
    let mut link = Link::new(faded(0.3, MEAN), 1).expect("this makes sense");
    for millis in (0..60_000).step_by(17) {
        let now = Duration::from_millis(millis);
        let first = link.send(now, b"", 0);
        assert!((0..8).all(|_| link.send(now, b"", 0) == first), "at {now:?}");
    }
    assert!(link.stats().lost_fade > 0 && link.stats().lost_fade < link.stats().sent);
}

/// Two runs with one seed can be compared: the weather is the same for both.
#[test]
fn links_with_one_seed_fade_at_the_same_times_regardless_of_traffic() {
    let fated = |spacing: u64, count: u32| {
        let mut link = Link::new(faded(0.3, MEAN), 7).expect("this makes sense");
        let mut fate_at = |now| (0..count).map(|_| link.send(now, b"", 0)).last();
        let moments = (0..60_000).step_by(spacing as usize).map(|millis| fate_at(Duration::from_millis(millis)));
        moments.collect::<Vec<_>>()
    };
    let (dense, sparse) = (fated(1, 3), fated(10, 1));
    assert!(dense.iter().step_by(10).eq(&sparse));
}

#[test]
fn after_a_long_silence_a_fade_is_equally_likely() {
    let lost = (0..10_000).filter(|&seed| {
        let mut link = Link::new(faded(0.2, MEAN), seed).expect("this makes sense");
        link.send(Duration::ZERO, b"", 0);
        link.send(Duration::from_secs(3_600), b"", 0) != Fate::Queued
    });
    // Three standard deviations are 120.
    let lost = lost.count();
    assert!(lost.abs_diff(2_000) <= 120, "{lost} lost");
}

#[test]
fn impossible_fades_are_refused() {
    for (rate, mean_length) in [(0.1, Duration::from_micros(999)), (1.0, MEAN), (0.1, Duration::ZERO)] {
        let refused = Link::new(faded(rate, mean_length), 1).map(|_| ());
        assert_eq!(refused, Err(ConfigError::FadeLength { rate, mean_length }));
    }
    assert!(matches!(faded(-0.1, MEAN).validate(), Err(ConfigError::Probability { .. })));
    faded(0.0, MEAN).validate().expect("no fade at all");
}
