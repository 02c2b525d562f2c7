//! A server that does not know a connection sends a RESET, and the client believes it once the server leaves two
//! packets unanswered.

use crate::simulation::{World, encrypted, link, ms, seed_bytes};
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{self, RESET_BYTES};
use skipstone_proto::{Config, DropReason, Endpoint, code};
use std::cell::Cell;
use std::rc::Rc;

fn reset(id: u32) -> Vec<u8> {
    let mut bytes = vec![0; RESET_BYTES];
    datagram::encode_reset(&mut Writer::new(&mut bytes), id);
    bytes
}

/// The id that a client's packets bear.
fn server_id(world: &mut World) -> u32 {
    let id = Rc::new(Cell::new(0));
    let seen = id.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up && bytes[0] == datagram::KIND_PACKET {
            seen.set(u32::from_be_bytes([0, bytes[1], bytes[2], bytes[3]]));
        }
    }));
    world.clients[0].send(world.now, 0, b"hello".to_vec());
    world.run_for(ms(300));
    world.tap = None;
    assert_ne!(id.get(), 0);
    id.get()
}

#[test]
fn a_restarted_server_is_detected_three_round_trips_after_the_next_packet() {
    for one_way in [2, 10, 80, 400] {
        for is_encrypted in [false, true] {
            let config = || match is_encrypted {
                true => encrypted(Config::server(Default::default()), 5),
                false => Config::server(Default::default()),
            };
            let mut world = World::new(5, config(), &[link(one_way)]);
            world.run_for(ms(20 * one_way + 500));
            world.clients[0].peer();
            // The server comes back with other secrets and without connections.
            world.server.endpoint = Endpoint::new(config(), seed_bytes(99)).expect("a good configuration");
            world.run_for(ms(1_000));
            assert!(world.clients[0].closes().is_empty(), "nobody has asked it");
            world.clients[0].send(world.now, 0, b"is anybody there?".to_vec());
            world.run_for(ms(3 * 2 * one_way + 50));
            let closes = world.clients[0].closes();
            assert_eq!(closes.first().map(|close| close.code), Some(code::CARRIER_LOST), "{one_way} ms one way");
            assert!(closes[0].reason_text().contains("restarted"));
        }
    }
}

#[test]
fn a_forged_reset_ends_no_established_connection() {
    let mut world = World::pair(6, link(20));
    world.connect();
    let id = server_id(&mut world);
    let path = world.path_to_server(0);
    for forged in 0..200 {
        let id = if forged % 2 == 0 { id } else { id ^ 1 };
        world.clients[0].endpoint.handle_datagram(world.now, path, &mut reset(id));
        world.run_for(ms(37));
    }
    assert!(world.clients[0].closes().is_empty());
    world.clients[0].send(world.now, 1, b"still here".to_vec());
    world.run_for(ms(200));
    assert_eq!(world.server.messages(1).len(), 1);
}

#[test]
fn unknown_clients_get_one_short_reset_per_packet_and_streams_and_servers_none() {
    let mut world = World::pair(7, link(20));
    world.connect();
    let (path, now) = (world.path_to_client(0), world.now);
    let mut buffer = vec![0; 1 << 16];
    let mut answers = |world: &mut World, bytes: &[u8]| {
        world.server.endpoint.handle_datagram(now, path, &mut bytes.to_vec());
        let mut answers = 0;
        while let Some(transmit) = world.server.endpoint.poll_transmit(now, &mut buffer) {
            assert!(transmit.bytes <= bytes.len());
            answers += 1;
        }
        answers
    };
    let packet = |id: u8| [&[0x80, 9, 9, id][..], &[7; 20]].concat();
    answers(&mut world, &packet(1));
    assert_eq!(answers(&mut world, &packet(2)), 1);
    assert_eq!(answers(&mut world, &packet(2)[..7]), 0, "shorter than an answer");
    let before = world.server.drops(DropReason::BadFrame);
    assert_eq!(answers(&mut world, &reset(9)), 0, "no answer to an answer");
    assert_eq!(world.server.drops(DropReason::BadFrame), before + 1);
}

#[test]
fn a_client_leaves_a_server_without_its_state_in_one_round_trip() {
    for one_way in [2, 10, 80, 400] {
        let config = || Config::server(Default::default());
        let mut world = World::new(5, config(), &[link(one_way)]);
        world.run_for(ms(20 * one_way + 500));
        let peer = world.clients[0].peer();
        world.server.endpoint = Endpoint::new(config(), seed_bytes(99)).expect("a good configuration");
        assert!(world.clients[0].endpoint.close(world.now, peer, 7, "", ms(0)));
        world.run_for(ms(2 * one_way + 5));
        assert_eq!(world.clients[0].closes().first().map(|close| close.code), Some(7), "{one_way} ms one way");
    }
}

#[test]
fn an_unanswered_close_is_repeated_with_backoff() {
    for one_way in [0, 2, 10, 80] {
        let mut world = World::new(5, Config::server(Default::default()), &[link(one_way)]);
        world.run_for(ms(20 * one_way + 500));
        let peer = world.clients[0].peer();
        let count = Rc::new(Cell::new(0));
        let seen = count.clone();
        world.lose(move |is_up, _| {
            seen.set(seen.get() + u32::from(is_up));
            true
        });
        assert!(world.clients[0].endpoint.close(world.now, peer, 7, "", ms(0)));
        world.run_for(ms(4_000));
        assert!((4..=9).contains(&count.get()), "{one_way} ms one way: {}", count.get());
        assert_eq!(world.clients[0].closes().len(), 1);
    }
}

#[test]
fn a_client_on_a_new_socket_is_detected_too() {
    let mut world = World::pair(5, link(10));
    world.connect();
    assert!(world.roam(0));
    world.run_for(ms(500));
    world.server.endpoint =
        Endpoint::new(Config::server(Default::default()), seed_bytes(99)).expect("a good configuration");
    world.clients[0].send(world.now, 0, b"is anybody there?".to_vec());
    world.run_for(ms(1_000));
    assert_eq!(world.clients[0].closes().first().map(|close| close.code), Some(code::CARRIER_LOST));
}
