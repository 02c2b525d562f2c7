//! A seed determines everything, permanently: the same run again, and the same run as in earlier versions.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Duplex, Fate, LinkConfig, Loss, QueueLimit};

fn everything() -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(10),
        jitter: Duration::from_millis(5),
        rate_bits_per_second: Some(2_700_000),
        queue: QueueLimit::Bytes(2_000),
        loss: Loss::Burst { rate: 0.05, mean_length: 2.0 },
        reorder: 0.05,
        duplicate: 0.05,
        corrupt: 0.05,
        ..LinkConfig::default()
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let (fates, arrivals, link) = common::run(everything(), 7, 20_000, Duration::from_micros(100));
    let (fates_again, arrivals_again, link_again) = common::run(everything(), 7, 20_000, Duration::from_micros(100));
    assert_eq!(fates, fates_again);
    assert_eq!(arrivals, arrivals_again);
    assert_eq!(link.stats(), link_again.stats());
}

#[test]
fn another_seed_gives_another_run() {
    let (fates, arrivals, _) = common::run(everything(), 7, 20_000, Duration::from_micros(100));
    let (fates_other, arrivals_other, _) = common::run(everything(), 8, 20_000, Duration::from_micros(100));
    assert_ne!(fates, fates_other);
    assert_ne!(arrivals, arrivals_other);
}

#[test]
fn a_clone_continues_identically() {
    let (_, _, mut link) = common::run(everything(), 7, 1_000, Duration::from_micros(100));
    let mut clone = link.clone();
    for number in 0..1_000 {
        let now = Duration::from_millis(100 + number);
        assert_eq!(link.send(now, b"", number), clone.send(now, b"", number));
        assert_eq!(link.next_arrival(), clone.next_arrival());
    }
}

#[test]
fn the_directions_of_a_path_have_independent_random_numbers() {
    let config = LinkConfig { loss: Loss::Random(0.5), ..LinkConfig::default() };
    let mut path = Duplex::symmetric(config, 7).unwrap();
    let up: Vec<Fate> = (0..1_000).map(|number| path.up.send(Duration::ZERO, b"", number)).collect();
    let down: Vec<Fate> = (0..1_000).map(|number| path.down.send(Duration::ZERO, b"", number)).collect();
    let alike = up.iter().zip(&down).filter(|(up, down)| up == down).count();
    // Half of them; three standard deviations are 47.
    assert!(alike.abs_diff(500) <= 47, "{alike} alike");
}

/// If this fails, every seed that anybody has written down has changed its meaning: say so in the change log.
#[test]
fn seeds_keep_their_meaning() {
    let (fates, arrivals, link) = common::run(everything(), 7, 20_000, Duration::from_micros(100));
    let lost: Vec<usize> = (0..).zip(fates).filter(|(_, fate)| *fate != Fate::Queued).map(|(n, _)| n).take(8).collect();
    assert_eq!(lost, [25, 26, 27, 28, 29, 88, 190, 204]);
    let digest = arrivals.iter().fold(0, |digest: u64, (arrival, bytes)| {
        let nanoseconds = u64::try_from(arrival.arrived.as_nanos()).unwrap();
        let content = u64::from_be_bytes(bytes.as_slice().try_into().unwrap());
        digest.rotate_left(5).wrapping_add(nanoseconds ^ content).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    assert_eq!((digest, link.stats().delivered), (12_052_138_401_820_442_912, 18_851));
}
