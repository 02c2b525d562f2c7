//! Sessions against each other, without sockets: what a forger and a client that makes no sense can do to them.

use super::kind::{KEYS_NEVER_CHANGE, Kind, Role, SERVER_QUEUE_MAX, SERVER_RECORDS_MAX, config};
use super::*;
use crate::security::Trust;
use crate::security::resident::resident_kb;
use dimpl::crypto::Dtls13CipherSuite;
use skipstone_proto::Duration;

const START: Time = Time::from_micros(1_000_000);

fn pair() -> (DtlsSession, DtlsSession) {
    pair_of(Kind::Dtls13)
}

fn pair_of(kind: Kind) -> (DtlsSession, DtlsSession) {
    let (identity, now) = (Identity::self_signed().expect("it is made"), START);
    let pin = Verifier::new(&Trust::Pinned(identity.fingerprint()), "localhost").expect("it is a pin");
    let mut client = kind.dtls(Role::Client, nobody().certificate(), now);
    client.set_active(true);
    let mut client = DtlsSession::new(client, kind, now, Role::Client, Some(pin.into()));
    client.handle_timeout(now);
    let server = kind.dtls(Role::Server, identity.certificate(), now);
    (client, DtlsSession::new(server, kind, now, Role::Server, None))
}

fn established(kind: Kind) -> (DtlsSession, DtlsSession) {
    let (mut client, mut server) = pair_of(kind);
    for _ in 0..3 {
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
    }
    assert!(client.is_established() && server.is_established());
    (client, server)
}

fn said(session: &mut DtlsSession) -> Vec<Vec<u8>> {
    let mut buffer = [0; 2_000];
    core::iter::from_fn(|| session.poll_handshake(&mut buffer).map(|length| buffer[..length].to_vec())).collect()
}

/// Handshake messages in clear, without content, each in a record of its own.
fn forged(kind: u8, sequence: u16, records: usize) -> Vec<u8> {
    let record = |number: usize| {
        let [high, low] = sequence.to_be_bytes();
        let header = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9 + number as u8, 0, 12];
        [header.as_slice(), &[kind, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0]].concat()
    };
    (0..records).flat_map(record).collect()
}

fn talk(now: Time, from: &mut DtlsSession, to: &mut DtlsSession) {
    let mut buffer = [0; 2_000];
    while let Some(length) = from.poll_handshake(&mut buffer) {
        assert!(to.handle_handshake(now, &buffer[..length]));
    }
}

#[test]
fn the_keys_never_change() {
    assert_eq!(config(Role::Server).aead_encryption_limit(), KEYS_NEVER_CHANGE);
    let suites: Vec<_> = config(Role::Client).dtls13_cipher_suites().map(|suite| suite.suite()).collect();
    assert_eq!(suites, [Dtls13CipherSuite::CHACHA20_POLY1305_SHA256], "AES-GCM would have to change them");
}

#[test]
fn nothing_is_sealed_in_clear_when_the_session_has_failed() {
    let (mut client, mut server) = pair();
    for _ in 0..3 {
        talk(Time::from_micros(1_000_000), &mut client, &mut server);
        talk(Time::from_micros(1_000_000), &mut server, &mut client);
    }
    assert!(client.is_established());
    client.fail("a test".into());
    let mut datagram = [7; 64];
    let length = client.seal(&mut datagram, 4..40);
    assert_eq!(datagram[4..40], [0; 36]);
    assert_eq!(length, 40 + client.overhead());
}

#[test]
fn a_server_keeps_four_datagrams_of_four_records_of_a_client_that_makes_no_sense() {
    for kind in [Kind::Dtls12, Kind::Dtls13] {
        let (mut client, mut server) = pair_of(kind);
        talk(START, &mut client, &mut server);
        assert!(!server.handle_handshake(START, &forged(20, 100, SERVER_RECORDS_MAX + 1)), "{kind:?}");
        let taken = (0..29).filter(|number| {
            server.handle_handshake(START, &forged(20, 100 + number, SERVER_RECORDS_MAX)) && server.failure().is_none()
        });
        let taken = taken.count();
        // Of 1.3 none: dimpl drops what is in clear once it has answered.
        let kept = if kind == Kind::Dtls12 { taken } else { 0 };
        assert!(kept <= SERVER_QUEUE_MAX, "{kind:?}: {taken}");
    }
}

#[test]
fn what_is_forged_in_clear_neither_ends_a_session_nor_makes_it_talk() {
    for kind in [Kind::Dtls12, Kind::Dtls13] {
        let (mut client, mut server) = established(kind);
        for session in [&mut client, &mut server] {
            said(session);
            for number in 0..200_u64 {
                let now = START + Duration::from_millis(20 * number);
                for message in [1, 2, 14, 16, 20] {
                    for sequence in [0, 1, 2, 9] {
                        session.handle_handshake(now, &forged(message, sequence, 1));
                        session.handle_handshake(now, &forged(message, sequence, 4));
                    }
                }
            }
            assert_eq!(session.failure(), None, "{kind:?}");
            assert!(said(session).is_empty(), "{kind:?}");
        }
        let mut datagram = [7; 100];
        let length = client.seal(&mut datagram, 4..40);
        assert!(server.open(&mut datagram[..length], 4).is_some(), "{kind:?}");
    }
}

#[test]
fn a_forged_last_flight_of_1_2_is_answered_seldom_and_not_at_all_after_a_packet() {
    let (mut client, mut server) = established(Kind::Dtls12);
    said(&mut server);
    let mut flight = forged(16, 1, 1);
    flight.extend([22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 1, 0, 40]);
    flight.extend([7; 40]);
    let mut answers = 0;
    for number in 0..1_000_u64 {
        server.handle_handshake(START + Duration::from_millis(10 * number), &flight);
        answers += said(&mut server).len();
    }
    assert_eq!(server.failure(), None);
    assert!((1..10).contains(&answers), "{answers}");
    let mut datagram = [7; 100];
    let length = client.seal(&mut datagram, 4..40);
    assert!(server.open(&mut datagram[..length], 4).is_some());
    server.handle_handshake(START + Duration::from_secs(60), &flight);
    assert!(said(&mut server).is_empty());
}

#[test]
fn a_client_that_missed_the_last_flight_gets_it_again() {
    for kind in [Kind::Dtls12, Kind::Dtls13] {
        let (mut client, mut server) = pair_of(kind);
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
        talk(START, &mut client, &mut server);
        assert!(server.is_established() && !said(&mut server).is_empty(), "{kind:?}");
        let (mut now, mut answers) = (START, 0);
        while client.poll_timeout() < Time::NEVER {
            // Times are cut to microseconds.
            now = now.max(client.poll_timeout()) + Duration::from_millis(1);
            client.handle_timeout(now);
            talk(now, &mut client, &mut server);
            if answers < 2 {
                answers += said(&mut server).len();
            } else {
                talk(now, &mut server, &mut client);
            }
        }
        assert!(answers >= 2 && client.is_established() && client.failure().is_none(), "{kind:?}: {answers}");
    }
}

/// The figures of SECURITY.md: `cargo test -p skipstone --lib half_open_session_holds -- --ignored --nocapture`.
#[test]
#[ignore = "measures memory, alone in its process"]
fn what_a_half_open_session_holds() {
    for kind in [Kind::Dtls12, Kind::Dtls13] {
        let identity = Identity::self_signed().expect("it is made");
        let (mut client, _) = pair_of(kind);
        let hello = said(&mut client).remove(0);
        let make = |is_hostile: bool| {
            let dtls = kind.dtls(Role::Server, identity.certificate(), START);
            let mut server = DtlsSession::new(dtls, kind, START, Role::Server, None);
            assert!(server.handle_handshake(START, &hello));
            said(&mut server);
            let datagrams = if is_hostile { SERVER_QUEUE_MAX as u16 } else { 0 };
            for number in 0..datagrams {
                server.handle_handshake(START, &forged(20, 100 + number, SERVER_RECORDS_MAX));
            }
            assert_eq!(server.failure(), None);
            server
        };
        for is_hostile in [false, true] {
            let warm = make(is_hostile);
            let before = resident_kb();
            let sessions: Vec<_> = (0..1_000).map(|_| make(is_hostile)).collect();
            let each = (resident_kb() - before) as f64 / sessions.len() as f64;
            println!("{kind:?}, hostile {is_hostile}: {each:.1} KB each");
            // Not given back, or the next would find room that is there already.
            core::mem::forget((warm, sessions));
        }
    }
}
