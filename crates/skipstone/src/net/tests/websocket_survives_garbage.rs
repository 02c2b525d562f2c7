//! Random bytes, as a request or as frames, end in a reason or are waited out; nothing panics, nothing grows.

use super::websocket::*;
use super::*;
use crate::net::websocket::{WsCloseReason, WsState};

/// Sends `bytes` in random parts and hangs up; the reason.
fn throw_at_server(server: &mut Server, mut client: RawClient, random: &mut Random, bytes: &[u8]) -> WsCloseReason {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (part, later) = rest.split_at(1 + random.below(rest.len()));
        client.send(part);
        rest = later;
        server.step();
        assert!(server.connection().unsent_bytes() <= 512, "answers are short");
    }
    client.read();
    drop(client);
    server.run_until("the end", |server| server.connection().is_closed());
    server.connection().close_reason().unwrap()
}

#[test]
fn random_bytes_instead_of_a_request() {
    let mut server = Server::new(loopback_v4());
    for seed in 0..100 {
        let mut random = Random(seed);
        let client = RawClient::new(server.address);
        server.connection = None;
        server.run_until("it is accepted", |server| server.connection.is_some());
        let len = 1 + random.below(20_000);
        let mut bytes = random.bytes(len);
        if seed % 3 == 0 {
            bytes.splice(0..0, *b"GET / HTTP/1.1\r\n");
        }
        let reason = throw_at_server(&mut server, client, &mut random, &bytes);
        assert_ne!(reason, WsCloseReason::Remote, "seed {seed}");
    }
}

#[test]
fn requests_with_random_damage() {
    let mut server = Server::new(loopback_v4());
    for seed in 0..100 {
        let mut random = Random(seed);
        let client = RawClient::new(server.address);
        server.connection = None;
        server.run_until("it is accepted", |server| server.connection.is_some());
        let mut bytes = REQUEST.as_bytes().to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        throw_at_server(&mut server, client, &mut random, &bytes);
    }
}

#[test]
fn random_frames_after_a_handshake() {
    let mut server = Server::new(loopback_v4());
    for seed in 0..200 {
        let mut random = Random(seed);
        server.connection = None;
        let client = RawClient::upgraded(&mut server);
        assert_eq!(server.connection().state(), WsState::Open);
        let mut bytes = Vec::new();
        for _ in 0..random.below(20) {
            let first_byte = [0x82, 0x02, 0x80, 0x00, 0x89, 0x8a, 0x81, random.next() as u8][random.below(8)];
            let len_max = [10, 130, 5_000][random.below(3)];
            let len = random.below(len_max);
            bytes.extend(client_frame(first_byte, &random.bytes(len)));
        }
        let tail = random.below(100);
        bytes.extend(random.bytes(tail));
        throw_at_server(&mut server, client, &mut random, &bytes);
        assert!(server.received.drain(..).all(|message| message.len() < 100_000));
    }
}
