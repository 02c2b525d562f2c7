//! An attacker on the path repeats packets from its own address, even before the originals arrive. The attacker cannot
//! answer the challenge, so the connection stays where it is; the attacker gets no more bytes than it sent.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::Path;
use skipstone_proto::{DropReason, Event};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// The client's packets, as they leave.
fn capture(world: &mut World) -> Rc<RefCell<Vec<Vec<u8>>>> {
    let captured = Rc::new(RefCell::new(Vec::new()));
    let inside = captured.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up && bytes.first() == Some(&0x80) {
            inside.borrow_mut().push(bytes.clone());
        }
    }));
    captured
}

fn elsewhere(world: &World, number: u16) -> Path {
    Path { remote: SocketAddr::from(([203, 0, 113, 9], 1_000 + number)), ..world.path_to_client(0) }
}

/// Both sides talk; the attacker repeats each of the client's packets from one of `addresses` before the original
/// arrives.
fn race(addresses: u16) -> World {
    let mut world = World::new(5, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.connect();
    let captured = capture(&mut world);
    let home = world.address(0);
    let (mut brought, mut count) = (BTreeMap::<SocketAddr, usize>::new(), 0);
    for number in 0..500_u32 {
        let (now, text) = (world.now, number.to_string());
        world.server.send(now, 3, text.clone());
        world.clients[0].send(now, 3, text);
        world.run_for(ms(5));
        for mut packet in captured.take() {
            let path = elsewhere(&world, count % addresses);
            count += 1;
            *brought.entry(path.remote).or_default() += packet.len() + HEADERS;
            world.server.endpoint.handle_datagram(world.now, path, &mut packet);
        }
    }
    world.run_for(ms(5_000));
    let expected: Vec<String> = (0..500).map(|number: u32| number.to_string()).collect();
    assert_eq!(world.server.messages(3), expected, "what he brought was authentic");
    assert_eq!(world.clients[0].messages(3), expected, "the server went on sending where the client is");
    assert_eq!(world.server.overview().path.remote, home);
    assert!(!world.server.events.iter().any(|(_, event)| matches!(event, Event::PathChanged { .. })));
    let mut taken = BTreeMap::<SocketAddr, usize>::new();
    world.strays.iter().for_each(|(to, bytes)| *taken.entry(*to).or_default() += bytes.len() + HEADERS);
    assert!(!taken.is_empty(), "he was challenged");
    for (address, bytes) in taken {
        assert!(bytes <= brought[&address], "{address} was sent {bytes} for {}", brought[&address]);
    }
    world
}

#[test]
fn an_attacker_always_faster_than_the_client_gains_nothing() {
    let mut world = race(1);
    assert!(world.server.overview().stats.paths_refused > 0);
    assert!(world.server.overview().stats.drops.of(DropReason::Replay) > 400, "the client's own came second");
}

#[test]
fn many_addresses_get_one_challenge_at_a_time() {
    let mut world = race(50);
    let challenges = world.strays.len();
    assert!(challenges < 200, "{challenges}");
    assert!(world.server.overview().stats.drops.of(DropReason::WrongPath) > 0);
}

#[test]
fn a_later_copy_is_only_a_replay() {
    let mut world = World::pair(5, link(20));
    world.connect();
    let captured = capture(&mut world);
    let now = world.now;
    world.clients[0].send(now, 0, "hello");
    world.run_for(ms(500));
    let packets = captured.take();
    assert!(!packets.is_empty());
    for number in 0..1_000 {
        let (path, mut packet) = (elsewhere(&world, number), packets[usize::from(number) % packets.len()].clone());
        world.server.endpoint.handle_datagram(world.now, path, &mut packet);
    }
    world.run_for(ms(500));
    assert!(world.strays.is_empty(), "{:?}", world.strays);
    assert_eq!(world.server.drops(DropReason::Replay), 1_000);
}

#[test]
fn the_clients_next_packets_end_the_attempt() {
    let mut world = World::pair(5, link(20));
    world.connect();
    let captured = capture(&mut world);
    let now = world.now;
    world.clients[0].send(now, 0, vec![7; 200]);
    world.run_for(ms(1));
    let mut packet = captured.take().remove(0);
    let path = elsewhere(&world, 0);
    world.server.endpoint.handle_datagram(world.now, path, &mut packet);
    world.run_for(ms(30));
    let now = world.now;
    world.clients[0].send(now, 0, "still here");
    world.run_for(ms(100));
    let before = world.strays.len();
    assert!(before > 0);
    assert_eq!(world.server.overview().stats.paths_refused, 1);
    world.run_for(ms(5_000));
    assert_eq!(world.strays.len(), before, "he is asked no more");
}

#[test]
fn forged_packets_from_other_addresses_are_not_answered() {
    let mut world = World::pair(5, link(20));
    world.connect();
    let captured = capture(&mut world);
    let now = world.now;
    world.clients[0].send(now, 0, "hello");
    world.run_for(ms(1));
    let packet = captured.take().remove(0);
    for number in 0..1_000 {
        let (path, mut forged) = (elsewhere(&world, number), packet.clone());
        let at = 4 + usize::from(number) % (forged.len() - 4);
        forged[at] ^= 1 << (number % 8);
        world.server.endpoint.handle_datagram(world.now, path, &mut forged);
    }
    world.run_for(ms(500));
    assert!(world.strays.is_empty());
    assert_eq!(world.server.drops(DropReason::NotAuthentic), 1_000);
    assert_eq!(world.server.messages(0).len(), 1);
}
