//! Copies, damage and other hosts' packets change nothing but the counters.

use crate::simulation::{World, bare_server_of, link, ms};
use skipstone_netsim::LinkConfig;
use skipstone_proto::DeliveryMode;
use skipstone_proto::DropReason;
use skipstone_proto::Path;
use std::cell::RefCell;
use std::rc::Rc;

fn numbers(count: u32) -> Vec<Vec<u8>> {
    (0..count).map(|number| number.to_be_bytes().to_vec()).collect()
}

#[test]
fn duplicated_packets_deliver_each_message_once() {
    let mut world = World::pair(1, LinkConfig { duplicate: 1.0, ..link(10) });
    world.connect();
    for message in numbers(200) {
        world.clients[0].send(world.now, 0, message);
        world.run_for(ms(1));
    }
    world.run_for(ms(500));
    assert_eq!(world.server.messages(0), numbers(200));
    let received = world.server.overview().stats.received.datagrams;
    // All but the OPEN, whose copy counts too, arrived twice.
    assert_eq!(world.server.drops(DropReason::Replay), received);
}

#[test]
fn damage_is_detected_and_repaired() {
    let mut world = World::pair(1, LinkConfig { corrupt: 0.3, ..link(10) });
    world.connect();
    for message in numbers(300) {
        world.clients[0].send(world.now, 0, message);
        world.run_for(ms(2));
    }
    world.run_for(ms(3_000));
    assert_eq!(world.server.messages(0), numbers(300));
    let damaged: u64 = [
        DropReason::NotAuthentic,
        DropReason::Malformed,
        DropReason::UnknownConnection,
        DropReason::BadFrame,
        DropReason::BadCookie,
    ]
    .into_iter()
    .map(|reason| world.server.drops(reason))
    .sum();
    let corrupted = world.links[0].up.stats().corrupted;
    assert!(
        damaged + 5 >= corrupted && world.server.drops(DropReason::NotAuthentic) > corrupted / 2,
        "{damaged} {corrupted}"
    );
}

#[test]
fn packets_from_other_addresses_or_unknown_clients_are_dropped() {
    let mut world = World::pair(1, link(10));
    world.connect();
    let heard = Rc::new(RefCell::new(Vec::new()));
    let ear = heard.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up {
            ear.borrow_mut().push(bytes.clone());
        }
    }));
    world.clients[0].send(world.now, 0, b"once".to_vec());
    world.run_for(ms(100));
    let here = world.path_to_client(0);
    let elsewhere = Path { remote: "203.0.113.9:1".parse().expect("an address"), ..here };
    for datagram in heard.borrow().iter() {
        world.server.endpoint.handle_datagram(world.now, elsewhere, &mut datagram.clone());
        world.server.endpoint.handle_datagram(world.now, here, &mut datagram.clone());
        let mut of_nobody = datagram.clone();
        of_nobody[2] ^= 0xff;
        world.server.endpoint.handle_datagram(world.now, here, &mut of_nobody);
    }
    let count = heard.borrow().len() as u64;
    world.run_for(ms(100));
    let drops = [DropReason::WrongPath, DropReason::Replay, DropReason::UnknownConnection]
        .map(|reason| world.server.drops(reason));
    // Packets from another address may be those of a client whose address changed, if they are new.
    assert_eq!(drops, [0, 2 * count, count]);
    assert_eq!(world.server.messages(0).len(), 1);
}

#[test]
fn a_packet_overtaken_by_hundreds_is_not_mistaken_for_another() {
    for channel_messages in [100, 150, 200, 260, 400, 900] {
        let mut world = World::new(1, bare_server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
        world.connect();
        let late = Rc::new(RefCell::new(None));
        let trap = late.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if is_up && trap.borrow().is_none() {
                *trap.borrow_mut() = Some(core::mem::take(bytes));
            }
        }));
        for message in numbers(channel_messages) {
            world.clients[0].send(world.now, 0, message);
            world.run_for(ms(1));
        }
        let here = world.path_to_client(0);
        let mut copy = late.borrow().clone().expect("a packet was held back");
        world.server.endpoint.handle_datagram(world.now, here, &mut copy);
        for message in numbers(channel_messages + 500).split_off(channel_messages as usize) {
            world.clients[0].send(world.now, 0, message);
            world.run_for(ms(1));
        }
        world.run_for(ms(500));
        assert_eq!(world.server.messages(0), numbers(channel_messages + 500), "{channel_messages}");
        assert_eq!(world.server.drops(DropReason::DuplicateMessage), 1, "{channel_messages}");
    }
}
