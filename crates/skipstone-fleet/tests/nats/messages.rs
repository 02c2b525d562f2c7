//! Messages, requests and their answers.

use crate::common::{PATIENCE, bus, find, message, server};
use skipstone_fleet::bus::{BusEvent, NoAnswer};
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
