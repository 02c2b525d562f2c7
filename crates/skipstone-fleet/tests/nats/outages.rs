//! Servers that restart, freeze or stay away.

use crate::common::{PATIENCE, bus, find, message, server, settings};
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings, BusState, FlushError, PublishError};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[test]
fn each_message_published_while_the_server_restarts_arrives_or_is_reported() {
    let mut server = server();
    let bus = bus(&server);
    bus.subscribe("numbers").unwrap();
    let (mut next, mut accepted) = (0_u32, 0_u64);
    let (mut arrived, mut on_their_way) = (BTreeSet::new(), 0);
    for round in 0..40 {
        match round {
            10 | 25 => {
                // One outage after the other: the bus may still be on its way back from the first.
                wait_until(&bus, |state| state == BusState::Connected);
                let stats = bus.stats();
                on_their_way += accepted - stats.confirmed - stats.unconfirmed;
                server.kill();
                // What is published from now on is not sent before the server is there again.
                wait_until_away(&bus);
            }
            15 | 30 => server.restart().unwrap(),
            _ => {}
        }
        for _ in 0..500 {
            bus.publish("numbers", next.to_string()).unwrap();
            (next, accepted) = (next + 1, accepted + 1);
        }
        std::thread::sleep(Duration::from_millis(20));
        collect(&bus, &mut arrived);
    }
    let deadline = Instant::now() + PATIENCE;
    while bus.stats().waiting_bytes > 0 {
        assert!(Instant::now() < deadline, "{:?}", bus.stats());
        collect(&bus, &mut arrived);
        std::thread::sleep(Duration::from_millis(10));
    }
    collect(&bus, &mut arrived);
    let stats = bus.stats();
    assert_eq!((stats.published, stats.confirmed + stats.unconfirmed, stats.reconnects), (accepted, accepted, 2));
    // A message to itself arrives before the confirmation of its publication.
    let missing = accepted - arrived.len() as u64;
    assert!(missing <= stats.unconfirmed, "{missing} are missing: {stats:?}");
    assert!(stats.unconfirmed <= on_their_way, "only those on their way are in doubt: {on_their_way}, {stats:?}");
}

fn wait_until_away(bus: &Bus) {
    wait_until(bus, |state| state != BusState::Connected);
}

fn wait_until(bus: &Bus, is_so: impl Fn(BusState) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(bus.state()) {
        assert!(Instant::now() < deadline, "{:?}", bus.stats());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn collect(bus: &Bus, arrived: &mut BTreeSet<u32>) {
    while let Some(event) = bus.poll() {
        if let BusEvent::Message(message) = event {
            let number = std::str::from_utf8(&message.payload).unwrap().parse().unwrap();
            assert!(arrived.insert(number), "{number} arrived twice");
        }
    }
}

#[test]
fn a_disconnection_reports_what_the_server_has_not_confirmed() {
    let server = server();
    let bus = bus(&server);
    bus.flush(PATIENCE).unwrap();
    server.freeze().unwrap();
    for _ in 0..10 {
        bus.publish("into.the.ice", "message").unwrap();
    }
    assert_eq!(bus.flush(PATIENCE), Err(FlushError::Unconfirmed { messages: 10 }));
    let unconfirmed = find(&bus, |event| match event {
        BusEvent::Disconnected { unconfirmed } => Some(unconfirmed),
        _ => None,
    });
    assert_eq!(unconfirmed, 10);
}

#[test]
fn subscriptions_are_there_again_after_a_reconnection() {
    let mut server = server();
    let (sender, receiver) = (bus(&server), bus(&server));
    let (kept, ended) = (receiver.subscribe("kept.>").unwrap(), receiver.subscribe("ended").unwrap());
    receiver.unsubscribe(ended).unwrap();
    receiver.flush(PATIENCE).unwrap();
    server.restart().unwrap();
    for bus in [&sender, &receiver] {
        find(bus, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
        find(bus, |event| (event == BusEvent::Reconnected).then_some(()));
    }
    receiver.flush(PATIENCE).unwrap();
    sender.publish("ended", "").unwrap();
    sender.publish("kept.it", "").unwrap();
    assert_eq!(message(&receiver).subscription, kept);
    assert_eq!(sender.stats().reconnects, 1);
}

#[test]
fn what_is_published_while_the_server_is_away_waits_and_a_full_queue_refuses() {
    let mut server = server();
    let bus = Bus::connect(BusSettings { publish_bytes_max: 1 << 20, ..settings(&server) }).unwrap();
    bus.subscribe("waiting").unwrap();
    bus.flush(PATIENCE).unwrap();
    server.kill();
    find(&bus, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
    let mut accepted = 0;
    let full = loop {
        match bus.publish("waiting", vec![0; 1_000]) {
            Ok(()) if accepted < 2_000 => accepted += 1,
            Ok(()) => panic!("nothing was refused"),
            Err(PublishError::Full(full)) => break full,
            Err(other) => panic!("{other}"),
        }
    };
    assert!((900..1_048).contains(&accepted) && full.bytes_max == 1 << 20, "{accepted} {full:?}");
    assert_eq!(bus.flush(Duration::from_millis(50)), Err(FlushError::TimedOut { calls: accepted }));
    server.restart().unwrap();
    bus.flush(PATIENCE).unwrap();
    for _ in 0..accepted {
        message(&bus);
    }
    let stats = bus.stats();
    assert_eq!((stats.refused, stats.unconfirmed, stats.waiting_bytes), (1, 0, 0));
}

#[test]
fn a_frozen_server_is_noticed_within_3_s_and_used_again_when_it_goes_on() {
    let server = server();
    let bus = bus(&server);
    bus.subscribe("alive").unwrap();
    bus.flush(PATIENCE).unwrap();
    server.freeze().unwrap();
    let frozen = Instant::now();
    find(&bus, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
    assert!(frozen.elapsed() < Duration::from_secs(3), "{:?}", frozen.elapsed());
    assert_eq!(bus.state(), BusState::Disconnected);
    let why = find(&bus, |event| match event {
        BusEvent::ConnectFailed { why } => Some(why),
        _ => None,
    });
    assert!(why.contains("no answer within 2s"), "{why}");
    server.thaw().unwrap();
    find(&bus, |event| (event == BusEvent::Reconnected).then_some(()));
    bus.publish("alive", "again").unwrap();
    assert_eq!(message(&bus).payload, "again");
}

#[test]
fn a_server_that_now_refuses_the_login_is_named_until_it_allows_it_again() {
    let mut server = server();
    let bus = bus(&server);
    server.reconfigure("authorization { token: \"s3cret\" }");
    server.restart().unwrap();
    find(&bus, |event| match event {
        BusEvent::ConnectFailed { why } => why.contains("refused this login").then_some(()),
        _ => None,
    });
    server.reconfigure("");
    server.restart().unwrap();
    find(&bus, |event| (event == BusEvent::Reconnected).then_some(()));
}

#[test]
fn a_request_whose_time_passes_while_the_server_is_away_is_not_sent_later() {
    let mut server = server();
    let bus = bus(&server);
    bus.subscribe("ask").unwrap();
    bus.flush(PATIENCE).unwrap();
    server.kill();
    find(&bus, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
    let asked = bus.request("ask", "", Duration::from_millis(50)).unwrap();
    let ended = find(&bus, |event| match event {
        BusEvent::Answer { request, result } => Some((request, result.is_err())),
        _ => None,
    });
    assert_eq!(ended, (asked, true));
    server.restart().unwrap();
    bus.publish("ask", "another").unwrap();
    assert_eq!(message(&bus).payload, "another");
    assert_eq!(bus.stats().expired, 1);
}
