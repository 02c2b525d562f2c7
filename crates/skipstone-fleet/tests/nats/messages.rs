//! Messages, requests and their answers.

use crate::common::{PATIENCE, bus, find, message, server, server_with, settings};
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings, NoAnswer, PublishError};
use std::time::Duration;

#[test]
fn messages_arrive_in_order_with_their_subjects() {
    let server = server();
    let (sender, receiver) = (bus(&server), bus(&server));
    let subscription = receiver.subscribe("games.*.ticks").unwrap();
    receiver.flush(PATIENCE).unwrap();
    for tick in 0..1_000 {
        sender.publish(&format!("games.{tick}.ticks"), tick.to_string()).unwrap();
    }
    sender.publish("games.ticks", "not subscribed").unwrap();
    for tick in 0..1_000 {
        let message = message(&receiver);
        assert_eq!((message.subscription, message.subject), (subscription, format!("games.{tick}.ticks")));
        assert_eq!((message.payload, message.reply), (tick.to_string().into(), None));
    }
    sender.flush(PATIENCE).unwrap();
    let stats = sender.stats();
    assert_eq!((stats.published, stats.confirmed, stats.waiting_bytes), (1_001, 1_001, 0), "{stats:?}");
    assert_eq!(receiver.stats().received, 1_000);
    assert_eq!(receiver.wait(Duration::from_millis(50)), None);
}

#[test]
fn each_request_ends_once_with_an_answer_or_the_reason_for_none() {
    let server = server();
    let (asking, answering) = (bus(&server), bus(&server));
    answering.subscribe("ask.*").unwrap();
    answering.flush(PATIENCE).unwrap();
    let answered = asking.request("ask.me", "question", PATIENCE).unwrap();
    let question = message(&answering);
    assert_eq!(question.payload, "question");
    answering.respond(&question.reply.unwrap(), "answer").unwrap();
    asking.publish_with_reply("ask.elsewhere", "answers.here", "").unwrap();
    assert_eq!(message(&answering).reply.as_deref(), Some("answers.here"));
    let silence = asking.request("ask.silence", "", Duration::from_millis(100)).unwrap();
    let nobody = asking.request("nobody", "", PATIENCE).unwrap();
    let mut ended = Vec::new();
    while ended.len() < 3 {
        ended.push(find(&asking, |event| match event {
            BusEvent::Answer { request, result } => Some((request, result)),
            _ => None,
        }));
    }
    ended.sort_by_key(|(request, _)| *request);
    let expected =
        [(answered, Ok("answer".into())), (silence, Err(NoAnswer::TimedOut)), (nobody, Err(NoAnswer::NoResponder))];
    assert_eq!(ended, expected);
}

#[test]
fn a_payload_above_the_servers_maximum_is_an_error_of_the_call() {
    let server = server_with("max_payload: 1000");
    let bus = bus(&server);
    bus.publish("size", vec![0; 1_000]).unwrap();
    let too_large = PublishError::PayloadTooLarge { bytes: 1_001, bytes_max: 1_000 };
    assert_eq!(bus.publish("size", vec![0; 1_001]), Err(too_large.clone()));
    assert_eq!(bus.request("size", vec![0; 1_001], PATIENCE), Err(too_large));
    bus.flush(PATIENCE).unwrap();
}

#[test]
fn a_payload_that_a_restarted_server_no_longer_takes_is_reported() {
    let mut server = server();
    let bus = bus(&server);
    bus.subscribe("size").unwrap();
    bus.flush(PATIENCE).unwrap();
    server.kill();
    find(&bus, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
    bus.publish("size", vec![0; 1_001]).unwrap();
    bus.publish("size", "small").unwrap();
    server.reconfigure("max_payload: 1000");
    server.restart().unwrap();
    let why = find(&bus, |event| match event {
        BusEvent::Refused { why } => Some(why),
        _ => None,
    });
    assert!(why.contains("1001 bytes, and the server takes 1000"), "{why}");
    assert_eq!(message(&bus).payload, "small");
    assert_eq!(bus.stats().oversized, 1);
}

#[test]
fn messages_that_nobody_polls_are_dropped_at_the_bound_and_counted() {
    let server = server();
    let slow = Bus::connect(BusSettings { events_max: 100, ..settings(&server) }).unwrap();
    let fast = bus(&server);
    slow.subscribe("flood").unwrap();
    slow.flush(PATIENCE).unwrap();
    for _ in 0..50_000 {
        fast.publish("flood", "drop").unwrap();
    }
    fast.flush(PATIENCE).unwrap();
    while slow.stats().received < 50_000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let events: Vec<_> = std::iter::from_fn(|| slow.poll()).collect();
    assert_eq!(events.len(), 101);
    assert_eq!(events.last(), Some(&BusEvent::Lagged { dropped: 49_900 }));
    assert_eq!(slow.stats().dropped, 49_900);
}

#[test]
fn what_the_server_does_not_allow_is_reported_with_its_subject() {
    let server = server_with(
        "authorization { users: [{ user: a, password: b, permissions: { subscribe: [\"_INBOX.>\"], publish: [\"_INBOX.>\", \
         \"open\"] } }] }",
    );
    let url = server.url().replace("//", "//a:b@");
    let bus = Bus::connect(BusSettings::new(url.parse().unwrap())).unwrap();
    bus.publish("open", "").unwrap();
    bus.publish("closed.door", "").unwrap();
    bus.subscribe("closed.window").unwrap();
    for subject in ["closed.door", "closed.window"] {
        let why = find(&bus, |event| match event {
            BusEvent::Refused { why } => Some(why),
            _ => None,
        });
        assert!(why.contains("Permissions Violation") && why.contains(subject), "{why}");
    }
}

#[test]
fn requests_beyond_the_bound_of_events_are_refused() {
    let server = server();
    let bus = Bus::connect(BusSettings { events_max: 10, ..settings(&server) }).unwrap();
    bus.subscribe("silence").unwrap();
    for _ in 0..10 {
        bus.request("nobody", "", PATIENCE).unwrap();
    }
    assert_eq!(bus.request("nobody", "", PATIENCE), Err(PublishError::TooManyRequests(10)));
    find(&bus, |event| matches!(event, BusEvent::Answer { .. }).then_some(()));
    bus.request("nobody", "", PATIENCE).unwrap();
}
