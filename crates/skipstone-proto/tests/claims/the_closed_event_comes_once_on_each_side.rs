//! However a connection ends: one `Closed` on each side, the last event, with one code and reason.

use crate::simulation::{Node, World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Carrier;
use skipstone_proto::{ClosedBy, Config, Event, code};

fn last_words(node: &Node) -> (ClosedBy, u64, String) {
    let closes = node.closes();
    assert_eq!(closes.len(), 1, "{closes:?}");
    assert!(matches!(node.events.last(), Some((_, Event::Closed { .. }))), "it is the last event");
    (closes[0].by, closes[0].code, closes[0].reason_text().into_owned())
}

/// Ends a connection on a lossy link, waits, and returns how each side saw the end.
fn after(seed: u64, end: impl FnOnce(&mut World)) -> [(ClosedBy, u64, String); 2] {
    let mut world = World::pair(seed, LinkConfig { loss: Loss::Random(0.1), ..link(20) });
    world.connect();
    for number in 0..50_u8 {
        world.clients[0].send(world.now, 0, vec![number]);
        world.server.send(world.now, 0, vec![number; 300]);
    }
    let [ours, theirs] = [&world.clients[0], &world.server].map(|node| node.endpoint.work().ids);
    assert!(ours > 0 && theirs > 0);
    end(&mut world);
    world.run_for(ms(10_000));
    for endpoint in [&world.server.endpoint, &world.clients[0].endpoint] {
        assert_eq!((endpoint.connection_count(), endpoint.work().ids), (0, 0), "nothing is left behind");
    }
    [last_words(&world.clients[0]), last_words(&world.server)]
}

fn close_client(world: &mut World, linger: u64) {
    let peer = world.clients[0].peer();
    assert!(world.clients[0].endpoint.close(world.now, peer, 11, "the client's", ms(linger)));
}

fn close_server(world: &mut World, linger: u64) {
    let peer = world.server.peer();
    assert!(world.server.endpoint.close(world.now, peer, 22, "the server's", ms(linger)));
}

#[test]
fn when_one_side_closes() {
    for seed in 0..30 {
        let linger = seed % 3 * 200;
        let ours = |by| (by, 11, "the client's".to_owned());
        assert_eq!(after(seed, |world| close_client(world, linger)), [ours(ClosedBy::Local), ours(ClosedBy::Peer)]);
        let theirs = |by| (by, 22, "the server's".to_owned());
        assert_eq!(after(seed, |world| close_server(world, linger)), [theirs(ClosedBy::Peer), theirs(ClosedBy::Local)]);
    }
}

#[test]
fn when_both_close_at_once_the_servers_reason_wins() {
    for seed in 0..30 {
        let heard = after(seed, |world| {
            close_client(world, 0);
            world.run_for(ms(seed % 3 * 5));
            close_server(world, 0);
        });
        let theirs = |by| (by, 22, "the server's".to_owned());
        assert_eq!(heard, [theirs(ClosedBy::Peer), theirs(ClosedBy::Local)], "seed {seed}");
    }
}

#[test]
fn when_a_side_closes_twice() {
    let heard = after(1, |world| {
        close_client(world, 5_000);
        let peer = world.clients[0].peer();
        world.clients[0].endpoint.close(world.now, peer, 12, "at once", ms(0));
        world.clients[0].endpoint.close(world.now, peer, 13, "again", ms(0));
    });
    assert_eq!((heard[0].1, heard[1].1), (12, 12));
}

#[test]
fn when_the_answer_to_the_close_is_lost_it_is_repeated() {
    let mut world = World::pair(1, link(20));
    world.connect();
    let mut left = 1;
    world.lose(move |is_up, _| {
        let is_lost = !is_up && left > 0;
        left -= u32::from(is_lost);
        is_lost
    });
    close_client(&mut world, 0);
    let begin = world.now;
    world.run_for(ms(5_000));
    let closed = world.clients[0].events.last().expect("an event").0.since(begin);
    assert!(closed >= ms(60) && closed <= ms(250), "{closed:?}");
}

#[test]
fn when_the_close_is_never_answered() {
    let mut world = World::pair(1, link(20));
    world.connect();
    world.killed.push(0);
    close_server(&mut world, 0);
    let closed_within = ms(3_100);
    world.run_for(closed_within);
    assert_eq!(last_words(&world.server), (ClosedBy::Local, 22, "the server's".to_owned()));
    assert_eq!(world.server.endpoint.connection_count(), 0);
}

#[test]
fn when_the_carrier_breaks() {
    let mut world = World::on(Carrier::WEBSOCKET, 1, Config::server(Default::default()), &[link(20)]);
    world.connect();
    world.clients[0].endpoint.handle_carrier_lost(world.now, 0, "reset");
    world.server.endpoint.handle_carrier_lost(world.now, 0, "reset");
    world.run_for(ms(100));
    let expected = (ClosedBy::Nobody, code::CARRIER_LOST, "reset".to_owned());
    assert_eq!(last_words(&world.clients[0]), expected);
    assert_eq!(last_words(&world.server), expected);
    assert_eq!(world.server.endpoint.poll_released(), Some(0), "the stream can go");
}

#[test]
fn when_the_server_is_unreachable() {
    let mut world = World::pair(1, link(20));
    world.lose(|_, _| true);
    world.run_for(ms(10_100));
    assert_eq!(last_words(&world.clients[0]).1, code::HANDSHAKE_TIMEOUT);
}

#[test]
fn when_the_application_never_decides() {
    let mut world = World::pair(1, link(20));
    world.accepts = false;
    world.run_for(ms(15_000));
    assert_eq!(last_words(&world.clients[0]).1, code::HANDSHAKE_TIMEOUT);
    assert_eq!(last_words(&world.server).1, code::HANDSHAKE_TIMEOUT);
}

#[test]
fn late_polling_does_not_revive_a_closed_peer() {
    let mut world = World::pair(1, link(20));
    world.server.polls = false;
    world.run_for(ms(200));
    // The application accepts the client before its event, and sees the event only after the client has gone.
    let peer = skipstone_proto::PeerId { index: 0, generation: 0 };
    assert!(world.server.endpoint.accept(world.now, peer));
    world.run_for(ms(200));
    close_client(&mut world, 0);
    world.run_for(ms(5_000));
    world.server.polls = true;
    world.run_for(ms(1));
    assert_eq!(last_words(&world.server).1, 11);
    assert_eq!(world.server.endpoint.peers().count(), 0);
    let path = world.path_to_server(0);
    world.accepts = false;
    world.clients[0].endpoint.connect(world.now, path, b"").expect("it may");
    world.run_for(ms(1_000));
    assert_eq!(world.server.endpoint.peers().count(), 0, "whoever only asks is not connected");
}
