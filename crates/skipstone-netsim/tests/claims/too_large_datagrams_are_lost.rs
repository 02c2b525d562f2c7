//! A link carries datagrams up to a size.

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig, LossCause, Outage};

#[test]
fn the_largest_size_passes_and_one_byte_more_does_not() {
    let config = LinkConfig { datagram_bytes_max: Some(1_200), ..LinkConfig::default() };
    let mut link = Link::new(config, 1).unwrap();
    assert_eq!(link.send(Duration::ZERO, &[0; 1_200], 0), Fate::Queued);
    assert_eq!(link.send(Duration::ZERO, &[0; 1_201], 0), Fate::Lost(LossCause::TooLarge));
    let stats = link.stats();
    assert_eq!((stats.sent, stats.lost_too_large, stats.bytes_sent), (2, 1, 2_401));
    assert_eq!(link.in_flight(), 1);
}

#[test]
fn an_oversized_datagram_counts_as_too_large_even_during_an_outage() {
    let outages = vec![Outage { start: Duration::ZERO, length: Duration::MAX }];
    let config = LinkConfig { datagram_bytes_max: Some(0), outages, ..LinkConfig::default() };
    let mut link = Link::new(config, 1).unwrap();
    assert_eq!(link.send(Duration::ZERO, b"x", 0), Fate::Lost(LossCause::TooLarge));
    assert_eq!(link.send(Duration::ZERO, b"", 0), Fate::Lost(LossCause::Outage));
}

#[test]
fn without_a_limit_any_size_passes() {
    let mut link = Link::new(LinkConfig::default(), 1).unwrap();
    let mut datagram = Vec::new();
    link.send(Duration::ZERO, &vec![7; 1 << 20], 0);
    link.receive(Duration::ZERO, &mut datagram).unwrap();
    assert_eq!(datagram, vec![7; 1 << 20]);
}
