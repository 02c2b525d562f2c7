//! Clients that do not speak WebSocket get a short answer, a counted reason, and a closed connection.

use super::websocket::*;
use super::*;
use crate::net::websocket::{AllowedHosts, AllowedOrigins, FirstBytes, StreamRules, WsCloseReason, WsState};
use std::io::{Read, Write};

/// Sends `bytes` to a new server, and returns its answer and the reason of the end.
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
fn plain_http_is_asked_to_upgrade() {
    for request in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://x/healthz HTTP/1.1\r\nHost: y\r\n\r\n",
        "GET /healthz HTTP/1.0\r\n\r\n",
        // Another upgrade, one without its option, and one of HTTP/1.0 are not WebSocket upgrades.
        "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n",
        "GET /healthz HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ] {
        let (answer, reason) = ask(request.as_bytes());
        let (status, why) = match request.split(' ').nth(1) {
            Some("/" | "http://x") => (426, WsCloseReason::NoUpgrade),
            Some(target) if target.ends_with("/healthz") => (200, WsCloseReason::Answered),
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
        REQUEST.replace("Host: server.example.com\r\n", ""),
        REQUEST.replace("Host: server.example.com\r\n", "Host: server.example.com\r\nHost: server.example.com\r\n"),
        REQUEST.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"),
        REQUEST.replace("ZSBub25jZQ==", "ZSBub25jZR=="),
        // On two lines, which is permitted only for lists.
        REQUEST.replace("Origin:", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin:"),
        REQUEST.replace("Origin:", "Content-Length: 5\r\nOrigin:"),
        REQUEST.replace("Origin:", "Transfer-Encoding: chunked\r\nOrigin:"),
    ] {
        let (answer, reason) = ask(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}{answer}");
        assert_eq!(reason, WsCloseReason::BadRequest);
    }
}

/// Opens, or gives the answer of a server that is served only as `server.example.com`.
fn open(request: &str) -> Result<(), String> {
    let mut server = Server::new(loopback_v4());
    let hosts = AllowedHosts::only(&["server.example.com".into()]);
    server.listener.set_rules(StreamRules { hosts, ..StreamRules::default() });
    let mut client = RawClient::new(server.address);
    client.send(request.as_bytes());
    server.run_until("it is answered", |_| {
        client.read();
        client.received.ends_with(b"\r\n\r\n") || client.is_ended
    });
    let answer = client.text();
    answer.starts_with("HTTP/1.1 101 ").then_some(()).ok_or(answer)
}

#[test]
fn multi_line_lists_and_absolute_targets_are_upgraded() {
    for (from, to) in [
        ("Connection: Upgrade", "Connection: keep-alive, upgrade"),
        ("Connection: Upgrade", "Connection: keep-alive\r\nConnection: Upgrade"),
        ("Connection: Upgrade", "Connection: a\r\nConnection:\tb ,\tUPGRADE\t, c"),
        ("Connection: Upgrade", "Connection: \u{e9}, Upgrade"),
        ("Upgrade: websocket", "Upgrade: h2c, websocket"),
        ("Upgrade: websocket", "Upgrade: h2c\r\nUpgrade: WebSocket"),
        ("Protocol: chat, skipstone.1", "Protocol: chat\r\nSec-WebSocket-Protocol: skipstone.1"),
        ("GET /chat", "GET http://server.example.com/chat"),
        ("GET /chat", "GET wss://SERVER.example.com:443"),
        ("Origin:", "Content-Length: 0\r\nOrigin:"),
        // The host of an absolute target counts, and not the field.
        ("GET /chat HTTP/1.1\r\nHost: server.example.com", "GET http://server.example.com/ HTTP/1.1\r\nHost: y"),
    ] {
        let request = REQUEST.replace(from, to);
        assert_ne!(request, REQUEST, "{from}");
        open(&request).expect(to);
    }
}

#[test]
fn only_websocket_13_upgrades_for_this_host_are_accepted() {
    for (from, to, expected) in [
        ("Connection: Upgrade", "Connection: keep-alive, upgrades", "404 "),
        ("Connection: Upgrade", "Connection: close", "404 "),
        ("Upgrade: websocket", "Upgrade: h2c, websockets", "404 "),
        ("Version: 13", "Version: 8", "426 "),
        ("Version: 13", "Version: 13\r\nSec-WebSocket-Version: 8", "426 "),
        ("HTTP/1.1", "HTTP/1.0", "404 "),
        ("HTTP/1.1", "HTTP/2.0", "505 "),
        ("GET /chat", "GET http://evil.example/chat", "421 "),
        ("GET /chat", "GET ftp://server.example.com/chat", "400 "),
        ("Host: server", "Host: evil", "421 "),
        // Not a GET and not HTTP/1.1, but still for another host.
        ("GET /chat HTTP/1.1\r\nHost: server", "HEAD /healthz HTTP/1.1\r\nHost: evil", "421 "),
        ("GET /chat HTTP/1.1\r\nHost: server", "GET /healthz HTTP/1.0\r\nHost: evil", "421 "),
    ] {
        let answer = open(&REQUEST.replace(from, to)).expect_err(to);
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{to}: {answer}");
        assert!(expected != "426 " || answer.contains("Sec-WebSocket-Version: 13\r\n"), "{answer}");
    }
}

#[test]
fn other_origins_are_forbidden() {
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
fn other_protocols_are_distinguished() {
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
fn heads_are_limited_in_bytes_and_lines() {
    let (answer, reason) = ask(format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(9_000)).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(reason, WsCloseReason::HeadTooLarge);
    let (answer, reason) = ask(format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(200)).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(reason, WsCloseReason::HeadTooLarge);
}

#[test]
fn a_request_may_arrive_byte_by_byte() {
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
fn a_silent_client_times_out() {
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
fn the_first_bytes_decide_as_early_as_possible() {
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
fn a_client_refuses_answers_other_than_an_upgrade() {
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
fn a_client_skips_interim_responses() {
    let listener = std::net::TcpListener::bind(loopback_v4()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = WsConnection::connect("ws://x/", address, WsOptions::default(), None).unwrap();
    let (mut tcp, _) = listener.accept().unwrap();
    tcp.set_nonblocking(true).unwrap();
    let (mut request, mut is_answered) = (Vec::new(), false);
    let deadline = Instant::now() + Duration::from_secs(5);
    while !client.is_open() {
        assert!(Instant::now() < deadline && client.close_reason().is_none(), "{:?}", client.close_reason());
        client.on_ready(true);
        let mut block = [0; 1_024];
        let length = tcp.read(&mut block).unwrap_or(0);
        request.extend_from_slice(&block[..length]);
        let text = String::from_utf8_lossy(&request);
        if text.ends_with("\r\n\r\n") && !is_answered {
            let key = text.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
            let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
            let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
            let upgraded = "HTTP/1.1 101 Switching Protocols\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n";
            let rest = format!("Upgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n");
            tcp.write_all([interim, upgraded, &rest].concat().as_bytes()).unwrap();
            is_answered = true;
        }
    }
}

#[test]
fn a_client_is_told_that_no_server_listens() {
    let address = std::net::TcpListener::bind(loopback_v4()).unwrap().local_addr().unwrap();
    let mut client = WsConnection::connect("ws://x/", address, WsOptions::default(), None).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while !client.is_closed() {
        assert!(Instant::now() < deadline);
        client.on_ready(true);
    }
    assert_eq!(client.close_reason(), Some(WsCloseReason::Lost));
}
