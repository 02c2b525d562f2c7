//! Without jitter and rate, every datagram takes exactly the delay, and keeps its bytes and tag.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig};

const DELAY: Duration = Duration::from_nanos(12_345_678);

fn delayed() -> LinkConfig {
    LinkConfig { delay: DELAY, ..LinkConfig::default() }
}

#[test]
fn every_datagram_takes_exactly_the_delay() {
    let (fates, arrivals, _) = common::run(delayed(), 1, 1_000, Duration::from_micros(10));
    assert!(fates.iter().all(|&fate| fate == Fate::Queued));
    assert_eq!(arrivals.len(), 1_000);
    for (number, (arrival, bytes)) in (0_u64..).zip(&arrivals) {
        assert_eq!(arrival.sent, Duration::from_micros(10 * number));
        assert_eq!(arrival.arrived, arrival.sent + DELAY);
        assert_eq!(arrival.tag, number);
        assert!(!arrival.corrupted);
        assert_eq!(*bytes, number.to_be_bytes());
    }
}

#[test]
fn an_ideal_link_delivers_at_once() {
    let mut link = Link::new(LinkConfig::default(), 1).unwrap();
    let mut datagram = Vec::new();
    let now = Duration::from_secs(1);
    link.send(now, b"now", 0);
    assert_eq!(link.next_arrival(), Some(now));
    assert_eq!(link.receive(now, &mut datagram).unwrap().arrived, now);
    assert_eq!(datagram, b"now");
}

#[test]
fn nothing_is_received_before_it_arrives() {
    let mut link = Link::new(delayed(), 1).unwrap();
    let mut datagram = b"as it was".to_vec();
    link.send(Duration::ZERO, b"late", 0);
    assert_eq!(link.in_flight(), 1);
    assert!(link.receive(DELAY - Duration::from_nanos(1), &mut datagram).is_none());
    assert_eq!(datagram, b"as it was");
    assert_eq!(link.in_flight(), 1);
    assert!(link.receive(DELAY, &mut datagram).is_some());
    assert_eq!((link.in_flight(), link.next_arrival()), (0, None));
}

#[test]
fn a_late_receiver_gets_the_true_arrival_time() {
    let mut link = Link::new(delayed(), 1).unwrap();
    let mut datagram = Vec::new();
    link.send(Duration::ZERO, b"", 0);
    let arrival = link.receive(Duration::from_secs(9), &mut datagram).unwrap();
    assert_eq!(arrival.arrived, DELAY);
}
