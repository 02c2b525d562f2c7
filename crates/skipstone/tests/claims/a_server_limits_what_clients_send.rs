//! The server's inbound rules and caps on bandwidth reach the protocol, on every carrier.

use crate::eventually;
use skipstone::{Client, ClientConfig, Direction, Event, Group, InboundRule, SendRefusal, Server, ServerConfig, code};
use std::time::{Duration, Instant};

/// Accepts the client and returns once both sides know it.
fn connect(server: &mut Server, client: &mut Client) {
    let (mut of_server, mut of_client) = (false, false);
    let is_connected = eventually(|| {
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, .. } => server.accept(peer).expect("it asked"),
                Event::Connected { .. } => of_server = true,
                _ => {}
            }
        }
        while let Some(event) = client.poll_event() {
            of_client |= matches!(event, Event::Connected { .. });
        }
        of_server && of_client
    });
    assert!(is_connected);
}

#[test]
fn a_client_sending_on_a_server_only_channel_is_closed_with_the_reason() {
    let inbound = vec![InboundRule { direction: Direction::ServerToClient, ..InboundRule::new(5..=9) }];
    let mut server = Server::start(ServerConfig { inbound, ..ServerConfig::offline() }).expect("it may");
    let mut client = server.connect_local(b"", ClientConfig::default()).expect("it may");
    connect(&mut server, &mut client);
    client.send(4, "allowed").expect("nobody told it");
    client.send(5, "forbidden").expect("nobody told it");
    let (mut close, mut messages) = (None, 0);
    assert!(eventually(|| {
        while let Some(event) = server.poll_event() {
            messages += usize::from(matches!(event, Event::Message { .. }));
        }
        while let Some(event) = client.poll_event() {
            if let Event::Closed { close: of_client, .. } = event {
                close = Some(of_client);
            }
        }
        close.is_some()
    }));
    let close = close.expect("it is closed");
    assert_eq!((close.code, messages), (code::PROTOCOL, 1));
    assert!(String::from_utf8_lossy(&close.reason).contains("channel 5: only the server"), "{:?}", close.reason);
}

#[test]
fn a_server_does_not_send_on_client_only_channels() {
    let inbound = vec![InboundRule { direction: Direction::ClientToServer, ..InboundRule::new(5..=9) }];
    let mut server = Server::start(ServerConfig { inbound, ..ServerConfig::offline() }).expect("it may");
    let mut client = server.connect_local(b"", ClientConfig::default()).expect("it may");
    connect(&mut server, &mut client);
    let error = server.broadcast(Group::EVERYONE, 5, "theirs").expect_err("it is the clients'");
    assert_eq!(error.reason, SendRefusal::WrongDirection { channel: 5 });
    server.broadcast(Group::EVERYONE, 4, "everyone's").expect("it may");
    client.send(5, "theirs").expect("it may");
    assert!(eventually(|| matches!(server.poll_event(), Some(Event::Message { .. }))));
}

#[test]
fn a_client_keeps_its_cap() {
    const CAP: u64 = 200_000;
    let mut server = Server::start(ServerConfig::offline()).expect("it may");
    let capped = ClientConfig { bandwidth_max: Some(CAP), ..ClientConfig::default() };
    let mut client = server.connect_local(b"", capped).expect("it may");
    connect(&mut server, &mut client);
    let began = Instant::now();
    client.send(0, vec![7; 100_000]).expect("there is room");
    assert!(eventually(|| matches!(server.poll_event(), Some(Event::Message { .. }))));
    let (took, least) = (began.elapsed(), Duration::from_millis(450));
    assert!(took >= least, "100,000 bytes at {CAP} bytes per second took {took:?}");
}
