//! Duplication: some datagrams arrive a second time, with the same tag and bytes.

use crate::common;

use core::time::Duration;
use std::collections::BTreeMap;

use skipstone_netsim::{LinkConfig, Loss};

const DELAY: Duration = Duration::from_millis(10);
const SPACING: Duration = Duration::from_micros(100);

fn duplicating() -> LinkConfig {
    LinkConfig { delay: DELAY, duplicate: 0.05, ..LinkConfig::default() }
}

#[test]
fn the_configured_share_is_duplicated() {
    let (_, arrivals, link) = common::run(duplicating(), 1, 100_000, SPACING);
    let copies = arrivals.len() - 100_000;
    // Three standard deviations are 207.
    assert!(copies.abs_diff(5_000) <= 207, "{copies} copies");
    assert_eq!(link.stats().duplicated, copies as u64);
    let mut times = BTreeMap::<u64, u32>::new();
    for (arrival, bytes) in &arrivals {
        *times.entry(arrival.tag).or_default() += 1;
        assert_eq!(*bytes, arrival.tag.to_be_bytes());
    }
    assert!(times.values().all(|times| (1..=2).contains(times)));
}

#[test]
fn a_copy_follows_immediately() {
    let config = LinkConfig { jitter: Duration::from_millis(5), ..duplicating() };
    let (_, arrivals, link) = common::run(config, 1, 100_000, SPACING);
    assert!(arrivals.is_sorted_by_key(|(arrival, _)| arrival.tag));
    let pairs = arrivals.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
    assert_eq!(pairs as u64, link.stats().duplicated);
    assert_eq!(link.stats().reordered, 0);
}

#[test]
fn a_copy_may_be_held_back_alone() {
    let config = LinkConfig { reorder: 0.5, ..duplicating() };
    let (_, arrivals, _) = common::run(config, 1, 10_000, SPACING);
    let mut first = BTreeMap::new();
    let mut late = 0;
    for (arrival, _) in &arrivals {
        let earlier = *first.entry(arrival.tag).or_insert(arrival.arrived);
        late += u32::from(arrival.arrived > earlier + Duration::from_millis(5));
    }
    assert!(late > 100, "{late} copies more than 5 ms after their original");
}

#[test]
fn under_reordering_jitter_a_copy_has_its_own_delay() {
    let config = LinkConfig { jitter: Duration::from_millis(5), jitter_reorders: true, ..duplicating() };
    let (_, arrivals, link) = common::run(config, 1, 10_000, SPACING);
    let mut first = BTreeMap::new();
    let mut apart = 0;
    for (arrival, _) in &arrivals {
        assert!(arrival.arrived - arrival.sent < DELAY + Duration::from_millis(5));
        let earlier = *first.entry(arrival.tag).or_insert(arrival.arrived);
        apart += u64::from(arrival.arrived > earlier);
    }
    assert_eq!(apart, link.stats().duplicated);
}

#[test]
fn a_copy_uses_no_link_rate() {
    // One datagram of 36 bytes with its header every 100 us fills this rate exactly.
    let config = LinkConfig { duplicate: 1.0, rate_bits_per_second: Some(2_880_000), ..LinkConfig::default() };
    let (_, arrivals, _) = common::run(config, 1, 1_000, SPACING);
    assert_eq!(arrivals.len(), 2_000);
    assert!(arrivals.iter().all(|(arrival, _)| arrival.arrived == arrival.sent + SPACING));
}

#[test]
fn lost_datagrams_are_not_duplicated() {
    let config = LinkConfig { duplicate: 1.0, loss: Loss::Random(0.5), ..LinkConfig::default() };
    let (_, arrivals, link) = common::run(config, 1, 1_000, SPACING);
    let stats = link.stats();
    assert_eq!(stats.duplicated, 1_000 - stats.lost_random);
    assert_eq!(arrivals.len() as u64, 2 * stats.duplicated);
}
