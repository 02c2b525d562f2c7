//! A rate: datagrams are sent one after another, each for its bits divided by the rate, including headers.

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig, QueueLimit};

const DELAY: Duration = Duration::from_millis(10);

/// 1,000 bytes with the header take 1 ms.
fn limited() -> LinkConfig {
    LinkConfig { delay: DELAY, rate_bits_per_second: Some(8_000_000), ..LinkConfig::default() }
}

fn arrivals(link: &mut Link) -> Vec<Duration> {
    let mut datagram = Vec::new();
    core::iter::from_fn(|| link.receive(Duration::MAX, &mut datagram)).map(|arrival| arrival.arrived).collect()
}

#[test]
fn a_burst_leaves_at_the_rate() {
    let mut link = Link::new(limited(), 1).unwrap();
    for number in 0..100 {
        link.send(Duration::ZERO, &[0; 972], number);
    }
    let expected: Vec<Duration> = (1..=100).map(|number| DELAY + Duration::from_millis(number)).collect();
    assert_eq!(arrivals(&mut link), expected);
}

#[test]
fn an_idle_link_adds_only_the_serialisation_time() {
    let mut link = Link::new(limited(), 1).unwrap();
    for number in 0..100 {
        link.send(Duration::from_millis(7 * number), &[0; 472], number);
    }
    let expected: Vec<Duration> =
        (0..100).map(|number| DELAY + Duration::from_millis(7 * number) + Duration::from_micros(500)).collect();
    assert_eq!(arrivals(&mut link), expected);
}

#[test]
fn the_header_counts_towards_the_rate() {
    let mut link = Link::new(LinkConfig { header_bytes: 1_000, ..limited() }, 1).unwrap();
    link.send(Duration::ZERO, b"", 0);
    assert_eq!(link.next_arrival(), Some(DELAY + Duration::from_millis(1)));
}

#[test]
fn a_new_rate_applies_after_the_queued_datagrams() {
    let mut link = Link::new(limited(), 1).unwrap();
    link.send(Duration::ZERO, &[0; 972], 0);
    link.send(Duration::ZERO, &[0; 972], 1);
    link.set_config(LinkConfig { rate_bits_per_second: Some(80_000_000), ..limited() }).unwrap();
    link.send(Duration::ZERO, &[0; 972], 2);
    let expected = [1_000, 2_000, 2_100].map(|microseconds| DELAY + Duration::from_micros(microseconds));
    assert_eq!(arrivals(&mut link), expected);
}

#[test]
fn a_link_without_rate_has_no_queue() {
    let config = LinkConfig { rate_bits_per_second: None, queue: QueueLimit::Bytes(0), ..limited() };
    let mut link = Link::new(config, 1).unwrap();
    for number in 0..100 {
        assert_eq!(link.send(Duration::ZERO, &[0; 972], number), Fate::Queued);
    }
    assert_eq!(arrivals(&mut link), [DELAY; 100]);
    assert_eq!(link.stats().queue_bytes_peak, 0);
}

#[test]
fn a_new_rate_inherits_no_rounding_error() {
    // 240 bits at 7 Gbit/s end with a fraction of a nanosecond; at 1 kbit/s the same remainder would be milliseconds.
    let mut link = Link::new(LinkConfig { rate_bits_per_second: Some(7_000_000_000), ..limited() }, 1).unwrap();
    link.send(Duration::ZERO, b"..", 0);
    link.set_config(LinkConfig { rate_bits_per_second: Some(1_000), ..limited() }).unwrap();
    link.send(Duration::ZERO, b"..", 1);
    let expected = [DELAY + Duration::from_nanos(34), DELAY + Duration::from_nanos(34) + Duration::from_millis(240)];
    assert_eq!(arrivals(&mut link), expected);
}
