//! Any host that has seen a HELLO can forge a REFUSE: an encrypted handshake that makes progress is not ended by it. A
//! stalled handshake ends sooner, with the server's reason.

use crate::simulation::{BEGINNING, World, encrypted, link, ms, server_of};
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{self, Datagram, KIND_CRYPTO};
use skipstone_proto::{ClosedBy, DeliveryMode, Event, code};
use std::cell::Cell;
use std::rc::Rc;

/// The client's id and nonce, from an observed HELLO, and the server's id.
type Seen = Rc<Cell<(u32, u64, u32)>>;

/// A client that connects. Handshake bytes of the server that leave before `silent_for` are lost.
fn world(silent_for: u64) -> (World, Seen) {
    let mut world = World::new(3, encrypted(server_of(DeliveryMode::ReliableOrdered), 3), &[link(10)]);
    let seen = Seen::default();
    let note = seen.clone();
    world.tap = Some(Box::new(move |now, _, is_up, bytes| {
        if let Ok(Datagram::Hello(hello)) = datagram::decode(bytes) {
            note.set((hello.source, hello.nonce, 0));
        }
        if let Ok(Datagram::Crypto { from, .. }) = datagram::decode(bytes)
            && !is_up
        {
            note.set((note.get().0, note.get().1, from));
        }
        if !is_up && bytes[0] == KIND_CRYPTO && now < BEGINNING + ms(silent_for) {
            bytes.clear();
        }
    }));
    (world, seen)
}

/// An attacker sends the client a REFUSE in the server's name.
fn forge(world: &mut World, seen: &Seen, code: u64) {
    let (id, nonce, _) = seen.get();
    let mut bytes = vec![0; datagram::refuse_len(code, "go away")];
    datagram::encode_refuse(&mut Writer::new(&mut bytes), id, nonce, code, "go away");
    let (now, path) = (world.now, world.path_to_server(0));
    world.clients[0].endpoint.handle_datagram(now, path, &mut bytes);
}

fn is_connected(world: &World) -> bool {
    world.clients[0].events.iter().any(|(_, event)| matches!(event, Event::Connected { .. }))
}

#[test]
fn a_handshake_in_progress_does_not_end() {
    for silent_for in [0, 100, 500] {
        for code in [code::SECURITY, code::FULL] {
            let (mut world, seen) = world(silent_for);
            world.run_for(ms(25));
            for _ in 0..100 {
                forge(&mut world, &seen, code);
                world.run_for(ms(5));
            }
            world.run_for(ms(1_500));
            assert!(is_connected(&world), "{silent_for} ms, {code}: {:?}", world.clients[0].closes());
        }
    }
}

#[test]
fn a_stalled_handshake_ends_within_a_second_with_the_reason() {
    let (mut world, seen) = world(60_000);
    world.run_for(ms(25));
    forge(&mut world, &seen, code::SECURITY);
    world.run_for(ms(600));
    assert!(world.clients[0].closes().is_empty(), "the server may still show otherwise");
    world.run_for(ms(300));
    let close = world.clients[0].closes()[0];
    assert_eq!((close.by, close.code, &*close.reason_text()), (ClosedBy::Peer, code::SECURITY, "go away"));
}

#[test]
fn a_refusal_without_the_nonce_is_ignored() {
    let (mut world, seen) = world(500);
    world.run_for(ms(25));
    let (id, nonce, _) = seen.get();
    seen.set((id, nonce ^ 1, 0));
    forge(&mut world, &seen, code::SECURITY);
    world.run_for(ms(3_000));
    assert!(is_connected(&world));
}

/// The same with RESET, which needs only the server's id.
#[test]
fn a_forged_reset_restarts_no_handshake_in_progress() {
    for (silent_for, slow_for) in [(0, 0), (100, 0), (500, 0), (0, 2_000)] {
        let (mut world, seen) = world(silent_for);
        world.accepts = false;
        world.run_for(ms(25));
        for round in 0..500 {
            world.accepts |= round * 5 >= slow_for;
            let (_, _, id) = seen.get();
            if id != 0 {
                let mut bytes = vec![0; datagram::RESET_BYTES];
                datagram::encode_reset(&mut Writer::new(&mut bytes), id);
                let (now, path) = (world.now, world.path_to_server(0));
                world.clients[0].endpoint.handle_datagram(now, path, &mut bytes);
            }
            world.run_for(ms(5));
            if let Some((peer, _)) = world.server.events.iter().find_map(|(_, event)| match event {
                Event::Requested { peer, remote, .. } if world.accepts => Some((*peer, *remote)),
                _ => None,
            }) {
                world.server.endpoint.accept(world.now, peer);
            }
        }
        world.run_for(ms(500));
        assert!(is_connected(&world), "{silent_for} ms, {slow_for} ms: {:?}", world.clients[0].closes());
        let asked = world.server.events.iter().filter(|(_, event)| matches!(event, Event::Requested { .. })).count();
        assert_eq!((asked, world.server.endpoint.connection_count()), (1, 1));
    }
}

/// A forged RESET, and an outage that is longer than the server has to show otherwise: the client starts again although
/// the server has forgotten nothing, and is accepted as soon as the path works again.
#[test]
fn a_forged_reset_during_an_outage_costs_no_more_than_the_outage() {
    for (at, outage) in [(45, 900), (55, 900), (55, 1_500), (45, 2_500), (200, 1_200)] {
        let (mut world, seen) = world(0);
        world.accepts = at != 200;
        world.run_for(ms(at));
        let (_, _, id) = seen.get();
        assert_ne!(id, 0, "the server's handshake has come");
        let mut bytes = vec![0; datagram::RESET_BYTES];
        datagram::encode_reset(&mut Writer::new(&mut bytes), id);
        let (now, path) = (world.now, world.path_to_server(0));
        world.clients[0].endpoint.handle_datagram(now, path, &mut bytes);
        world.lose(|_, _| true);
        world.run_for(ms(outage));
        world.tap = None;
        world.accepts = true;
        world.run_for(ms(2_500));
        assert!(is_connected(&world), "RESET after {at} ms, outage of {outage} ms: {:?}", world.clients[0].closes());
        // Both sides can talk.
        world.clients[0].send(world.now, 0, b"up".as_slice());
        world.run_for(ms(100));
        assert_eq!(world.server.messages(0), ["up"], "RESET after {at} ms, outage of {outage} ms");
    }
}
