//! Native and WebSocket clients, IPv4 and IPv6, arrive in one event queue; messages go both ways; both sides get the
//! end.

#[cfg(feature = "dtls")]
use skipstone::DtlsVersion;
use skipstone::{Client, ClientConfig, Event, Security, Server, ServerConfig, Threading, code};
use std::time::{Duration, Instant};

/// Runs a server that sends everything back, until the client has its answer and both know that it is over.
fn echo(listen: &str, scheme: &str, threading: Threading) {
    echo_by(listen, scheme, ClientConfig { threading, ..ClientConfig::default() });
}

fn echo_by(listen: &str, scheme: &str, client: ClientConfig) {
    let threading = client.threading;
    let security = Security::self_signed().expect("it is made").allowing_plain();
    let listen = listen.parse().expect("an address");
    let config = ServerConfig { threading, security: Some(security), ..ServerConfig::new(listen) };
    let mut server = Server::start(config).expect("a port is free");
    let url = match scheme {
        "skip" => server.url(),
        "skip+dtls" => server.url().replace("skip://", "skip+dtls://"),
        "wss" => server.url().replace("skip://", "wss://"),
        _ => format!("{scheme}://{}", server.local_addr()),
    };
    let mut client = Client::connect(&url, b"a token", client).expect(&url);
    let end = Instant::now() + Duration::from_secs(20);
    let (mut is_echoed, mut server_closed, mut peer_at_server) = (false, false, None);
    while !(is_echoed && server_closed) {
        assert!(Instant::now() < end, "{url}: echoed {is_echoed}, closed {server_closed}");
        server.drive(Duration::from_millis(1)).expect("it drives");
        client.drive(Duration::from_millis(1)).expect("it drives");
        if threading == Threading::Background {
            server.wait(Duration::from_millis(1));
        }
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, token, remote } => {
                    assert_eq!(token, "a token");
                    assert_eq!(remote.ip().to_canonical(), server.local_addr().ip(), "a client on this machine");
                    assert_ne!(remote.port(), 0);
                    peer_at_server = Some(peer);
                    server.accept(peer).expect("it waits");
                }
                Event::Message { peer, channel, payload, .. } => {
                    server.send(peer, channel, payload).expect("room");
                }
                Event::Closed { .. } => server_closed = true,
                _ => {}
            }
        }
        server.flush().expect("it runs");
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { .. } => drop(client.send(7, vec![9; 100_000]).expect("room")),
                Event::Message { channel, payload, .. } => {
                    assert_eq!((channel, payload.len()), (7, 100_000));
                    is_echoed = true;
                    server
                        .close(peer_at_server.take().expect("it asked"), code::KICKED, "enough", Duration::ZERO)
                        .expect("it stands");
                }
                Event::Closed { close, .. } => {
                    assert_eq!((close.code, close.reason_text().as_ref()), (code::KICKED, "enough"))
                }
                _ => {}
            }
        }
    }
}

#[test]
fn encrypted_over_ipv4() {
    echo("127.0.0.1:0", "skip", Threading::Background);
}

#[test]
fn encrypted_over_ipv6_stepped_manually() {
    echo("[::1]:0", "skip", Threading::Stepped);
}

#[test]
#[cfg(feature = "dtls")]
fn dtls_over_ipv4_in_both_versions() {
    for dtls_version in [DtlsVersion::V1_2, DtlsVersion::V1_3] {
        echo_by("127.0.0.1:0", "skip+dtls", ClientConfig { dtls_version, ..ClientConfig::default() });
    }
}

#[test]
#[cfg(feature = "dtls")]
fn dtls_over_ipv6_stepped_manually() {
    echo("[::1]:0", "skip+dtls", Threading::Stepped);
}

#[test]
fn udp_over_ipv4() {
    echo("127.0.0.1:0", "skip+plain", Threading::Background);
}

#[test]
fn udp_over_ipv6() {
    echo("[::1]:0", "skip+plain", Threading::Background);
}

#[test]
fn udp_stepped_manually() {
    echo("127.0.0.1:0", "skip+plain", Threading::Stepped);
}

#[test]
#[cfg(feature = "websocket")]
fn websocket_over_ipv4() {
    echo("127.0.0.1:0", "ws", Threading::Background);
}

#[test]
#[cfg(feature = "websocket")]
fn websocket_over_ipv6() {
    echo("[::1]:0", "ws", Threading::Background);
}

#[test]
#[cfg(feature = "websocket")]
fn websocket_stepped_manually() {
    echo("127.0.0.1:0", "ws", Threading::Stepped);
}

#[test]
#[cfg(feature = "websocket")]
fn secure_websocket_over_ipv4_and_ipv6() {
    echo("127.0.0.1:0", "wss", Threading::Background);
    echo("[::1]:0", "wss", Threading::Stepped);
}

#[test]
#[cfg(feature = "websocket")]
fn tcp_without_websocket() {
    echo("127.0.0.1:0", "tcp", Threading::Background);
    echo("[::1]:0", "tcp", Threading::Stepped);
}
