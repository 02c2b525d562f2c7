//! Reordering: some datagrams are held back for some time, and others overtake them.

use crate::common;

use core::time::Duration;

use skipstone_netsim::LinkConfig;

const DELAY: Duration = Duration::from_millis(10);
const EXTRA: Duration = Duration::from_millis(5);

fn reordering(reorder: f64) -> LinkConfig {
    LinkConfig { delay: DELAY, reorder, reorder_extra: EXTRA, ..LinkConfig::default() }
}

#[test]
fn the_configured_share_is_held_back_up_to_the_configured_time() {
    let (_, arrivals, link) = common::run(reordering(0.1), 1, 100_000, Duration::from_micros(100));
    assert_eq!(arrivals.len(), 100_000);
    let held: Vec<Duration> =
        arrivals.iter().map(|(arrival, _)| arrival.arrived - arrival.sent - DELAY).filter(|by| !by.is_zero()).collect();
    // Three standard deviations are 285.
    assert!(held.len().abs_diff(10_000) <= 285, "{} held back", held.len());
    assert_eq!(link.stats().held_back, held.len() as u64);
    assert!(held.iter().all(|by| *by < EXTRA));
    let mean = held.iter().sum::<Duration>() / u32::try_from(held.len()).unwrap();
    assert!(mean.abs_diff(EXTRA / 2) < Duration::from_micros(50), "{mean:?} on average");
}

#[test]
fn held_back_datagrams_are_overtaken_and_counted() {
    let (_, arrivals, link) = common::run(reordering(0.1), 1, 100_000, Duration::from_micros(100));
    let mut latest = 0;
    let mut overtaken = 0;
    for (arrival, _) in &arrivals {
        if arrival.tag < latest {
            overtaken += 1;
        }
        latest = latest.max(arrival.tag);
    }
    assert_eq!(link.stats().reordered, overtaken);
    // Nearly all, as fifty are sent within the longest hold.
    assert!(overtaken > link.stats().held_back * 9 / 10, "{overtaken} overtaken");
}

#[test]
fn a_datagram_sent_too_late_does_not_overtake() {
    let (_, arrivals, link) = common::run(reordering(0.5), 1, 1_000, EXTRA);
    assert!(arrivals.is_sorted_by_key(|(arrival, _)| arrival.tag));
    assert!(link.stats().held_back > 400);
    assert_eq!(link.stats().reordered, 0);
}

#[test]
fn a_held_back_datagram_does_not_delay_the_rest() {
    let config = LinkConfig { jitter: Duration::from_millis(2), ..reordering(0.1) };
    let (_, arrivals, _) = common::run(config, 1, 10_000, Duration::from_micros(100));
    let beyond_jitter =
        arrivals.iter().filter(|(arrival, _)| arrival.arrived - arrival.sent > DELAY + Duration::from_millis(2));
    assert!(beyond_jitter.count() < 1_000);
}

#[test]
fn a_copy_is_not_counted_as_overtaken() {
    // There is only one datagram, so no other can overtake it; but of its two copies either may come first.
    for seed in 0..100 {
        let config = LinkConfig { duplicate: 1.0, ..reordering(0.5) };
        let (_, arrivals, link) = common::run(config, seed, 1, Duration::ZERO);
        assert_eq!(arrivals.len(), 2);
        assert_eq!(link.stats().reordered, 0);
        assert!(link.stats().held_back <= 1);
    }
}
