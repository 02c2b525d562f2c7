//! Sessions against each other, without sockets: the effects of a forger, and of a peer that sends nonsense.

use super::super::Trust;
use super::super::certificates::Certificates;
use super::super::fingerprint::Fingerprint;
use super::super::identity::Identity;
use super::super::resident::resident_kb;
use super::super::verify::Verifier;
use super::config::{SERVER_QUEUE_MAX, SERVER_RECORDS_MAX};
use super::session::{DtlsServer, DtlsSession, DtlsTrust, TIMER_SPACING};
use super::version::DtlsVersion;
use skipstone_proto::{Duration, Time};
use std::sync::Arc;

const START: Time = Time::from_micros(1_000_000);
const VERSIONS: [DtlsVersion; 2] = [DtlsVersion::V1_2, DtlsVersion::V1_3];

fn pair_by(version: DtlsVersion, trust: impl FnOnce(&Identity) -> Trust) -> (DtlsSession, DtlsSession) {
    let identity = Identity::self_signed().expect("it is made");
    let verifier = Verifier::new(&trust(&identity), "localhost").expect("it is a pin");
    let client = DtlsTrust { verifier: Arc::new(verifier), version }.session(START);
    (client, serving(identity).session(START))
}

fn serving(identity: Identity) -> DtlsServer {
    DtlsServer::new(Certificates::new(vec![Arc::new(identity)])).expect("it is one for DTLS")
}

/// A client that trusts any server.
fn trusting(version: DtlsVersion) -> DtlsTrust {
    let verifier = Verifier::new(&Trust::DangerouslyAnything, "localhost").expect("nothing can be wrong");
    DtlsTrust { verifier: Arc::new(verifier), version }
}

fn pair(version: DtlsVersion) -> (DtlsSession, DtlsSession) {
    pair_by(version, |identity| Trust::Pinned(identity.fingerprint()))
}

fn said(session: &mut DtlsSession) -> Vec<Vec<u8>> {
    core::iter::from_fn(|| session.poll_datagram()).collect()
}

/// Hands all output of one session to the other. Returns the received content.
fn talk(now: Time, from: &mut DtlsSession, to: &mut DtlsSession) -> Vec<Vec<u8>> {
    let mut content = Vec::new();
    for datagram in said(from) {
        to.handle_datagram(now, &datagram, &mut |bytes| content.push(bytes.to_vec()));
    }
    content
}

fn established(version: DtlsVersion) -> (DtlsSession, DtlsSession) {
    let (mut client, mut server) = pair(version);
    for _ in 0..4 {
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
    }
    assert!(client.is_established() && server.is_established(), "{version:?}: {client:?}, {server:?}");
    (client, server)
}

/// Whether data that one side sends still arrives at the other.
fn is_well(now: Time, client: &mut DtlsSession, server: &mut DtlsSession) -> bool {
    said(client);
    client.send(now, b"a packet");
    talk(now, client, server) == [b"a packet"]
}

/// Unencrypted handshake messages without content, each in its own record.
fn forged(kind: u8, sequence: u16, records: usize) -> Vec<u8> {
    let record = |number: usize| {
        let [high, low] = sequence.to_be_bytes();
        let header = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9 + number as u8, 0, 12];
        [header.as_slice(), &[kind, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0]].concat()
    };
    (0..records).flat_map(record).collect()
}

#[test]
fn each_datagram_is_a_record_and_several_records_may_share_one() {
    for version in VERSIONS {
        let (mut client, mut server) = established(version);
        for content in [&b"one"[..], b"two", &[7; 1_400], &[8; 16_000]] {
            client.send(START, content);
        }
        let records = said(&mut client);
        assert_eq!(records.len(), 4, "{version:?}");
        let overheads: Vec<usize> =
            records.iter().zip([3, 3, 1_400, 16_000]).map(|(record, length)| record.len() - length).collect();
        assert!(overheads.iter().all(|bytes| *bytes <= 37), "{version:?}: {overheads:?}");
        let mut content = Vec::new();
        server.handle_datagram(START, &records[..3].concat(), &mut |bytes| content.push(bytes.to_vec()));
        server.handle_datagram(START, &records[3], &mut |bytes| content.push(bytes.to_vec()));
        assert_eq!(content.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1_400, 16_000]);
        let mut replayed = 0;
        server.handle_datagram(START, &records[0], &mut |_| replayed += 1);
        assert_eq!(replayed, 0, "{version:?}: a replay");
    }
}

#[test]
fn forged_plaintext_neither_ends_a_session_nor_makes_it_answer() {
    for version in VERSIONS {
        let (mut client, mut server) = established(version);
        for session in [&mut client, &mut server] {
            said(session);
            for number in 0..200_u64 {
                let now = START + Duration::from_millis(20 * number);
                let alert = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 1, 0];
                session.handle_datagram(now, &alert, &mut |_| ());
                for message in [1, 2, 14, 16, 20] {
                    for sequence in [0, 1, 2, 9] {
                        session.handle_datagram(now, &forged(message, sequence, 1), &mut |_| ());
                        session.handle_datagram(now, &forged(message, sequence, 4), &mut |_| ());
                    }
                }
                for first in [23, 22, 21, 20, 0x2C, 0x2E, 0x2F, 0x3F] {
                    let sealed = [&[first, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 7, 0, 40][..], &[9; 40]].concat();
                    session.handle_datagram(now, &sealed, &mut |_| panic!("it is not authentic"));
                }
            }
            assert_eq!(session.failure(), None, "{version:?}");
            assert!(said(session).is_empty(), "{version:?}");
        }
        assert!(is_well(START + Duration::from_secs(9), &mut client, &mut server), "{version:?}");
    }
}

#[test]
fn a_handshake_is_not_ended_by_plaintext_alerts() {
    for version in VERSIONS {
        let (mut client, mut server) = pair(version);
        for _ in 0..4 {
            for session in [&mut client, &mut server] {
                let alert = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 5, 0, 2, 2, 40];
                assert!(!session.handle_datagram(START, &alert, &mut |_| ()), "{version:?}");
            }
            talk(START, &mut client, &mut server);
            talk(START, &mut server, &mut client);
        }
        assert!(is_well(START, &mut client, &mut server), "{version:?}");
    }
}

#[test]
fn a_forged_last_flight_of_1_2_is_rarely_answered_and_never_after_a_packet() {
    let (mut client, mut server) = established(DtlsVersion::V1_2);
    said(&mut server);
    let mut flight = forged(16, 1, 1);
    flight.extend([22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 1, 0, 40]);
    flight.extend([7; 40]);
    let mut answers = 0;
    for number in 0..1_000_u64 {
        server.handle_datagram(START + Duration::from_millis(10 * number), &flight, &mut |_| ());
        answers += said(&mut server).len();
    }
    assert_eq!(server.failure(), None);
    assert!((1..10).contains(&answers), "{answers}");
    assert!(is_well(START + Duration::from_secs(20), &mut client, &mut server));
    server.handle_datagram(START + Duration::from_secs(60), &flight, &mut |_| ());
    assert!(said(&mut server).is_empty());
}

#[test]
fn a_client_that_missed_the_last_flight_gets_it_again() {
    for version in VERSIONS {
        let (mut client, mut server) = pair(version);
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
        talk(START, &mut client, &mut server);
        assert!(server.is_established() && !said(&mut server).is_empty(), "{version:?}");
        let (mut now, mut answers) = (START, 0);
        while client.poll_timeout() < Time::NEVER {
            // Times are truncated to microseconds.
            now = now.max(client.poll_timeout()) + Duration::from_millis(1);
            client.handle_timeout(now);
            talk(now, &mut client, &mut server);
            if answers < 2 {
                answers += said(&mut server).len();
            } else {
                talk(now, &mut server, &mut client);
            }
        }
        assert!(answers >= 2 && is_well(now, &mut client, &mut server), "{version:?}: {answers}");
    }
}

/// dimpl's own client acknowledges without delay as long as a part of the server's flight is missing: 66,000 datagrams
/// in ten seconds.
#[test]
fn a_client_missing_part_of_a_flight_asks_at_most_twenty_times_a_second() {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy");
    let names: Vec<String> = (0..60).map(|number| format!("a-rather-long-name-{number}.example")).collect();
    let pem = rcgen::CertificateParams::new(names).expect("good names").self_signed(&key).expect("it is made").pem();
    let pem = pem + &key.serialize_pem();
    for version in VERSIONS {
        let identity = Identity::from_pem(pem.as_bytes(), pem.as_bytes()).expect("it is good");
        let mut client = trusting(version).session(START);
        let mut server = serving(identity).session(START);
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
        talk(START, &mut client, &mut server);
        let flight = said(&mut server);
        assert!(flight.len() >= 3, "{version:?}: a flight of several datagrams");
        for datagram in flight.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, datagram)| datagram) {
            client.handle_datagram(START, datagram, &mut |_| ());
        }
        let (mut now, mut count, mut wakes) = (START, said(&mut client).len(), 0);
        while client.poll_timeout() < START + Duration::from_secs(10) {
            now = now.max(client.poll_timeout());
            client.handle_timeout(now);
            count += said(&mut client).len();
            wakes += 1;
            assert!(wakes < 10_000, "{version:?}: its timer does not move");
        }
        let most = Duration::from_secs(10).as_millis() / TIMER_SPACING.as_millis();
        assert!(!client.is_established() && count as u128 <= 2 * most, "{version:?}: {count} datagrams");
    }
}

#[test]
fn a_client_at_the_wrong_server_falls_silent() {
    for version in VERSIONS {
        let (mut client, mut server) = pair_by(version, |_| Trust::Pinned(Fingerprint([7; 32])));
        for _ in 0..4 {
            talk(START, &mut client, &mut server);
            talk(START, &mut server, &mut client);
        }
        let failure = client.failure().expect("it is another");
        assert!(failure.is_untrusted && failure.reason.contains(&"07".repeat(32)), "{failure:?}");
        assert!(!client.is_established() && said(&mut client).is_empty() && client.poll_timeout() == Time::NEVER);
    }
}

#[test]
fn closing_notifies_the_other_side() {
    for version in VERSIONS {
        let (mut client, mut server) = established(version);
        talk(START, &mut server, &mut client);
        client.close(START);
        talk(START, &mut client, &mut server);
        assert!(server.failure().is_some_and(|failure| failure.reason.contains("closed by the peer")), "{version:?}");
        assert!(!client.handle_datagram(START, &said(&mut server).concat(), &mut |_| ()));
    }
}

#[test]
fn a_server_keeps_at_most_four_datagrams_of_four_invalid_records() {
    for version in VERSIONS {
        let (mut client, mut server) = pair(version);
        talk(START, &mut client, &mut server);
        talk(START, &mut server, &mut client);
        talk(START, &mut client, &mut server);
        assert!(!server.handle_datagram(START, &forged(20, 100, SERVER_RECORDS_MAX + 1), &mut |_| ()), "{version:?}");
        let taken = (0..29).filter(|number| {
            server.handle_datagram(START, &forged(20, 100 + number, SERVER_RECORDS_MAX), &mut |_| ())
                && server.failure().is_none()
        });
        let taken = taken.count();
        // None in 1.3: dimpl drops unencrypted records once it has answered.
        let kept = if version == DtlsVersion::V1_2 { taken } else { 0 };
        assert!(kept <= SERVER_QUEUE_MAX, "{version:?}: {taken}");
    }
}

/// The figures of SECURITY.md: `cargo test -p skipstone --features dtls --lib dtls_session_holds
/// -- --ignored --nocapture`.
#[test]
#[ignore = "measures memory, alone in its process"]
fn memory_of_a_dtls_session() {
    for version in VERSIONS {
        let serving = serving(Identity::self_signed().expect("it is made"));
        let make = |rounds: usize| {
            let mut client = trusting(version).session(START);
            let mut server = serving.session(START);
            for _ in 0..rounds {
                talk(START, &mut client, &mut server);
                talk(START, &mut server, &mut client);
            }
            server
        };
        let make = |rounds: usize| match rounds {
            0 => {
                let mut server = make(1);
                let hello = said(&mut trusting(version).session(START)).remove(0);
                (0..7).for_each(|_| assert!(server.handle_datagram(START, &hello, &mut |_| ())));
                said(&mut server);
                server
            }
            rounds => make(rounds),
        };
        for (name, rounds) in [("stranger", 1), ("hostile stranger", 0), ("proven", 2), ("established", 4)] {
            let warm = make(rounds);
            let before = resident_kb();
            let sessions: Vec<_> = (0..1_000).map(|_| make(rounds)).collect();
            let each = (resident_kb() - before) as f64 / sessions.len() as f64;
            println!("{version:?}, {name}: {each:.1} KB each");
            // Not freed, or the next session would reuse existing memory.
            core::mem::forget((warm, sessions));
        }
    }
}
