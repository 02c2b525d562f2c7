//! Jitter adds a uniform time and does not reorder; with `jitter_reorders` it does.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Arrival, LinkConfig};

const DELAY: Duration = Duration::from_millis(20);
const JITTER: Duration = Duration::from_millis(10);

fn jittery(jitter_reorders: bool) -> LinkConfig {
    LinkConfig { delay: DELAY, jitter: JITTER, jitter_reorders, ..LinkConfig::default() }
}

fn extra(arrival: &Arrival) -> Duration {
    arrival.arrived - arrival.sent - DELAY
}

#[test]
fn jitter_is_uniform_up_to_its_limit() {
    // Spaced wider than the jitter, so that none waits for another.
    let (_, arrivals, _) = common::run(jittery(false), 1, 100_000, JITTER);
    let mut per_millisecond = [0; 10];
    for (arrival, _) in &arrivals {
        assert!(extra(arrival) < JITTER);
        per_millisecond[usize::try_from(extra(arrival).as_millis()).unwrap()] += 1;
    }
    assert!(per_millisecond.iter().all(|count| (9_700..10_300).contains(count)), "{per_millisecond:?}");
}

#[test]
fn jitter_keeps_the_order() {
    let (_, arrivals, link) = common::run(jittery(false), 1, 100_000, Duration::from_micros(100));
    assert_eq!(arrivals.len(), 100_000);
    assert!(arrivals.is_sorted_by(|(a, _), (b, _)| a.tag < b.tag && a.arrived <= b.arrived));
    assert!(arrivals.iter().all(|(arrival, _)| extra(arrival) < JITTER));
    assert_eq!(link.stats().reordered, 0);
}

#[test]
fn jitter_reorders_when_configured() {
    let (_, arrivals, link) = common::run(jittery(true), 1, 100_000, Duration::from_micros(100));
    assert_eq!(arrivals.len(), 100_000);
    assert!(arrivals.is_sorted_by_key(|(arrival, _)| arrival.arrived));
    assert!(arrivals.iter().all(|(arrival, _)| extra(arrival) < JITTER));
    assert!(link.stats().reordered > 80_000, "{}", link.stats().reordered);
}
