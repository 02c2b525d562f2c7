//! Clients that do not speak WebSocket get a short answer, a counted reason, and a closed connection.

use super::websocket::*;
use super::*;
use crate::net::websocket::{AllowedOrigins, FirstBytes, StreamRules, WsCloseReason, WsState};
use std::io::Write;

/// Sends `bytes` to a new server: what came back by the end, and the reason.
fn ask(bytes: &[u8]) -> (String, WsCloseReason) {
    ask_of(Server::new(loopback_v4()), bytes)
}

fn ask_of(mut server: Server, bytes: &[u8]) -> (String, WsCloseReason) {
    let mut client = RawClient::new(server.address);
    client.send(bytes);
    server.run_until("the server hangs up", |_| {
        client.read();
        client.is_ended
    });
    drop(client.tcp.shutdown(std::net::Shutdown::Both));
    server.run_until("the server forgets", |server| server.connection().is_closed());
    (client.text(), server.connection().close_reason().unwrap())
}

#[test]
fn plain_http_is_told_to_upgrade() {
    for request in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "HEAD / HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.0\r\n\r\n",
    ] {
        let (answer, reason) = ask(request.as_bytes());
        let (status, why) = match request.split(' ').nth(1) {
            Some("/") => (426, WsCloseReason::NoUpgrade),
            Some("/healthz") => (200, WsCloseReason::Answered),
            _ => (404, WsCloseReason::NoUpgrade),
        };
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(reason, why);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{answer}");
    }
}

#[test]
fn malformed_requests_are_bad_requests() {
    for request in [
        "GET / HTTP/1.1\r\nHost x\r\n\r\n".to_owned(),
        "GET  HTTP/9.9\r\n\r\n".to_owned(),
        REQUEST.replace("HTTP/1.1", "HTTP/1.0"),
        REQUEST.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"),
    ] {
        let (answer, reason) = ask(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}{answer}");
        assert_eq!(reason, WsCloseReason::BadRequest);
    }
}

#[test]
fn pages_of_other_origins_are_forbidden() {
    let allowing = |origin: &str| {
        let mut server = Server::new(loopback_v4());
        let origins = AllowedOrigins::only(&[origin.to_owned()]);
        server.listener.set_rules(StreamRules { origins, ..StreamRules::default() });
        server
    };
    let (answer, reason) = ask_of(allowing("https://game.example"), REQUEST.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert_eq!(reason, WsCloseReason::Origin);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{answer}");
    for request in [REQUEST.to_owned(), REQUEST.replace("Origin: http://example.com\r\n", "")] {
        let mut server = allowing("http://example.com");
        let mut client = RawClient::new(server.address);
        client.send(request.as_bytes());
        server.run_until("it is open", |server| server.connection.as_ref().is_some_and(WsConnection::is_open));
    }
}

#[test]
fn other_protocols_are_told_apart() {
    for other in [&b"\x00binary"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"SSH-2.0-x\r\n", b"\xff\xff"] {
        let (answer, reason) = ask(other);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert_eq!(reason, WsCloseReason::NotHttp);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{answer}");
    }
    assert_eq!(ask(b"\x80\x00no message"), (String::new(), WsCloseReason::Protocol));
    assert_eq!(ask(&[0x16, 3, 1, 2, 0, 1]), (String::new(), WsCloseReason::Tls));
}

#[test]
fn heads_are_bounded_in_bytes_and_lines() {
    let (answer, reason) = ask(format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(9_000)).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(reason, WsCloseReason::HeadTooLarge);
    let (answer, reason) = ask(format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(200)).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(reason, WsCloseReason::HeadTooLarge);
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::new(server.address);
    client.tcp.set_nodelay(true).unwrap();
    server.run_until("it is accepted", |server| server.connection.is_some());
    for byte in REQUEST.as_bytes() {
        assert_eq!(server.connection().state(), WsState::HandshakingServer);
        client.send(&[*byte]);
        server.connection().on_ready(true);
    }
    server.run_until("it is open", |server| server.connection().is_open());
}

#[test]
fn a_client_that_says_nothing_becomes_stale() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::new(server.address);
    client.send(b"GET / HT");
    server.run_until("it is accepted", |server| {
        server.connection.as_ref().is_some_and(|connection| connection.first_bytes().is_some())
    });
    let connection = server.connection();
    assert_eq!(connection.first_bytes(), Some(FirstBytes::Http));
    let deadline = connection.deadline().unwrap();
    assert!(!connection.is_stale(deadline - Duration::from_millis(1)));
    assert!(connection.is_stale(deadline));
}

#[test]
fn a_client_that_leaves_during_the_handshake_is_lost() {
    let mut server = Server::new(loopback_v4());
    drop(RawClient::new(server.address));
    server.run_until("it is gone", |server| server.connection.as_ref().is_some_and(WsConnection::is_closed));
    assert_eq!(server.connection().close_reason(), Some(WsCloseReason::Lost));
}

#[test]
fn first_bytes_decide_as_soon_as_they_can() {
    for (bytes, expected) in [
        (&b""[..], None),
        (b"G", None),
        (b"GE", None),
        (b"GET ", Some(FirstBytes::Http)),
        (b"GET / HTTP/1.1", Some(FirstBytes::Http)),
        (b"OPTIONS *", Some(FirstBytes::Http)),
        (b"GOT ", Some(FirstBytes::Other)),
        (b"get ", Some(FirstBytes::Other)),
        (b"\x16", Some(FirstBytes::Tls)),
        (b"\x80", Some(FirstBytes::Raw)),
        (b"\xC0", Some(FirstBytes::Raw)),
        (b"\xC1", Some(FirstBytes::Other)),
        (b"\x00", Some(FirstBytes::Other)),
    ] {
        assert_eq!(FirstBytes::classify(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn a_client_refuses_answers_that_are_no_upgrade() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
        "garbage\r\n\r\n",
    ] {
        let listener = std::net::TcpListener::bind(loopback_v4()).unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = WsConnection::connect("ws://x/", address, WsOptions::default(), None).unwrap();
        let (mut tcp, _) = listener.accept().unwrap();
        tcp.write_all(answer.as_bytes()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        while client.close_reason().is_none() {
            assert!(Instant::now() < deadline);
            client.on_ready(true);
        }
        assert_eq!(client.close_reason(), Some(WsCloseReason::Refused), "{answer}");
    }
}

#[test]
fn a_client_learns_that_nobody_listens() {
    let address = std::net::TcpListener::bind(loopback_v4()).unwrap().local_addr().unwrap();
    let mut client = WsConnection::connect("ws://x/", address, WsOptions::default(), None).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while !client.is_closed() {
        assert!(Instant::now() < deadline);
        client.on_ready(true);
    }
    assert_eq!(client.close_reason(), Some(WsCloseReason::Lost));
}
