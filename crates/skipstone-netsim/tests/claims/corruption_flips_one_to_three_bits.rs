//! Corruption: some datagrams arrive with one to three bits flipped, and say so.

use crate::common;

use core::time::Duration;

use skipstone_netsim::{Link, LinkConfig};

fn corrupting(corrupt: f64) -> LinkConfig {
    LinkConfig { corrupt, ..LinkConfig::default() }
}

fn bits_flipped(tag: u64, bytes: &[u8]) -> u32 {
    let received = u64::from_be_bytes(bytes.try_into().expect("corruption keeps the length"));
    (received ^ tag).count_ones()
}

#[test]
fn the_configured_share_is_corrupted_and_the_rest_is_intact() {
    let (_, arrivals, link) = common::run(corrupting(0.1), 1, 100_000, Duration::from_micros(1));
    let mut by_bits = [0_usize; 4];
    for (arrival, bytes) in &arrivals {
        let bits = bits_flipped(arrival.tag, bytes);
        assert_eq!(arrival.corrupted, bits > 0);
        by_bits[bits as usize] += 1;
    }
    let corrupted: usize = by_bits[1..].iter().sum();
    // Three standard deviations are 285 for the sum and 170 for a third of it.
    assert!(corrupted.abs_diff(10_000) <= 285, "{by_bits:?}");
    assert!(by_bits[1..].iter().all(|count| count.abs_diff(3_333) <= 170), "{by_bits:?}");
    assert_eq!(link.stats().corrupted, corrupted as u64);
}

#[test]
fn an_empty_datagram_is_unchanged() {
    let mut link = Link::new(corrupting(1.0), 1).unwrap();
    let mut datagram = vec![1];
    link.send(Duration::ZERO, b"", 0);
    assert!(!link.receive(Duration::ZERO, &mut datagram).unwrap().corrupted);
    assert!(datagram.is_empty());
    assert_eq!(link.stats().corrupted, 0);
}

#[test]
fn a_copy_is_corrupted_equally_and_counted_once() {
    let config = LinkConfig { duplicate: 1.0, ..corrupting(1.0) };
    let (_, arrivals, link) = common::run(config, 1, 1_000, Duration::from_micros(1));
    assert_eq!(arrivals.len(), 2_000);
    assert!(arrivals.chunks(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(link.stats().corrupted, 1_000);
}
