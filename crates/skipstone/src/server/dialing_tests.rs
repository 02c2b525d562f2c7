//! Servers with several addresses, returned by a resolver that each test chooses.

use super::*;
use crate::client::ClientConfig;
use crate::handle::Threading;
use crate::security::Trust;
use crate::url::UrlError;
use skipstone_proto::{Close, code};
use std::net::{TcpListener, UdpSocket};
use std::time::Instant;

const NAME: &str = "game.example.com";
const MODES: [Threading; 2] = [Threading::Background, Threading::Stepped];

fn server() -> Server {
    let security = Some(Security::self_signed().expect("it is made").allowing_plain());
    Server::start(ServerConfig { security, ..ServerConfig::new("127.0.0.1:0".parse().expect("an address")) })
        .expect("a port is free")
}

/// A client of a name that has these addresses.
fn connect(scheme: &str, addresses: &[SocketAddr], config: ClientConfig) -> Client {
    let addresses = addresses.to_vec();
    let resolve = Box::new(move |host: &str, port: u16| {
        assert_eq!((host, port), (NAME, 7_777));
        Ok(addresses)
    });
    Client::connect_by(resolve, &format!("{scheme}://{NAME}"), b"", config).expect("it begins")
}

fn config(threading: Threading) -> ClientConfig {
    ClientConfig { threading, ..ClientConfig::default() }
}

/// The client's first event, while the server accepts every client.
fn outcome(client: &mut Client, mut server: Option<&mut Server>) -> Event {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        assert!(Instant::now() < end, "neither connected nor closed");
        client.wait(Duration::from_millis(2));
        if let Some(event) = client.poll_event() {
            return event;
        }
        while let Some(Event::Requested { peer, .. }) = server.as_mut().and_then(|server| server.poll_event()) {
            server.as_mut().expect("it just said so").accept(peer).expect("it waits");
        }
    }
}

fn close_of(client: &mut Client) -> Close {
    match outcome(client, None) {
        Event::Closed { close, .. } => close,
        event => panic!("{event:?}"),
    }
}

/// Addresses that receive datagrams and do not answer; dropping the socket frees the address.
fn silent() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let address = socket.local_addr().expect("it is bound");
    (socket, address)
}

/// An address that refuses TCP connections.
fn refusing() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port is free")
}

#[test]
fn the_first_answering_address_wins_on_every_carrier() {
    for (scheme, threading) in [("skip+plain", MODES[0]), ("skip+plain", MODES[1]), ("ws", MODES[0]), ("ws", MODES[1])]
    {
        let mut server = server();
        let ((_socket, dead), live) = (silent(), server.local_addr());
        let addresses = if scheme == "ws" { [refusing(), live] } else { [dead, live] };
        let mut client = connect(scheme, &addresses, config(threading));
        let at_once = client.remote_addr();
        // A driver of its own thread may have found the server by now.
        let may_know = threading == Threading::Background && at_once == Some(live);
        assert!(at_once.is_none() || may_know, "{at_once:?}");
        let event = outcome(&mut client, Some(&mut server));
        assert!(matches!(event, Event::Connected { peer, .. } if peer == client.peer()), "{event:?}");
        assert_eq!(client.remote_addr(), Some(live));
        // The connection works like any other.
        client.send(0, "hello").expect("room");
        let end = Instant::now() + Duration::from_secs(20);
        let heard = loop {
            assert!(Instant::now() < end, "the message arrives");
            client.wait(Duration::from_millis(1));
            if let Some(Event::Message { payload, .. }) = server.poll_event() {
                break payload;
            }
        };
        assert_eq!(heard, "hello");
    }
}

#[test]
fn an_encrypted_server_is_found_after_a_dead_and_an_unreachable_address() {
    let mut server = server();
    let (_socket, dead) = silent();
    // Reserved for documentation: without an IPv6 network there is no route, and with one there is no answer.
    let nowhere = "[2001:db8::1]:7777".parse().expect("an address");
    let client = ClientConfig { trust: Trust::Pinned(server.fingerprint().expect("it encrypts")), ..config(MODES[0]) };
    let mut client = connect("skip", &[nowhere, dead, server.local_addr()], client);
    assert!(matches!(outcome(&mut client, Some(&mut server)), Event::Connected { .. }));
    assert_eq!(client.remote_addr(), Some(server.local_addr()));
}

#[test]
#[cfg(feature = "dtls")]
fn a_dtls_server_is_found_after_a_dead_address() {
    for threading in MODES {
        let mut server = server();
        let ((_socket, dead), pin) = (silent(), server.fingerprint().expect("it encrypts"));
        let client = ClientConfig { trust: Trust::Pinned(pin), ..config(threading) };
        let mut client = connect("skip+dtls", &[dead, server.local_addr()], client);
        assert!(matches!(outcome(&mut client, Some(&mut server)), Event::Connected { .. }));
        assert_eq!(client.remote_addr(), Some(server.local_addr()));
        // Another server, and an address without a server.
        let client = ClientConfig { trust: Trust::Pinned(Fingerprint([7; 32])), ..config(threading) };
        let close = close_of(&mut connect("skip+dtls", &[server.local_addr()], client));
        assert!(close.reason_text().contains("fingerprint"), "{}", close.reason_text());
        let handshake_timeout = Duration::from_millis(500);
        let client = ClientConfig { trust: Trust::Pinned(pin), handshake_timeout, ..config(threading) };
        assert_eq!(close_of(&mut connect("skip+dtls", &[dead], client)).code, code::HANDSHAKE_TIMEOUT);
    }
}

#[test]
#[cfg(feature = "simulate")]
fn a_server_is_found_through_a_bad_network() {
    let mut server = server();
    let (_socket, dead) = silent();
    let impairment = Some(Impairment { seed: 1, ..Impairment::default() });
    let client = ClientConfig { impairment, ..config(MODES[0]) };
    let mut client = connect("skip+plain", &[dead, server.local_addr()], client);
    assert!(matches!(outcome(&mut client, Some(&mut server)), Event::Connected { .. }));
}

#[test]
fn when_no_address_answers_the_reason_lists_them() {
    for threading in MODES {
        let ((_a, first), (_b, second)) = (silent(), silent());
        let handshake_timeout = Duration::from_millis(1_000);
        let mut client =
            connect("skip+plain", &[first, second], ClientConfig { handshake_timeout, ..config(threading) });
        let close = close_of(&mut client);
        assert_eq!(close.code, code::HANDSHAKE_TIMEOUT);
        let reason = close.reason_text();
        let expected = format!("'{NAME}' did not answer in time: {first} (no answer), {second} (no answer)");
        assert_eq!(reason, expected);

        let (first, second) = (refusing(), refusing());
        let mut client = connect("ws", &[first, second], config(threading));
        let close = close_of(&mut client);
        assert_eq!(close.code, code::UNREACHABLE);
        let reason = close.reason_text();
        assert!(reason.contains(&first.to_string()) && reason.contains(&second.to_string()), "{reason}");
        assert!(reason.contains("refused"), "{reason}");
        assert_eq!(client.remote_addr(), None);
    }
}

#[test]
fn a_name_without_address_and_a_silent_name_server_end_in_closed() {
    for threading in MODES {
        let unresolved = |host: &str, _: u16| Err(UrlError::Unresolved(host.into(), "no such host".into()));
        let url = format!("skip+plain://{NAME}");
        let mut client = Client::connect_by(Box::new(unresolved), &url, b"", config(threading)).expect("it begins");
        let close = close_of(&mut client);
        assert_eq!(
            (close.code, &*close.reason_text()),
            (code::UNREACHABLE, "'game.example.com' has no address: no such host")
        );

        // The resolver's thread hangs as long as the test keeps the other end.
        let (_keep, hang) = std::sync::mpsc::channel::<()>();
        let silent = move |_: &str, _: u16| {
            let _ = hang.recv();
            Ok(Vec::new())
        };
        let client = ClientConfig { handshake_timeout: Duration::from_millis(50), ..config(threading) };
        let mut client = Client::connect_by(Box::new(silent), &url, b"", client).expect("it does not wait");
        let close = close_of(&mut client);
        assert_eq!(close.code, code::HANDSHAKE_TIMEOUT);
        assert!(close.reason_text().contains("name server"), "{}", close.reason_text());
    }
}

#[test]
fn a_client_closed_while_dialing_ends_at_once() {
    let (_socket, dead) = silent();
    let began = Instant::now();
    connect("skip+plain", &[dead], config(MODES[0])).close(7, "changed my mind", Duration::from_secs(9));
    assert!(began.elapsed() < Duration::from_secs(5), "nobody has to be told");
}

#[test]
fn the_name_of_this_host_is_resolved_by_the_system() {
    let mut server = server();
    let url = format!("skip+plain://localhost:{}", server.local_addr().port());
    let mut client = Client::connect(&url, b"", config(MODES[0])).expect("it begins");
    assert!(matches!(outcome(&mut client, Some(&mut server)), Event::Connected { .. }));
    assert_eq!(client.remote_addr(), Some(server.local_addr()));
}
