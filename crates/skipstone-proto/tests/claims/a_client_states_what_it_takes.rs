//! A client tells the server its limits; the server never exceeds them, and its own settings apply where they are
//! lower.

use crate::simulation::{Node, World, link, ms};
use bytes::Bytes;
use skipstone_proto::{BroadcastMessage, Config, Event, GivenUp, Group, Limits, MessageId, SendError, Settings};
use std::sync::Arc;

/// A world whose client has these limits.
fn world(limits: Limits) -> World {
    let mut world = World::new(1, Config::server(Settings::default()), &[link(10), link(10)]);
    world.killed = vec![0];
    world.clients[1] = Node::made(Config { limits, ..Config::client() }, 77);
    let path = world.path_to_server(1);
    world.clients[1].endpoint.connect(world.now, path, b"token").expect("it may");
    world.run_for(ms(500));
    world
}

#[test]
fn a_message_beyond_the_clients_limit_is_refused_at_the_call() {
    let limits = Limits { message_bytes_max: 5_000, ..Limits::NONE };
    let mut world = world(limits);
    let peer = world.server.peer();
    let mut send = |bytes| world.server.endpoint.send(world.now, peer, 0, vec![7; bytes].into(), MessageId(1));
    assert_eq!(send(5_001), Err(SendError::TooLong { bytes_max: 5_000 }));
    assert_eq!(send(5_000), Ok(()));
    world.run_for(ms(500));
    assert_eq!(world.clients[1].messages(0).len(), 1);
    let told = world.server.events.iter().find_map(|(_, event)| match event {
        Event::Connected { settings, .. } => Some(settings.message_bytes_max),
        _ => None,
    });
    assert_eq!(told, Some(5_000), "the event tells what holds for this peer");
    let clients = world.clients[1].peer();
    assert_eq!(world.clients[1].endpoint.settings(clients), Some(Arc::new(Settings::default())));
}

#[test]
fn data_in_flight_stays_within_the_clients_window() {
    for window_bytes in [1_024, 20_000, 300_000] {
        let mut world = world(Limits { window_bytes, ..Limits::NONE });
        // The client polls nothing for a while.
        let peer = world.server.peer();
        let longest = (u64::from(window_bytes) - 64) * 16 / 17;
        let now = world.now;
        let mut accepted = 0;
        for bytes in [longest as usize, 100, 100, 100, 700] {
            accepted +=
                usize::from(world.server.endpoint.send(now, peer, 0, vec![7; bytes].into(), MessageId(1)).is_ok());
        }
        assert_eq!(accepted, 5);
        let too_long = world.server.endpoint.send(now, peer, 0, vec![7; longest as usize + 2].into(), MessageId(1));
        assert!(matches!(too_long, Err(SendError::TooLong { .. })));
        world.run_for(ms(3_000));
        assert_eq!(world.clients[1].messages(0).len(), 5, "{window_bytes}");
    }
}

#[test]
fn no_datagram_is_longer_than_the_client_accepts() {
    let mut world = world(Limits { datagram_bytes_max: 600, ..Limits::NONE });
    world.tap = Some(Box::new(|_, _, is_up, bytes| assert!(is_up || bytes.len() <= 600, "{}", bytes.len())));
    let now = world.now;
    world.server.send(now, 0, vec![7; 40_000]);
    world.run_for(ms(2_000));
    assert_eq!(world.clients[1].messages(0).len(), 1);
}

#[test]
fn a_broadcast_over_one_clients_limit_is_given_up_for_that_client_only() {
    let lengths = [(5_000, 5_001), (5_000, 40_000), (500, 501), (500, 900)];
    for (limit, bytes, is_batch) in
        lengths.into_iter().flat_map(|(limit, bytes)| [(limit, bytes, false), (limit, bytes, true)])
    {
        let mut world = world(Limits { message_bytes_max: limit, ..Limits::NONE });
        let messages = [bytes, limit as usize, bytes].map(|bytes| Bytes::from(vec![7; bytes]));
        let messages = messages.into_iter().zip(1..);
        let messages: Vec<_> = messages.map(|(payload, id)| BroadcastMessage::new(0, payload, MessageId(id))).collect();
        let at_once = if is_batch { messages.len() } else { 1 };
        for some in messages.chunks(at_once) {
            world.server.endpoint.broadcast_all(world.now, Group::EVERYONE, some);
        }
        world.run_for(ms(2_000));
        assert_eq!(world.clients[1].messages(0).len(), 1, "the one between arrives");
        let given_up = world.server.events.iter().filter_map(|(_, event)| match event {
            Event::GivenUp { id, why, .. } => Some((*id, *why)),
            _ => None,
        });
        let expected = [1, 3].map(|id| (MessageId(id), GivenUp::TooLong));
        assert_eq!(given_up.collect::<Vec<_>>(), expected, "{bytes} {is_batch}");
    }
}
