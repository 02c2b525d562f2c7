//! Switching one impairment on changes neither which datagrams another one hits nor when the others arrive.

use crate::common;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use skipstone_netsim::{Fate, LinkConfig, Loss, LossCause, Outage, QueueLimit};

const COUNT: u64 = 20_000;
const SPACING: Duration = Duration::from_micros(100);
const SEED: u64 = 11;

/// Jitter, and a rate that a third of the datagrams is too much for.
fn base() -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(10),
        jitter: Duration::from_millis(3),
        rate_bits_per_second: Some(1_900_000),
        queue: QueueLimit::Bytes(1_000),
        ..LinkConfig::default()
    }
}

fn all() -> LinkConfig {
    LinkConfig { loss: LOSS, reorder: 0.05, duplicate: 0.05, corrupt: 0.05, ..base() }
}

const LOSS: Loss = Loss::Random(0.05);

/// The impairments of each datagram, and its first arrival.
#[derive(Debug, PartialEq)]
struct Hits {
    lost: BTreeSet<u64>,
    full: BTreeSet<u64>,
    corrupted: BTreeMap<u64, Vec<u8>>,
    copied: BTreeSet<u64>,
    arrived: BTreeMap<u64, Duration>,
}

fn hits(config: LinkConfig) -> Hits {
    let (fates, arrivals, _) = common::run(config, SEED, COUNT, SPACING);
    let with = |cause| (0..).zip(&fates).filter(|(_, fate)| **fate == Fate::Lost(cause)).map(|(tag, _)| tag).collect();
    let mut hits = Hits {
        lost: with(LossCause::Random),
        full: with(LossCause::Queue),
        corrupted: BTreeMap::new(),
        copied: BTreeSet::new(),
        arrived: BTreeMap::new(),
    };
    for (arrival, bytes) in arrivals {
        if arrival.corrupted {
            hits.corrupted.insert(arrival.tag, bytes);
        }
        if hits.arrived.insert(arrival.tag, arrival.arrived).is_some() {
            hits.copied.insert(arrival.tag);
        }
    }
    hits
}

#[test]
fn loss_only_removes_datagrams() {
    let with = hits(all());
    let mut without = hits(LinkConfig { loss: Loss::None, ..all() });
    assert!(with.lost.len() > 500);
    without.corrupted.retain(|tag, _| !with.lost.contains(tag));
    without.copied.retain(|tag| !with.lost.contains(tag));
    without.arrived.retain(|tag, _| !with.lost.contains(tag));
    without.lost.clone_from(&with.lost);
    assert_eq!(with, without);
}

#[test]
fn corruption_only_changes_bytes() {
    let with = hits(all());
    let without = hits(LinkConfig { corrupt: 0.0, ..all() });
    assert!(with.corrupted.len() > 500);
    assert_eq!(Hits { corrupted: BTreeMap::new(), ..with }, without);
}

#[test]
fn duplication_only_adds_datagrams() {
    // Without holding back, a copy arrives with its original.
    let with = hits(LinkConfig { reorder: 0.0, ..all() });
    let without = hits(LinkConfig { reorder: 0.0, duplicate: 0.0, ..all() });
    assert!(with.copied.len() > 500);
    assert_eq!(Hits { copied: BTreeSet::new(), ..with }, without);
}

#[test]
fn holding_back_delays_only_the_affected_datagrams() {
    let with = hits(LinkConfig { duplicate: 0.0, ..all() });
    let without = hits(LinkConfig { duplicate: 0.0, reorder: 0.0, ..all() });
    let delayed = with.arrived.iter().filter(|(tag, arrived)| without.arrived[tag] < **arrived).count();
    let unchanged = with.arrived.iter().filter(|(tag, arrived)| without.arrived[tag] == **arrived).count();
    assert_eq!(delayed + unchanged, with.arrived.len());
    // About a twentieth of those that the queue and the loss let through.
    assert!((300..900).contains(&delayed), "{delayed} delayed");
    assert_eq!(Hits { arrived: without.arrived.clone(), ..with }, without);
}

#[test]
fn jitter_changes_only_arrival_times() {
    let with = hits(LinkConfig { reorder: 0.0, ..all() });
    let without = hits(LinkConfig { reorder: 0.0, jitter: Duration::ZERO, ..all() });
    assert_ne!(with.arrived, without.arrived);
    let tags_with: Vec<_> = with.arrived.keys().collect();
    let tags_without: Vec<_> = without.arrived.keys().collect();
    assert_eq!(tags_with, tags_without);
    assert_eq!(Hits { arrived: without.arrived.clone(), ..with }, without);
}

#[test]
fn outages_and_size_limits_do_not_shift_random_numbers() {
    // The first half is lost to the outage; the second half is hit as ever.
    let half = COUNT / 2;
    let outages = vec![Outage { start: Duration::ZERO, length: SPACING * u32::try_from(half).unwrap() }];
    let idle = LinkConfig { rate_bits_per_second: None, jitter: Duration::ZERO, ..all() };
    let mut whole = hits(idle.clone());
    whole.lost.retain(|&tag| tag >= half);
    whole.corrupted.retain(|&tag, _| tag >= half);
    whole.copied.retain(|&tag| tag >= half);
    whole.arrived.retain(|&tag, _| tag >= half);
    assert!(whole.lost.len() > 250);
    assert_eq!(hits(LinkConfig { outages, ..idle }), whole);
}

#[test]
fn an_outage_does_not_shift_bursts() {
    let bursty = LinkConfig { loss: Loss::Burst { rate: 0.2, mean_length: 5.0 }, ..LinkConfig::default() };
    let (whole, _, _) = common::run(bursty.clone(), SEED, 200, SPACING);
    // Many of these ends are in the middle of a burst.
    for end in 50..150 {
        let outages = vec![Outage { start: SPACING * 10, length: SPACING * (end - 10) }];
        let (fates, _, _) = common::run(LinkConfig { outages, ..bursty.clone() }, SEED, 200, SPACING);
        let end = end as usize;
        assert!(fates[end..].contains(&Fate::Lost(LossCause::Burst)));
        assert_eq!(fates[end..], whole[end..], "an outage up to {end}");
    }
}
