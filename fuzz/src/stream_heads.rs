//! Bytes of an unauthenticated client on a stream at the TCP port: a proxy's header, TLS, requests, WebSocket frames,
//! length-prefixed messages. The result is the same however the bytes are split.

use crate::certificate::security;
use crate::input::Input;
use skipstone::net::websocket::fuzzed::{Opened, StrangersStream};
use skipstone::net::websocket::{AllowedHosts, AllowedOrigins, StreamRules, TrustedProxies};
use skipstone_proto::Cost;
use std::net::SocketAddr;
use std::sync::Arc;

/// The first byte chooses the port's rules, and whether the client is a trusted proxy; the others arrive on the stream.
pub fn stream_heads(bytes: &[u8]) {
    let (rules, peer, bytes) = port(bytes);
    let (whole, answer) = came_to(&rules, peer, bytes, bytes.len());
    let (cut, answer_to_cut) = came_to(&rules, peer, bytes, if bytes.len() < FEW_BYTES { 1 } else { 61 });
    assert_eq!(cut, whole);
    // A pong may answer several pings together, and a TLS handshake contains random bytes.
    if whole.kind.is_none() && rules.tls.is_none() {
        assert_eq!(answer, answer_to_cut);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{answer:?}");
    }
    if peer == STRANGER {
        assert_eq!(whole.peer, STRANGER, "nobody but a trusted proxy names another client");
    }
}

/// The result of these bytes, all at once.
pub fn opened_by(bytes: &[u8]) -> Opened {
    let (rules, peer, bytes) = port(bytes);
    came_to(&rules, peer, bytes, bytes.len()).0
}

/// The port's rules, the client's address, and the bytes on the stream.
fn port(bytes: &[u8]) -> (Arc<StreamRules>, SocketAddr, &[u8]) {
    let mut input = Input::new(bytes);
    let choice = input.u8();
    let peer = if choice & PROXIED != 0 { PROXY } else { STRANGER };
    (Arc::new(rules(choice)), peer, input.rest())
}

/// The result of a stream whose bytes arrive in pieces of this size, and the answer.
fn came_to(rules: &Arc<StreamRules>, peer: SocketAddr, bytes: &[u8], step: usize) -> (Opened, Vec<u8>) {
    let mut stream = StrangersStream::open(rules, peer).expect("the system has a pair of sockets");
    for part in bytes.chunks(step.max(1)) {
        stream.write(part, TURN);
    }
    let outcome = stream.outcome();
    assert!(stream.end(TURN), "a stream whose client is gone is over");
    (outcome, stream.answer)
}

fn rules(choice: u8) -> StreamRules {
    let is_strict = choice & STRICT != 0;
    let only =
        |names: &[&str]| if is_strict { names.iter().map(|name| (*name).to_owned()).collect() } else { Vec::new() };
    StreamRules {
        origins: AllowedOrigins::only(&only(&["https://game.example"])),
        hosts: AllowedHosts::only(&only(&["game.example", "198.51.100.7"])),
        proxies: TrustedProxies::new(&[PROXY.ip().to_string()]).expect("an address"),
        tls: (choice & SECURE != 0).then(|| skipstone::port_fuzzed::tls(security()).expect("it has a certificate")),
        requires_tls: choice & REQUIRES_TLS != 0,
        takes_raw: choice & TAKES_RAW != 0,
        echo_path: Some("/echo".into()),
        ..StreamRules::default()
    }
}

/// Bits of the first byte.
const PROXIED: u8 = 1;
const SECURE: u8 = 2;
const REQUIRES_TLS: u8 = 4;
const TAKES_RAW: u8 = 8;
const STRICT: u8 = 16;

const PROXY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 7)), 40_000);
const STRANGER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 40_000);
/// Time limit of a stream without a player.
const TURN: Cost = Cost::micros(15);
/// Each byte costs some system calls.
const FEW_BYTES: usize = 80;
