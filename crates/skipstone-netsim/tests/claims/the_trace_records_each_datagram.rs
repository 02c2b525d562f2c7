//! The optional trace: the latest lines, each with a time, a tag and what happened.

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig, LossCause, TraceEvent, TraceLine};

const DELAY: Duration = Duration::from_millis(10);

fn line(milliseconds: u64, tag: u64, event: TraceEvent) -> TraceLine {
    TraceLine { time: Duration::from_millis(milliseconds), tag, event }
}

#[test]
fn the_trace_is_off_by_default() {
    let mut link = Link::new(LinkConfig::default(), 1).unwrap();
    link.send(Duration::ZERO, b"", 0);
    assert_eq!(link.trace().count(), 0);
}

#[test]
fn the_trace_records_sending_loss_and_arrival() {
    let config = LinkConfig { delay: DELAY, datagram_bytes_max: Some(4), ..LinkConfig::default() };
    let mut link = Link::new(config, 1).unwrap();
    link.trace_on(100);
    link.send(Duration::from_millis(1), b"fits", 5);
    link.send(Duration::from_millis(2), b"does not", 6);
    // Received late, but reported with the time of arrival.
    link.receive(Duration::from_secs(1), &mut Vec::new()).unwrap();
    let lines: Vec<TraceLine> = link.trace().copied().collect();
    let expected = [
        line(1, 5, TraceEvent::Sent(Fate::Queued)),
        line(2, 6, TraceEvent::Sent(Fate::Lost(LossCause::TooLarge))),
        line(11, 5, TraceEvent::Arrived { sent: Duration::from_millis(1) }),
    ];
    assert_eq!(lines, expected);
    let text: Vec<String> = link.trace().map(ToString::to_string).collect();
    let expected = [
        "0.001000000 s, tag 5: sent",
        "0.002000000 s, tag 6: lost (too large)",
        "0.011000000 s, tag 5: arrived, sent at 0.001000000 s",
    ];
    assert_eq!(text, expected);
}

#[test]
fn the_trace_records_each_impairment() {
    let config = LinkConfig { delay: DELAY, reorder: 1.0, corrupt: 1.0, duplicate: 1.0, ..LinkConfig::default() };
    let mut link = Link::new(config, 1).unwrap();
    link.trace_on(100);
    link.send(Duration::ZERO, b"unlucky", 0);
    let events: Vec<TraceEvent> = link.trace().map(|line| line.event).collect();
    let [TraceEvent::Sent(Fate::Queued), TraceEvent::HeldBack(by), TraceEvent::Corrupted, TraceEvent::Duplicated] =
        events[..]
    else {
        panic!("{events:?}")
    };
    let mut out = Vec::new();
    let arrived = [(); 2].map(|()| link.receive(Duration::from_secs(1), &mut out).unwrap().arrived);
    assert!(arrived.contains(&(DELAY + by)));
    assert_eq!(link.trace().filter(|line| matches!(line.event, TraceEvent::Arrived { .. })).count(), 2);
}

#[test]
fn the_trace_keeps_the_latest_lines() {
    let mut link = Link::new(LinkConfig::default(), 1).unwrap();
    link.trace_on(3);
    for tag in 0..10 {
        link.send(Duration::ZERO, b"", tag);
    }
    let tags: Vec<u64> = link.trace().map(|line| line.tag).collect();
    assert_eq!(tags, [7, 8, 9]);
    link.trace_on(0);
    link.send(Duration::ZERO, b"", 10);
    assert_eq!(link.trace().count(), 0);
}

#[test]
fn tracing_changes_no_behaviour() {
    let config = LinkConfig { jitter: DELAY, duplicate: 0.5, ..LinkConfig::default() };
    let mut traced = Link::new(config, 1).unwrap();
    let mut untraced = traced.clone();
    traced.trace_on(10);
    for tag in 0..100 {
        assert_eq!(traced.send(Duration::ZERO, b"", tag), untraced.send(Duration::ZERO, b"", tag));
        assert_eq!(traced.next_arrival(), untraced.next_arrival());
    }
    assert_eq!(traced.stats(), untraced.stats());
}
