//! Simulated runs use a simulated suite: its records and flights have the sizes of the real ones, so that the figures
//! of simulated runs hold for real ones.

use skipstone::{Security, Trust};
use skipstone_proto::SUITE_TLS_1_3;
use skipstone_proto::Time;
use skipstone_proto::security::simulated::{Sizes, TLS_1_3};
use skipstone_proto::{Session, Suites};

/// As long as a real one: ids, nonce, choice, cookie, and an offer of two versions.
const TRANSCRIPT: [u8; 41] = [7; 41];
const NOW: Time = Time::from_micros(1_000_000);
/// An ECDSA signature has 70 to 72 bytes, now and then fewer; the certificate holds one, the handshake another.
const SIGNATURES_VARY: usize = 6;

/// Hands all output of one session to the other. Returns the length of each datagram.
fn flight(from: &mut dyn Session, to: &mut dyn Session) -> Vec<usize> {
    let (mut lengths, mut buffer) = (Vec::new(), [0; 2_000]);
    while let Some(length) = from.poll_handshake(&mut buffer) {
        lengths.push(length);
        assert!(to.handle_handshake(NOW, &buffer[..length]));
    }
    lengths
}

fn suites() -> (std::sync::Arc<dyn Suites>, std::sync::Arc<dyn Suites>) {
    let security = Security::self_signed().expect("it is made");
    let pin = Trust::Pinned(security.fingerprint().expect("it has a certificate"));
    (pin.suites("localhost").expect("it is a pin"), security.suites().expect("it encrypts"))
}

fn measured() -> (Sizes, Vec<usize>) {
    let (client, server) = suites();
    let mut client = client.client(NOW, SUITE_TLS_1_3, &TRANSCRIPT).expect("it is offered");
    let mut server = server.server(NOW, SUITE_TLS_1_3, &TRANSCRIPT).expect("it is offered");
    let hello = flight(&mut *client, &mut *server);
    let answer = flight(&mut *server, &mut *client);
    assert!(client.is_established(), "its packets may follow its last flight");
    let finish = flight(&mut *client, &mut *server);
    let confirm = flight(&mut *server, &mut *client);
    assert!(client.is_established() && server.is_established());
    let mut datagram = [1; 200];
    let record_overhead = client.seal(&mut datagram, 4..104) - 104;
    let one = |lengths: Vec<usize>| {
        assert_eq!(lengths.len(), 1, "{lengths:?}");
        lengths[0]
    };
    let sizes = Sizes { hello: one(hello), answer: &[], finish: one(finish), confirm: one(confirm), record_overhead };
    (sizes, answer)
}

#[test]
fn the_sizes_of_tls_match() {
    let (sizes, answer) = measured();
    println!("{sizes:?}, answer {answer:?}");
    assert_eq!(answer.len(), TLS_1_3.answer.len());
    for (real, stand_in) in answer.iter().zip(TLS_1_3.answer) {
        assert!(real.abs_diff(*stand_in) <= SIGNATURES_VARY, "answer: {real}, the stand-in has {stand_in}");
    }
    assert_eq!(sizes, Sizes { answer: &[], ..TLS_1_3 });
}

#[test]
fn the_stated_overhead_of_a_session_is_exact() {
    let (client, server) = suites();
    let mut client = client.client(NOW, SUITE_TLS_1_3, &TRANSCRIPT).expect("it is offered");
    let mut server = server.server(NOW, SUITE_TLS_1_3, &TRANSCRIPT).expect("it is offered");
    for _ in 0..3 {
        flight(&mut *client, &mut *server);
        flight(&mut *server, &mut *client);
    }
    for length in [1, 2, 3, 15, 16, 17, 100, 1_000, 1_160, 8_000, 16_000] {
        let mut datagram = vec![7; 4 + length + client.overhead()];
        datagram[..4].copy_from_slice(b"\x80abc");
        let end = datagram.len();
        assert_eq!(client.seal(&mut datagram, 4..4 + length), end, "{length} bytes");
        assert_eq!(&datagram[..4], b"\x80abc", "what lies before stays");
        let opened = server.open(&mut datagram, 4).unwrap_or_else(|| panic!("{length} bytes"));
        assert_eq!(&datagram[opened], vec![7; length]);
    }
}
