//! WIRE.md section 6.1: a client's new address is used once it has proven itself, and the connection continues.

use crate::simulation::{Node, World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss, QueueLimit};
use skipstone_proto::DeliveryMode;
use skipstone_proto::Time;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{DropReason, Event, PeerId};
use std::net::SocketAddr;

const MESSAGES: u64 = 400;
/// Bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// How a client changes its address.
type Move = fn(&mut World, usize);

/// Both sides talk for a while, and the client moves every 40 messages.
fn talk_and_move(link: LinkConfig, how: Move) -> World {
    let mut world = World::new(7, server_of(DeliveryMode::ReliableOrdered), &[link]);
    world.connect();
    for number in 0..MESSAGES {
        let (now, text) = (world.now, number.to_string());
        world.server.send(now, 3, text.clone());
        world.clients[0].send(now, 3, text);
        if number % 40 == 20 {
            how(&mut world, 0);
        }
        world.run_for(ms(10));
    }
    world.run_for(ms(3_000));
    let expected: Vec<String> = (0..MESSAGES).map(|number| number.to_string()).collect();
    assert_eq!(world.server.messages(3), expected, "towards the server");
    assert_eq!(world.clients[0].messages(3), expected, "towards the client");
    assert!(world.server.closes().is_empty() && world.clients[0].closes().is_empty());
    assert_eq!(world.server.endpoint.connection_count(), 1);
    world
}

fn roam(world: &mut World, at: usize) {
    assert!(world.roam(at), "it stands");
}

fn moves_seen(world: &World) -> usize {
    world.server.events.iter().filter(|(_, event)| matches!(event, Event::PathChanged { .. })).count()
}

#[test]
fn all_messages_arrive_and_the_server_follows_each_move() {
    for how in [World::rebind as Move, World::wander, roam] {
        let mut world = talk_and_move(link(20), how);
        assert_eq!(moves_seen(&world), 10);
        assert_eq!(world.server.overview().stats.paths_changed, 10);
        assert_eq!(world.server.overview().path.remote, world.address(0));
    }
}

#[test]
fn losses_in_both_directions_only_delay_the_move() {
    let lossy = LinkConfig { loss: Loss::Random(0.1), jitter: ms(5), ..link(30) };
    for how in [World::rebind as Move, World::wander, roam] {
        let mut world = talk_and_move(lossy.clone(), how);
        assert_eq!(world.server.overview().path.remote, world.address(0));
    }
}

/// How long each of the server's messages took, one every 16 ms, while the client's port changes all the time. The
/// client sends as many messages.
fn waits_beside_rebinds(rtt_ms: u64, every_ms: u64) -> Vec<u64> {
    let mut world = World::new(7, server_of(DeliveryMode::ReliableOrdered), &[link(rtt_ms / 2)]);
    world.connect();
    let (mut rebinds_at, end) = (world.now + ms(every_ms), world.now + ms(10_000));
    while world.now < end {
        if world.now >= rebinds_at {
            world.rebind(0);
            rebinds_at += ms(every_ms);
        }
        let (now, text) = (world.now, format!("{:400}", world.now.as_micros()));
        world.server.send(now, 3, text.clone());
        world.clients[0].send(now, 3, text);
        world.run_for(ms(16));
    }
    world.run_for(ms(3_000));
    let wait = |(at, event): &(Time, Event)| match event {
        Event::Message { payload, .. } => {
            let sent: u64 = std::str::from_utf8(payload).unwrap().trim().parse().unwrap();
            Some((at.as_micros() - sent) / 1_000)
        }
        _ => None,
    };
    let mut waits: Vec<u64> = world.clients[0].events.iter().filter_map(wait).collect();
    waits.sort_unstable();
    waits
}

#[test]
fn a_nat_rebinding_twice_a_second_costs_two_round_trips_at_most() {
    for (rtt_ms, every_ms) in [(150, 500), (80, 200)] {
        let waits = waits_beside_rebinds(rtt_ms, every_ms);
        assert_eq!(waits.len(), 625, "all arrive");
        assert!(waits[waits.len() / 2] <= rtt_ms, "half of them: {} ms", waits[waits.len() / 2]);
        assert!(waits[waits.len() - 1] <= 3 * rtt_ms, "the last: {} ms", waits[waits.len() - 1]);
    }
}

#[test]
fn an_unproven_port_gets_at_most_three_times_the_bytes_received_from_it() {
    let mut world = World::new(7, server_of(DeliveryMode::ReliableOrdered), &[link(100)]);
    world.connect();
    // The new port is an attacker's, which is first with one of the client's packets and never answers.
    let caught = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let inside = caught.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up {
            inside.borrow_mut().push(core::mem::take(bytes));
        }
    }));
    let now = world.now;
    world.clients[0].send(now, 3, vec![7; 1_000]);
    world.run_for(ms(0));
    let mut packet = caught.take().remove(0);
    let path = world.path_to_client(0);
    let stranger = Path { remote: SocketAddr::from((path.remote.ip(), 9)), ..path };
    world.server.endpoint.handle_datagram(now, stranger, &mut packet);
    for _ in 0..200 {
        let now = world.now;
        world.server.send(now, 3, vec![7; 500]);
        world.run_for(ms(5));
    }
    let taken: usize = world.strays.iter().map(|(_, bytes)| bytes.len() + HEADERS).sum();
    let brought = packet.len() + HEADERS;
    assert!(taken > brought && taken <= 3 * brought, "{taken} bytes for {brought}");
    // The client sends a packet, and gets the connection back with all packets that the attacker swallowed.
    world.tap = None;
    let now = world.now;
    world.clients[0].send(now, 3, "still here");
    world.run_for(ms(3_000));
    assert_eq!(world.clients[0].messages(3).len(), 200);
    assert_eq!(world.server.overview().stats.paths_refused, 1);
}

#[test]
fn an_idle_client_is_followed_at_its_next_keepalive() {
    let mut world = World::pair(3, link(20));
    world.connect();
    world.rebind(0);
    world.run_for(ms(26_000));
    assert_eq!(world.server.overview().path.remote, world.address(0), "its keepalive showed where it is");
    assert_eq!(moves_seen(&world), 1);
}

#[test]
fn a_notified_client_announces_its_new_address_at_once() {
    let mut world = World::pair(3, link(20));
    world.connect();
    let began = world.now;
    roam(&mut world, 0);
    let moved = |event: &(Time, Event)| matches!(event.1, Event::PathChanged { .. });
    world.run_until_true(ms(100), |world| world.server.events.iter().any(moved));
    // The packet, the challenge, and the answer.
    assert!(world.now.since(began) <= ms(61), "{:?}", world.now.since(began));
    assert_eq!(world.server.overview().rtt.latest(), ms(40), "the challenge measured the new path");
}

#[test]
fn an_unproven_address_gets_no_more_bytes_than_it_sent() {
    let mut world = World::pair(3, link(20));
    world.connect();
    // All of the client's packets are caught, and arrive from another address; no packet arrives at the client.
    let caught = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let inside = caught.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        let caught = core::mem::take(bytes);
        if is_up {
            inside.borrow_mut().push(caught);
        }
    }));
    let path = Path { remote: SocketAddr::from(([203, 0, 113, 9], 1_000)), ..world.path_to_client(0) };
    let (mut brought, mut smallest) = (0, usize::MAX);
    for _ in 0..270 {
        world.run_for(ms(100));
        for mut packet in caught.take() {
            brought += packet.len() + HEADERS;
            smallest = smallest.min(packet.len());
            world.server.endpoint.handle_datagram(world.now, path, &mut packet);
            world.run_for(ms(0));
            let taken: usize = world.strays.iter().map(|(_, bytes)| bytes.len() + HEADERS).sum();
            assert!(taken <= brought, "{taken} bytes for {brought}");
        }
    }
    assert!(
        !world.strays.is_empty() && smallest < world.strays[0].1.len(),
        "a ping is shorter than a challenge and does not pay for one"
    );
}

#[test]
fn an_open_replayed_from_the_old_address_opens_no_second_connection() {
    let mut world = World::pair(3, link(20));
    let captured = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let inside = captured.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up && bytes.first() == Some(&0x83) {
            *inside.borrow_mut() = bytes.clone();
        }
    }));
    world.connect();
    let old = world.path_to_client(0);
    roam(&mut world, 0);
    world.run_for(ms(200));
    assert_eq!(world.server.overview().path.remote, world.address(0));
    let mut open = captured.borrow().clone();
    assert!(!open.is_empty());
    world.server.endpoint.handle_datagram(world.now, old, &mut open);
    world.run_for(ms(200));
    assert_eq!(world.server.endpoint.connection_count(), 1);
    assert_eq!(world.server.drops(DropReason::WrongPath), 1);
}

#[test]
fn a_close_after_a_move_is_received_and_answered() {
    for from_server in [false, true] {
        let mut world = World::pair(3, link(20));
        world.connect();
        roam(&mut world, 0);
        world.run_for(ms(25));
        let (ours, theirs, now) = (world.clients[0].peer(), world.server.peer(), world.now);
        if from_server {
            world.server.endpoint.close(now, theirs, 7, "over", ms(0));
        } else {
            world.clients[0].endpoint.close(now, ours, 7, "over", ms(0));
        }
        world.run_for(ms(1_000));
        for closes in [world.server.closes(), world.clients[0].closes()] {
            assert_eq!(closes.len(), 1, "from the server: {from_server}");
            assert_eq!((closes[0].code, closes[0].reason_text().as_ref()), (7, "over"));
        }
    }
}

#[test]
fn a_client_that_is_not_connected_or_on_a_stream_does_not_move() {
    let mut world = World::pair(3, link(20));
    let (path, peer) = (world.path_to_server(0), PeerId { index: 0, generation: 0 });
    world.run_for(ms(10));
    assert!(!world.clients[0].endpoint.set_path(world.now, peer, path), "it is not connected yet");
    world.connect();
    let theirs = world.server.peer();
    let to_client = world.path_to_client(0);
    assert!(!world.server.endpoint.set_path(world.now, theirs, to_client), "a server does not move");
    let mut world = World::on(Carrier::WEBSOCKET, 3, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.connect();
    let (peer, path) = (world.clients[0].peer(), world.path_to_server(0));
    assert!(!world.clients[0].endpoint.set_path(world.now, peer, path), "a stream is where it is");
}

/// Repairs for abandoned flights would fill the link, moves of a full link would send still more, and so on without
/// end.
#[test]
fn a_loaded_link_survives_a_new_port_every_100_ms() {
    let loaded = LinkConfig {
        loss: Loss::Random(0.01),
        reorder: 0.027,
        rate_bits_per_second: Some(2_400_000),
        queue: QueueLimit::Time(ms(440)),
        ..link(9)
    };
    let mut world = World::new(3, server_of(DeliveryMode::ReliableOrdered), &[loaded]);
    world.connect();
    // Two thirds of the rate, and the packets on their way to the old port once more.
    for tick in 0..600 {
        let now = world.now;
        for channel in 0..29 {
            world.server.send(now, channel, vec![0; 180]);
            world.clients[0].send(now, channel, vec![0; 180]);
        }
        if tick % 3 == 2 {
            world.rebind(0);
        }
        world.run_for(ms(33));
    }
    world.run_for(ms(500));
    let arrived = |node: &Node| (0..29).map(|channel| node.messages(channel).len()).sum::<usize>();
    assert_eq!((arrived(&world.server), arrived(&world.clients[0])), (600 * 29, 600 * 29));
}
