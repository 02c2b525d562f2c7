//! A client does not wait for timeouts where the network says that no server is there, or the server says that it does
//! not know the connection.

use skipstone::{Client, ClientConfig, Close, Event, Security, Server, ServerConfig, code};
#[cfg(feature = "dtls")]
use skipstone::{DtlsVersion, Trust};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Far below the handshake's timeout of ten seconds and the idle timeout of thirty, and far above the time that a busy
/// machine needs.
const SOON: Duration = Duration::from_secs(5);

fn server(listen: SocketAddr, security: Security) -> Server {
    Server::start(ServerConfig { security: Some(security), websocket: false, ..ServerConfig::new(listen) })
        .expect("the port is free")
}

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// How the connection ends, with the server taking its turns as long as it is there.
fn end_of(client: &mut Client, server: &mut Option<Server>) -> Close {
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < SOON, "it goes on waiting");
        client.wait(Duration::from_millis(5));
        while let Some(event) = client.poll_event() {
            if let Event::Closed { close, .. } = event {
                return close;
            }
        }
        if let Some(server) = server {
            while let Some(event) = server.poll_event() {
                if let Event::Requested { peer, .. } = event {
                    let _ = server.accept(peer);
                }
            }
        }
    }
}

fn connect(server: &mut Server) -> Client {
    let url = server.url();
    connect_by(server, &url, ClientConfig::default())
}

fn connect_by(server: &mut Server, url: &str, config: ClientConfig) -> Client {
    let mut client = Client::connect(url, b"", config).expect("a good URL");
    loop {
        client.wait(Duration::from_millis(5));
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it asks");
            }
        }
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { .. } => return client,
                event => assert!(!matches!(event, Event::Closed { .. }), "{event:?}"),
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_port_without_a_server_ends_the_attempt() {
    let closed = std::net::UdpSocket::bind(any()).and_then(|socket| socket.local_addr()).expect("a port");
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("skip+plain://{host}:{}", closed.port());
        let mut client = Client::connect(&url, b"", ClientConfig::default()).expect("a good URL");
        let close = end_of(&mut client, &mut None);
        assert_eq!(close.code, code::UNREACHABLE, "{}", close.reason_text());
        assert!(close.reason_text().contains("no server listens"), "{}", close.reason_text());
    }
}

#[test]
fn a_restarted_server_is_detected_with_the_next_packet() {
    for plain in [true, false] {
        let security = || if plain { Security::plain() } else { Security::self_signed().expect("it is made") };
        let mut first = server(any(), security());
        let address = first.local_addr();
        let mut client = connect(&mut first);
        // Its sockets close silently, like those of a killed process.
        drop(first);
        let mut second = Some(server(address, security()));
        client.send(0, "is anybody there?").expect("it stands");
        let close = end_of(&mut client, &mut second);
        assert_eq!(close.code, code::CARRIER_LOST, "{}", close.reason_text());
        assert!(close.reason_text().contains("restarted"), "{}", close.reason_text());
    }
}

#[test]
#[cfg(feature = "dtls")]
fn a_server_without_the_dtls_session_is_detected_too() {
    for dtls_version in [DtlsVersion::V1_2, DtlsVersion::V1_3] {
        let security = || Security::self_signed().expect("it is made");
        let mut first = server(any(), security());
        let address = first.local_addr();
        let config = ClientConfig { trust: Trust::DangerouslyAnything, dtls_version, ..ClientConfig::default() };
        let url = format!("skip+dtls://{address}");
        let mut client = connect_by(&mut first, &url, config.clone());
        drop(first);
        let mut second = Some(server(address, security()));
        client.send(0, "is anybody there?").expect("it stands");
        let close = end_of(&mut client, &mut second);
        assert_eq!(close.code, code::CARRIER_LOST, "{}", close.reason_text());
        assert!(close.reason_text().contains("restarted"), "{}", close.reason_text());
        connect_by(second.as_mut().expect("it is there"), &url, config);
    }
}
