//! Our client, our server, tungstenite's client and raw frames understand each other.

use super::websocket::*;
use super::*;
use crate::net::websocket::{MESSAGE_BYTES_MAX, WsConnectError, WsSendError, WsState};

/// Steps both sides until `done`.
fn run_until(server: &mut Server, client: &mut Client, claim: &str, done: impl Fn(&Server, &Client) -> bool) {
    server.run_until(claim, |server| {
        client.step();
        done(server, client)
    });
}

struct Client {
    connection: WsConnection,
    received: Vec<Vec<u8>>,
}

impl Client {
    fn new(address: SocketAddr) -> Client {
        let connection =
            WsConnection::connect("ws://game.example/play?x=1", address, WsOptions::default(), None).unwrap();
        Client { connection, received: Vec::new() }
    }

    fn step(&mut self) {
        self.connection.on_ready(true);
        while let WsReceive::Message(bytes) = self.connection.receive() {
            self.received.push(bytes.to_vec());
        }
    }

    fn connected(server: &mut Server) -> Client {
        let mut client = Client::new(server.address);
        assert_eq!(client.connection.state(), WsState::HandshakingClient);
        assert_eq!(client.connection.send(b"too early"), Err(WsSendError::NotOpen));
        run_until(server, &mut client, "both are open", |server, client| {
            client.connection.is_open() && server.connection.as_ref().is_some_and(WsConnection::is_open)
        });
        assert_eq!((client.connection.deadline(), server.connection().deadline()), (None, None));
        assert!(!server.connection().is_stale(Instant::now() + Duration::from_secs(3_600)));
        client
    }
}

#[test]
fn messages_of_all_sizes_over_both_families() {
    let mut random = Random(11);
    let lengths = [0, 1, 100, 125, 126, 127, 1_200, 4_096, 65_506, MESSAGE_BYTES_MAX];
    let messages: Vec<_> = lengths.iter().map(|len| random.bytes(*len)).collect();
    for address in [loopback_v4(), loopback_v6()] {
        let mut server = Server::new(address);
        let mut client = Client::connected(&mut server);
        assert_eq!(server.connection().peer_addr().ip(), address.ip());
        for (index, message) in messages.iter().enumerate() {
            client.connection.send(message).unwrap();
            client.connection.flush();
            run_until(&mut server, &mut client, "the message arrives", |server, _| server.received.len() > index);
            server.connection().send(message).unwrap();
            server.connection().flush();
            run_until(&mut server, &mut client, "the echo arrives", |_, client| client.received.len() > index);
        }
        assert!(server.received == messages && client.received == messages);
        let statistics = server.connection().statistics();
        assert_eq!((statistics.messages_in, statistics.messages_out), (10, 10));
        assert_eq!(statistics.bytes_in, client.connection.statistics().bytes_out);
        assert_eq!(statistics.bytes_out, client.connection.statistics().bytes_in);
    }
}

/// A message in a buffer, after the room for its frame's head.
fn behind_room(message: &[u8]) -> Vec<u8> {
    [&[0; WsConnection::ROOM_BYTES], message].concat()
}

#[test]
fn messages_sent_from_the_senders_buffer_arrive_unchanged() {
    let mut random = Random(12);
    let lengths = [0, 1, 125, 126, 1_700, 4_080, 65_506, MESSAGE_BYTES_MAX];
    let messages: Vec<_> = lengths.iter().map(|len| random.bytes(*len)).collect();
    let mut server = Server::new(loopback_v4());
    let mut client = Client::connected(&mut server);
    for (index, message) in messages.iter().enumerate() {
        // A client masks its messages.
        client.connection.send_now(&mut behind_room(message)).unwrap();
        // Behind a message that waits.
        server.connection().send(b"first").unwrap();
        server.connection().send_now(&mut behind_room(message)).unwrap();
        run_until(&mut server, &mut client, "all arrive", |server, client| {
            server.received.len() > index && client.received.len() > 2 * index + 1
        });
        assert!(client.received[2 * index] == b"first" && client.received[2 * index + 1] == *message);
    }
    assert!(server.received == messages);
    let too_long = client.connection.send_now(&mut behind_room(&vec![0; MESSAGE_BYTES_MAX + 1]));
    assert_eq!(too_long, Err(WsSendError::TooLarge));
    let statistics = server.connection().statistics();
    assert_eq!((statistics.messages_in, statistics.messages_out), (8, 16));
    assert_eq!(statistics.bytes_out, client.connection.statistics().bytes_in);
}

#[test]
fn messages_between_two_flushes_leave_in_one_write() {
    let mut server = Server::new(loopback_v4());
    let mut client = Client::connected(&mut server);
    let before = server.connection().statistics().writes;
    for number in 0..200_u8 {
        server.connection().send(&[number; 100]).unwrap();
    }
    assert_eq!(server.connection().unsent_bytes(), 200 * 102);
    server.connection().flush();
    assert_eq!(server.connection().statistics().writes, before + 1);
    assert_eq!(server.connection().unsent_bytes(), 0);
    run_until(&mut server, &mut client, "all arrive", |_, client| client.received.len() == 200);
    assert!(client.received.iter().enumerate().all(|(index, bytes)| bytes == &[index as u8; 100]));
}

#[test]
fn a_dual_stack_listener_reports_ipv4_clients_as_ipv4() {
    let mut server = Server::new((Ipv6Addr::UNSPECIFIED, 0).into());
    server.address = (Ipv4Addr::LOCALHOST, server.address.port()).into();
    Client::connected(&mut server);
    assert_eq!(server.connection().peer_addr().ip(), Ipv4Addr::LOCALHOST);
}

#[test]
fn tungstenite_as_a_client_interoperates() {
    let mut server = Server::new(loopback_v4());
    let address = server.address;
    let thread = std::thread::spawn(move || {
        let tcp = std::net::TcpStream::connect(address).unwrap();
        tcp.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let (mut socket, _) = tungstenite::client(format!("ws://{address}/"), tcp).unwrap();
        socket.send(tungstenite::Message::binary(vec![9; 3_000])).unwrap();
        let echo = socket.read().unwrap();
        socket.close(None).unwrap();
        while socket.read().is_ok() {}
        echo
    });
    server.run_until("the message arrives", |server| !server.received.is_empty());
    let message = server.received[0].clone();
    server.connection().send(&message).unwrap();
    server.connection().flush();
    server.run_until("it says goodbye", |server| server.connection().is_closed());
    assert_eq!(thread.join().unwrap(), tungstenite::Message::binary(message));
}

#[test]
fn the_handshake_response_follows_the_rfc_and_accepts_the_subprotocol() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::new(server.address);
    client.send(REQUEST.as_bytes());
    server.run_until("it is answered", |_| {
        client.read();
        client.received.ends_with(b"\r\n\r\n")
    });
    let answer = client.text().to_lowercase();
    assert!(answer.starts_with("http/1.1 101 "), "{answer}");
    assert!(answer.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"), "{answer}");
    assert!(answer.contains("sec-websocket-protocol: skipstone.1\r\n"), "{answer}");
}

#[test]
fn fragments_are_joined_text_is_ignored_and_pings_are_answered() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    client.send(&client_frame(0x02, b"one "));
    client.send(&client_frame(0x89, b"still there?"));
    client.send(&client_frame(0x80, b"message"));
    client.send(&client_frame(0x81, b"text"));
    client.send(&client_frame(0x82, b"last"));
    server.run_until("both arrive", |server| server.received.len() == 2);
    assert_eq!(server.received, [b"one message".to_vec(), b"last".to_vec()]);
    let statistics = server.connection().statistics();
    assert_eq!((statistics.text_ignored, statistics.control_in), (1, 1));
    server.run_until("the pong arrives", |_| {
        client.read();
        client.received == [&[0x8a, 12], &b"still there?"[..]].concat()
    });
}

#[test]
fn a_pong_is_sent_without_the_next_event() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    client.send(&client_frame(0x89, b"?"));
    server.run_until("the ping arrives", |server| server.connection().statistics().control_in == 1);
    let deadline = Instant::now() + Duration::from_secs(5);
    while client.received.is_empty() {
        assert!(Instant::now() < deadline, "not without another turn of the server");
        client.read();
    }
    assert_eq!(client.received, [0x8a, 1, b'?']);
}

#[test]
fn a_flood_is_read_in_bounded_shares() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    client.tcp.set_nonblocking(false).unwrap();
    let frame = client_frame(0x82, &[1; 1_000]);
    client.send(&frame.repeat(200));
    let connection = server.connection();
    let deadline = Instant::now() + Duration::from_secs(5);
    let (mut messages, mut shares) = (0, 0);
    while messages < 200 {
        assert!(Instant::now() < deadline);
        connection.on_ready(true);
        let before = messages;
        let end = loop {
            match connection.receive() {
                WsReceive::Message(_) => messages += 1,
                end => break end,
            }
        };
        shares += u32::from(end == WsReceive::More);
        assert!(messages - before <= 66, "64 KiB are one share");
    }
    assert!(shares >= 2, "200 KB are more than one share");
}

#[test]
fn bad_urls_are_refused() {
    let untrusted = WsConnection::connect("wss://host/", loopback_v4(), WsOptions::default(), None);
    assert!(matches!(untrusted, Err(WsConnectError::NoTrust)));
    for url in ["http://host/", "host", "", "ws://", "ws://host/ a", "ws://host/\r\nX: y", "/path"] {
        let result = WsConnection::connect(url, loopback_v4(), WsOptions::default(), None);
        assert!(matches!(result, Err(WsConnectError::BadUrl)), "{url:?}");
    }
}
