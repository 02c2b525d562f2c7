//! The queue before the rate has a limit in bytes or in time; what would exceed it is dropped, and nothing else.

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig, LossCause, QueueLimit};

/// 1,000 bytes with the header take 1 ms.
fn limited(queue: QueueLimit) -> Link {
    let config = LinkConfig { rate_bits_per_second: Some(8_000_000), queue, ..LinkConfig::default() };
    Link::new(config, 1).unwrap()
}

fn send(link: &mut Link, microseconds: u64) -> bool {
    match link.send(Duration::from_micros(microseconds), &[0; 972], 0) {
        Fate::Queued => true,
        Fate::Lost(cause) => {
            assert_eq!(cause, LossCause::Queue);
            false
        }
    }
}

#[test]
fn queued_bytes_are_limited() {
    let mut link = limited(QueueLimit::Bytes(3_000));
    // One is being serialised, three wait.
    let accepted: Vec<bool> = (0..6).map(|_| send(&mut link, 0)).collect();
    assert_eq!(accepted, [true, true, true, true, false, false]);
    assert_eq!(link.stats().lost_queue, 2);
    assert_eq!(link.stats().queue_bytes_peak, 3_000);
    // Room again only when the next begins to be serialised.
    assert!(!send(&mut link, 999));
    assert!(send(&mut link, 1_000));
    assert!(!send(&mut link, 1_000));
    assert_eq!(link.in_flight(), 5);
}

#[test]
fn a_smaller_datagram_still_fits() {
    let mut link = limited(QueueLimit::Bytes(1_500));
    assert!(send(&mut link, 0) && send(&mut link, 0) && !send(&mut link, 0));
    assert_eq!(link.send(Duration::ZERO, &[0; 472], 0), Fate::Queued);
    assert_eq!(link.send(Duration::ZERO, b"", 0), Fate::Lost(LossCause::Queue));
}

#[test]
fn queueing_time_is_limited() {
    let mut link = limited(QueueLimit::Time(Duration::from_millis(2)));
    // They wait 0, 1 and 2 ms; a fourth would wait 3.
    let accepted: Vec<bool> = (0..4).map(|_| send(&mut link, 0)).collect();
    assert_eq!(accepted, [true, true, true, false]);
    assert!(!send(&mut link, 999));
    assert!(send(&mut link, 1_000));
    assert_eq!(link.stats().lost_queue, 2);
}

#[test]
fn an_idle_link_accepts_any_size() {
    for queue in [QueueLimit::Bytes(0), QueueLimit::Time(Duration::ZERO)] {
        let mut link = limited(queue);
        assert!(send(&mut link, 0));
        assert!(!send(&mut link, 999));
        assert!(send(&mut link, 1_000));
    }
}

#[test]
fn without_a_limit_nothing_is_dropped() {
    let mut link = limited(QueueLimit::Unlimited);
    assert!((0..10_000).all(|_| send(&mut link, 0)));
    assert_eq!(link.stats().queue_bytes_peak, 9_999_000);
}

#[test]
fn an_overloaded_link_delivers_exactly_its_rate() {
    let mut link = limited(QueueLimit::Bytes(20_000));
    // Twice the rate for 10 s.
    let accepted = (0..20_000).filter(|number| send(&mut link, 500 * number)).count();
    assert_eq!(accepted, 10_000 + 20, "the rate and what waits at the end");
}
