//! Datagrams of unauthenticated clients at a server's UDP port, of any carrier: no state is kept for long, and no
//! address receives more than it sent.

use crate::certificate::security;
use crate::input::Input;
use crate::page::first_packet;
use crate::parsing;
use skipstone::port_fuzzed::Port;
use skipstone_proto::{Config, Duration, Settings};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The bytes that one address has sent and received, as UDP payload and on the wire.
#[derive(Default)]
struct Traffic {
    sent: usize,
    got: usize,
    sent_on_the_wire: usize,
    got_on_the_wire: usize,
    /// Whether it has sent a QUIC datagram.
    has_quic: bool,
}

/// Any datagrams and answers to them; panics if the server panics, amplifies, or keeps state that it should not.
pub fn first_datagrams(bytes: &[u8]) {
    let mut port = heard(bytes);
    // Clients that have not become players by then are forgotten.
    for _ in 0..3 {
        port.advance(Duration::from_secs(20));
        port.step();
    }
    assert_eq!((port.strangers(), port.connections()), (0, 0), "nothing is kept for strangers");
}

/// The server's port after these datagrams.
pub fn heard(bytes: &[u8]) -> Port {
    let mut input = Input::new(bytes);
    let config = Config { connections_max: 6, ..Config::server(Settings::default()) };
    let mut port = Port::new(security(), config);
    let mut traffic: BTreeMap<SocketAddr, Traffic> = BTreeMap::new();
    let mut last = Vec::new();
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        let choice = input.u8();
        if choice >= WAITS_FROM {
            port.advance(Duration::from_millis(u64::from(input.u16())));
        } else {
            let mut datagram = datagram(&mut input, choice, &last);
            let from = address(choice / 64);
            let of = traffic.entry(from).or_default();
            of.sent += datagram.len();
            of.has_quic |= matches!(datagram.first(), Some(64..=127 | 192..=255));
            of.sent_on_the_wire += HEAD_BYTES + datagram.len();
            port.handle(from, &mut datagram);
        }
        for (to, datagram) in port.step() {
            let of = traffic.entry(to).or_default();
            of.got += datagram.len();
            of.got_on_the_wire += HEAD_BYTES + datagram.len();
            last = datagram;
        }
        check(&port, &traffic);
    }
    port
}

/// The next datagram of an unauthenticated client.
fn datagram(input: &mut Input<'_>, choice: u8, last: &[u8]) -> Vec<u8> {
    match choice % 8 {
        0 => parsing::with_check(input.bytes()),
        // Padded to the size of a handshake's first datagram.
        1 => padded(parsing::with_check(input.bytes())),
        2 => first_packet(&[input.u8(); 8], input.u8(), b"", &several(input)),
        3 => first_packet(&[input.u8(); 8], input.u8(), input.bytes(), &several(input)),
        4 => dtls_record(&several(input)),
        // Returns the server's own datagram, changed in one place.
        5 => {
            let mut datagram = last.to_vec();
            let at = usize::from(input.u16());
            if let Some(byte) = datagram.get_mut(at) {
                *byte ^= input.u8();
            }
            datagram
        }
        6 => padded(input.bytes().to_vec()),
        _ => several(input),
    }
}

/// As many pieces of the input as the next byte states, concatenated: up to 1,530 bytes.
fn several(input: &mut Input<'_>) -> Vec<u8> {
    (0..=input.below(6)).flat_map(|_| input.bytes()).copied().collect()
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(1_200), 0);
    bytes
}

/// A record with a handshake message of correct lengths (RFC 6347, section 4).
fn dtls_record(message: &[u8]) -> Vec<u8> {
    let (kind, body) = message.split_first().unwrap_or((&1, &[]));
    let length = (body.len() as u32).to_be_bytes();
    let fragment = [&[*kind], &length[1..], &[0; 5], &length[1..], body].concat();
    let head = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0];
    [&head[..], &(fragment.len() as u16).to_be_bytes(), &fragment].concat()
}

fn check(port: &Port, traffic: &BTreeMap<SocketAddr, Traffic>) {
    assert!(port.strangers() <= SESSIONS_MAX, "{} sessions of strangers", port.strangers());
    assert_eq!(port.connected, 0, "nobody is let in who has not proven his address");
    for (address, of) in traffic.iter().filter(|(_, of)| !of.has_quic) {
        let (sent, got) = (of.sent_on_the_wire, of.got_on_the_wire);
        assert!(got <= sent, "{address} sent {sent} bytes on the wire and got {got}");
    }
    // WHY: the limit is checked for all addresses together, because QUIC's allowance (RFC 9000, section 8.1) belongs to
    // a connection: a datagram with its id from another address adds to it. A client that forges addresses has sent
    // that datagram, too.
    let (sent, got) = traffic.values().fold((0, 0), |(sent, got), of| (sent + of.sent, got + of.got));
    assert!(got <= 3 * sent, "{sent} bytes came and {got} left");
}

fn address(number: u8) -> SocketAddr {
    ([192, 0, 2, number], 4_000).into()
}

const STEPS_MAX: usize = 200;
/// Choices from this value on advance the time.
const WAITS_FROM: u8 = 240;
/// Headers of IPv4 and UDP.
const HEAD_BYTES: usize = 28;
/// For DTLS and QUIC each: places of unproven clients, and of those who have proven their address.
const SESSIONS_MAX: usize = 256 + 256 + 32 + 256;
