//! A client that asks for encryption gets it or no connection, and one that asks for none gets in only where the server
//! permits it.

use crate::simulation::{self, World, check_again, encrypted, link, ms};
use skipstone_proto::Protection;
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{
    Datagram, KIND_CHALLENGE, KIND_CRYPTO, KIND_HELLO, KIND_OPEN, SUITE_PLAIN, SUITE_TLS_1_3, decode, encode_refuse,
    refuse_len,
};
use skipstone_proto::{Carrier, ClosedBy, Config, DropReason, Event, code};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The offsets of the bit set of suites in a HELLO, and of the suite in a CHALLENGE and an OPEN.
const HELLO_SUITES_AT: usize = 20;
const CHALLENGE_SUITE_AT: usize = 14;
const OPEN_SUITE_AT: usize = 17;
/// The offset of the offer's suites that an OPEN repeats.
const OPEN_OFFER_AT: usize = 39;
/// Bits that formerly meant the suites DTLS 1.2 and 1.3.
const RESERVED: [u8; 2] = [2, 4];

fn of(seed: u64) -> Config {
    encrypted(Config::server(Default::default()), seed)
}

/// A world with one client made for an encrypted server, and one client that asks for this protection.
fn asks(server: Config, protection: Protection) -> World {
    let mut world = World::new(1, server, &[link(5), link(5)]);
    world.killed = vec![0];
    world.clients[1] = simulation::Node::made(Config::client(), 77);
    let path = world.path_to_server(1);
    world.clients[1].endpoint.connect_with(world.now, path, b"token", protection).expect("it may");
    world.run_for(ms(3_000));
    world
}

fn is_in(world: &World) -> bool {
    world.clients[1].events.iter().any(|(_, event)| matches!(event, Event::Connected { .. }))
}

#[test]
fn a_plaintext_client_is_told_that_the_server_encrypts() {
    let world = asks(of(1), Protection::Plain);
    let closes = world.clients[1].closes();
    assert_eq!((closes[0].by, closes[0].code), (ClosedBy::Peer, code::NO_COMMON_SUITE));
    assert_eq!(closes[0].reason_text(), "encrypted clients only");
    assert_eq!(world.server.endpoint.connection_count(), 0);
}

#[test]
fn a_plaintext_client_is_admitted_where_the_server_allows_it() {
    assert!(is_in(&asks(Config { allows_plain: true, ..of(1) }, Protection::Plain)));
}

#[test]
fn an_encrypting_client_is_told_that_the_server_does_not_encrypt() {
    let mut world = asks(Config::server(Default::default()), Protection::Encrypted(Arc::new(SimulatedSuites::new(1))));
    let closes = world.clients[1].closes();
    assert_eq!(
        (closes[0].code, closes[0].reason_text().as_ref()),
        (code::NO_COMMON_SUITE, "this server does not encrypt")
    );
    assert!(world.server.drops(DropReason::WrongSuite) > 0);
}

#[test]
fn reserved_suites_in_an_offer_are_ignored() {
    // A client offers these suites; the server has TLS 1.3.
    let cases = [
        (SUITE_TLS_1_3, Some(SUITE_TLS_1_3)),
        (SUITE_TLS_1_3 | 0b0111_0110, Some(SUITE_TLS_1_3)),
        (SUITE_TLS_1_3 | SUITE_PLAIN, Some(SUITE_TLS_1_3)),
        (RESERVED[0] | RESERVED[1], None),
    ];
    for (offered, expected) in cases {
        let mut world = World::new(1, of(1), &[link(5)]);
        let chosen = Rc::new(Cell::new(None));
        let seen = chosen.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| match (is_up, bytes[0]) {
            (true, KIND_HELLO) => {
                bytes[HELLO_SUITES_AT] = offered;
                check_again(bytes);
            }
            (false, KIND_CHALLENGE) => seen.set(Some(bytes[CHALLENGE_SUITE_AT])),
            _ => {}
        }));
        world.run_for(ms(100));
        assert_eq!(chosen.get(), expected, "{offered}");
    }
}

#[test]
fn a_challenge_with_another_suite_is_dropped_and_counted() {
    for (named, reason) in [
        (SUITE_PLAIN, DropReason::WrongSuite),
        (RESERVED[0], DropReason::Malformed),
        (RESERVED[1], DropReason::Malformed),
    ] {
        let mut world = World::new(1, Config { allows_plain: true, ..of(1) }, &[link(5)]);
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if !is_up && bytes[0] == KIND_CHALLENGE {
                bytes[CHALLENGE_SUITE_AT] = named;
                check_again(bytes);
            }
            assert!(!is_up || bytes[0] == KIND_HELLO, "nothing but HELLO leaves");
        }));
        world.run_for(ms(9_000));
        assert!(world.clients[0].drops(reason) > 0);
        assert!(world.clients[0].events.is_empty());
        assert_eq!(world.server.endpoint.connection_count(), 0);
    }
}

#[test]
fn a_downgraded_hello_admits_no_client() {
    let mut world = World::new(1, Config { allows_plain: true, ..of(1) }, &[link(5)]);
    world.tap = Some(Box::new(|_, _, is_up, bytes| {
        match (is_up, bytes[0]) {
            (true, KIND_HELLO) => bytes[HELLO_SUITES_AT] = SUITE_PLAIN,
            (true, KIND_OPEN) => bytes[OPEN_SUITE_AT] = SUITE_PLAIN,
            _ => return,
        }
        check_again(bytes);
    }));
    world.run_for(ms(11_000));
    assert!(world.clients[0].drops(DropReason::WrongSuite) > 0);
    assert_eq!(world.clients[0].closes()[0].code, code::HANDSHAKE_TIMEOUT);
    assert_eq!(world.server.endpoint.connection_count(), 0);
}

#[test]
fn a_modified_offer_leads_to_an_offered_suite_or_to_no_connection() {
    // An attacker on the path changes only the HELLO, or each copy of the offer.
    for changes_open in [false, true] {
        let mut world = World::new(1, of(1), &[link(5)]);
        let heard = Rc::new(RefCell::new(Vec::new()));
        let challenges = heard.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            match (is_up, bytes[0]) {
                (true, KIND_HELLO) => bytes[HELLO_SUITES_AT] ^= RESERVED[0],
                (true, KIND_OPEN) if changes_open => bytes[OPEN_OFFER_AT] ^= RESERVED[0],
                (false, KIND_CHALLENGE) => return challenges.borrow_mut().push(bytes[CHALLENGE_SUITE_AT]),
                _ => return,
            }
            check_again(bytes);
        }));
        world.run_for(ms(11_000));
        if changes_open {
            assert!(!world.server.events.iter().any(|(_, event)| matches!(event, Event::Requested { .. })));
            assert_eq!(world.clients[0].closes()[0].code, code::HANDSHAKE_TIMEOUT);
        } else {
            assert!(heard.borrow().len() > 1, "the OPEN tells what was offered, and is challenged again");
            world.clients[0].peer();
        }
    }
}

#[test]
fn an_encrypted_carrier_is_not_encrypted_twice() {
    let datagrams = [Carrier::DTLS, Carrier::DTLS6, Carrier::WEBTRANSPORT, Carrier::WEBTRANSPORT6];
    for carrier in datagrams.into_iter().chain([Carrier::WEBSOCKET, Carrier::LOCAL]) {
        assert!(carrier.is_protected);
        let mut world = World::on(carrier, 1, of(1), &[link(5)]);
        let chosen = Rc::new(Cell::new(0));
        let seen = chosen.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if !is_up && bytes[0] == KIND_CHALLENGE {
                seen.set(bytes[CHALLENGE_SUITE_AT]);
            }
        }));
        world.connect();
        assert_eq!((chosen.get(), world.server.drops(DropReason::WrongSuite)), (SUITE_PLAIN, 0), "{}", carrier.name);
    }
}

#[test]
fn handshake_bytes_of_unknown_clients_are_dropped_and_counted() {
    let mut world = World::new(1, of(1), &[link(20)]);
    let path = world.path_to_client(0);
    world.tap = Some(Box::new(|_, _, is_up, bytes| {
        if !is_up && bytes[0] == KIND_CRYPTO {
            bytes[7] = 0xFF;
            check_again(bytes);
        }
    }));
    world.run_for(ms(200));
    assert!(world.clients[0].drops(DropReason::BadHandshake) > 0);
    let mut strange = [KIND_CRYPTO, 0, 0, 9, 0, 0, 1, 3, 0, 0, 0, 0];
    check_again(&mut strange);
    world.server.endpoint.handle_datagram(world.now, path, &mut strange);
    assert_eq!(world.server.drops(DropReason::UnknownConnection), 1);
    world.tap = None;
    world.connect();
}

#[test]
fn the_answer_to_a_damaged_hello_ends_no_later_agreement() {
    let mut world = World::new(1, of(1), &[link(5)]);
    let mut asked = None;
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if let Ok(Datagram::Challenge(challenge)) = decode(bytes) {
            asked = Some((challenge.to, challenge.nonce));
        }
        // The notice about a HELLO that noise had changed overtakes the answer to the OPEN.
        if !is_up
            && bytes[0] == KIND_CRYPTO
            && let Some((to, nonce)) = asked.take()
        {
            let reason = "this server does not encrypt";
            bytes.resize(refuse_len(code::NO_COMMON_SUITE, reason), 0);
            encode_refuse(&mut Writer::new(bytes), to, nonce, code::NO_COMMON_SUITE, reason);
        }
    }));
    world.connect();
}
