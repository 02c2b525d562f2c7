//! A server with several addresses answers from the one to which the client sent: from the first answer, which keeps
//! nothing, to the last packet. If the client's packets come to another of them, that is not another path.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::{DeliveryMode, Event, Path};
use std::net::{IpAddr, SocketAddr};

const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));
const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 2));

fn talk(world: &mut World) {
    for number in 0..20_u32 {
        let now = world.now;
        world.server.send(now, 3, number.to_string());
        world.clients[0].send(now, 3, number.to_string());
        world.run_for(ms(20));
    }
    world.run_for(ms(100));
}

fn world_at(address: IpAddr) -> World {
    let mut world = World::new(3, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.server_ip = Some(address);
    world
}

#[test]
fn every_answer_leaves_from_the_requested_address() {
    let mut world = world_at(SECOND);
    while world.clients[0].events.is_empty() {
        world.run_for(ms(1));
        assert!(world.sent[0].1 == 0 || world.answered_from == Some(SECOND), "a handshake, from its first answer on");
    }
    talk(&mut world);
    assert_eq!(world.answered_from, Some(SECOND));
    // A packet of a connection that the server does not know is answered by a RESET.
    let path =
        Path { remote: SocketAddr::from(([203, 0, 113, 9], 1_000)), local: Some(FIRST), ..world.path_to_client(0) };
    world.server.endpoint.handle_datagram(world.now, path, &mut [0x80, 9, 9, 9, 1, 2, 3, 4].repeat(8));
    world.run_for(ms(1));
    assert_eq!((world.strays.len(), world.answered_from), (1, Some(FIRST)));
}

#[test]
fn a_change_of_the_servers_own_address_does_not_count_as_a_path_change() {
    let mut world = world_at(FIRST);
    world.connect();
    talk(&mut world);
    let before = world.server.overview();
    world.server_ip = Some(SECOND);
    talk(&mut world);
    let after = world.server.overview();
    assert_eq!((world.answered_from, after.path.local), (Some(SECOND), Some(SECOND)));
    assert_eq!(after.stats.paths_changed, 0, "it stays where it was");
    assert_eq!(after.stats.drops, before.stats.drops);
    assert!(!world.server.events.iter().any(|(_, event)| matches!(event, Event::PathChanged { .. })));
    assert_eq!(world.clients[0].messages(3).len(), 40);
    assert_eq!(world.server.messages(3).len(), 40);
}

#[test]
fn an_older_packet_does_not_restore_the_previous_address() {
    let mut world = world_at(FIRST);
    world.connect();
    let held = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let inside = held.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up && inside.borrow().is_empty() && bytes.first() == Some(&0x80) {
            inside.replace(core::mem::take(bytes));
        }
    }));
    world.server_ip = Some(SECOND);
    talk(&mut world);
    let late = Path { local: Some(FIRST), ..world.path_to_client(0) };
    world.server.endpoint.handle_datagram(world.now, late, &mut held.take());
    assert_eq!(world.server.overview().path.local, Some(SECOND));
}
