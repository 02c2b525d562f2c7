//! A host that knows a client's address and source, and nothing else, cannot send to its session through a repeated
//! OPEN.

use crate::simulation::{World, check_again, encrypted, link, ms, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::DropReason;
use std::cell::RefCell;
use std::rc::Rc;

/// The offsets of the nonce, the cookie and the handshake bytes in an OPEN.
const NONCE: usize = 7;
const COOKIE: usize = 18;
const REST: usize = 38;

fn opened() -> (World, Vec<u8>) {
    let mut world = World::new(3, encrypted(server_of(DeliveryMode::ReliableOrdered), 3), &[link(20)]);
    let captured = Rc::new(RefCell::new(Vec::new()));
    let inside = captured.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up && bytes.first() == Some(&0x83) {
            *inside.borrow_mut() = bytes.clone();
        }
    }));
    world.connect();
    let open = captured.take();
    assert!(open.len() > REST);
    (world, open)
}

#[test]
fn a_different_cookie_or_nonce_is_dropped_without_an_answer() {
    let (mut world, open) = opened();
    let path = world.path_to_client(0);
    let sent = world.sent[0].1;
    for at in [NONCE, COOKIE + 5, REST - 1] {
        let mut forged = open.clone();
        forged[at] ^= 1;
        check_again(&mut forged);
        world.server.endpoint.handle_datagram(world.now, path, &mut forged);
        world.run_for(ms(100));
    }
    assert_eq!(world.server.drops(DropReason::BadCookie), 3);
    assert_eq!(world.sent[0].1, sent, "the session has said nothing");
}

#[test]
fn the_clients_own_open_is_accepted_at_any_age() {
    let (mut world, mut open) = opened();
    let path = world.path_to_client(0);
    world.run_for(ms(15_000));
    let drops = world.server.endpoint.totals().drops;
    world.server.endpoint.handle_datagram(world.now, path, &mut open);
    world.run_for(ms(100));
    assert_eq!(world.server.endpoint.totals().drops, drops, "its session takes it");
}

#[test]
fn a_cookie_opens_one_connection_and_none_after_its_end() {
    for suite in ["plain", "encrypted"] {
        let config = server_of(DeliveryMode::ReliableOrdered);
        let config = if suite == "plain" { config } else { encrypted(config, 3) };
        let mut world = World::new(3, config, &[link(20)]);
        let captured = Rc::new(RefCell::new(Vec::new()));
        let inside = captured.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if is_up && bytes.first() == Some(&0x83) {
                *inside.borrow_mut() = bytes.clone();
            }
        }));
        world.connect();
        let (now, peer) = (world.now, world.server.peer());
        world.server.endpoint.close(now, peer, 0, "bye", ms(0));
        // Closing takes up to three seconds.
        world.run_for(ms(3_100));
        assert_eq!(world.server.endpoint.connection_count(), 0);
        let path = world.path_to_client(0);
        for pause in [0, 1_000, 5_000, 10_000] {
            world.run_for(ms(pause));
            world.server.endpoint.handle_datagram(world.now, path, &mut captured.borrow().clone());
            assert_eq!(world.server.endpoint.connection_count(), 0, "{suite}, {pause} ms later");
        }
    }
}
