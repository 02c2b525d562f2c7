//! Every end has one reason, and data sent before the end arrives.

use super::websocket::*;
use super::*;
use crate::net::websocket::{MESSAGE_BYTES_MAX, WsCloseReason, WsSendError, WsState};

struct Pair {
    server: Server,
    client: WsConnection,
}

fn pair() -> Pair {
    let mut server = Server::new(loopback_v4());
    let mut client = WsConnection::connect("ws://x/", server.address, WsOptions::default(), None).unwrap();
    server.run_until("both are open", |server| {
        client.on_ready(true);
        client.is_open() && server.connection.as_ref().is_some_and(WsConnection::is_open)
    });
    Pair { server, client }
}

/// Steps until both sides are closed. Returns the messages that the client received meanwhile.
fn run_to_the_end(pair: &mut Pair) -> Vec<Vec<u8>> {
    let mut received = Vec::new();
    pair.server.run_until("both are closed", |server| {
        pair.client.on_ready(true);
        while let WsReceive::Message(bytes) = pair.client.receive() {
            received.push(bytes.to_vec());
        }
        pair.client.is_closed() && server.connection().is_closed()
    });
    received
}

#[test]
fn by_the_server_after_its_last_message() {
    let mut pair = pair();
    pair.server.connection().send(b"last").unwrap();
    pair.server.connection().close(4001, "kicked: idle");
    pair.server.connection().close(1000, "a second close changes nothing");
    assert_eq!(pair.server.connection().send(b"too late"), Err(WsSendError::NotOpen));
    assert_eq!(run_to_the_end(&mut pair), [b"last".to_vec()]);
    assert_eq!(pair.server.connection().close_reason(), Some(WsCloseReason::Local));
    assert_eq!(pair.client.close_reason(), Some(WsCloseReason::Remote));
    let close = pair.client.peer_close().unwrap();
    assert_eq!((close.code, close.reason.as_str()), (4001, "kicked: idle"));
}

#[test]
fn by_the_client() {
    let mut pair = pair();
    pair.client.send(b"last").unwrap();
    pair.client.close(1000, "");
    run_to_the_end(&mut pair);
    assert_eq!(pair.server.received, [b"last".to_vec()]);
    assert_eq!(pair.client.close_reason(), Some(WsCloseReason::Local));
    assert_eq!(pair.server.connection().close_reason(), Some(WsCloseReason::Remote));
    assert_eq!(pair.server.connection().peer_close().unwrap().code, 1000);
}

#[test]
fn by_both_at_once() {
    let mut pair = pair();
    pair.client.close(1000, "");
    pair.server.connection().close(1001, "");
    run_to_the_end(&mut pair);
    assert_eq!(pair.client.close_reason(), Some(WsCloseReason::Local));
    assert_eq!(pair.server.connection().close_reason(), Some(WsCloseReason::Local));
}

#[test]
fn long_reasons_are_truncated_at_a_character() {
    let mut pair = pair();
    pair.server.connection().close(4000, &"ü".repeat(100));
    run_to_the_end(&mut pair);
    assert_eq!(pair.client.peer_close().unwrap().reason, "ü".repeat(61));
}

#[test]
fn a_close_before_the_handshake_just_ends() {
    let server = Server::new(loopback_v4());
    let mut client = WsConnection::connect("ws://x/", server.address, WsOptions::default(), None).unwrap();
    client.close(1000, "changed my mind");
    assert_eq!((client.state(), client.close_reason()), (WsState::Closed, Some(WsCloseReason::Local)));
    assert!(!client.is_stale(Instant::now() + Duration::from_secs(99)));
}

#[test]
fn a_vanished_peer_is_lost() {
    let mut pair = pair();
    drop(pair.client);
    pair.server.run_until("it is noticed", |server| server.connection().is_closed());
    assert_eq!(pair.server.connection().close_reason(), Some(WsCloseReason::Lost));
}

#[test]
fn on_messages_that_are_too_large_whole_or_fragmented() {
    let large = client_frame(0x82, &vec![0; MESSAGE_BYTES_MAX + 1]);
    let half = vec![0; MESSAGE_BYTES_MAX / 2 + 1];
    let fragments = [client_frame(0x02, &half), client_frame(0x80, &half)].concat();
    // Announced only: nothing is allocated for it.
    let announced = vec![0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4];
    for bytes in [large, fragments, announced] {
        assert_eq!(fail_with(&bytes), (1009, WsCloseReason::MessageTooLarge));
    }
    let mut pair = pair();
    assert_eq!(pair.client.send(&vec![0; MESSAGE_BYTES_MAX + 1]), Err(WsSendError::TooLarge));
}

#[test]
fn on_broken_frames() {
    let unmasked = vec![0x82, 1, 0];
    let unknown_opcode = client_frame(0x83, b"x");
    let reserved_bit = client_frame(0xc2, b"x");
    let continuation_of_nothing = client_frame(0x80, b"x");
    let long_ping = client_frame(0x89, &[0; 126]);
    let broken_text = client_frame(0x81, &[0xff, 0xfe]);
    for bytes in [unmasked, unknown_opcode, reserved_bit, continuation_of_nothing, long_ping] {
        assert_eq!(fail_with(&bytes), (1002, WsCloseReason::Protocol), "{bytes:?}");
    }
    assert_eq!(fail_with(&broken_text), (1007, WsCloseReason::Protocol));
}

/// Sends `bytes` after a handshake. Returns the code of the server's Close frame, and the server's reason.
fn fail_with(bytes: &[u8]) -> (u16, WsCloseReason) {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    client.tcp.set_nonblocking(false).unwrap();
    client.send(bytes);
    client.tcp.set_nonblocking(true).unwrap();
    server.run_until("the server hangs up", |_| {
        client.read();
        client.is_ended
    });
    assert_eq!(client.received[0], 0x88, "a Close frame");
    let code = u16::from_be_bytes([client.received[2], client.received[3]]);
    drop(client);
    server.run_until("the server forgets", |server| server.connection().is_closed());
    (code, server.connection().close_reason().unwrap())
}
