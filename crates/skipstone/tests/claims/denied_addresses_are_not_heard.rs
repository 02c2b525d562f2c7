//! A server hears nothing of the addresses that it denies, on any carrier, and counts what came from them.

use skipstone::{Client, ClientConfig, Event, Security, Server, ServerConfig};
use std::time::{Duration, Instant};

const SPAN_MAX: Duration = Duration::from_secs(20);

fn server(denied: &[&str]) -> Server {
    let config = ServerConfig {
        security: Some(Security::self_signed().expect("a certificate").allowing_plain()),
        denied: denied.iter().map(|text| (*text).to_owned()).collect(),
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    Server::start(config).expect("a port is free")
}

/// Clients of every carrier of this build.
fn clients(server: &Server) -> Vec<Client> {
    let port = server.local_addr().port();
    let schemes = ["skip+plain", "ws", "tcp"].into_iter().filter(|scheme| {
        // The two streams need the feature.
        *scheme == "skip+plain" || cfg!(feature = "websocket")
    });
    let mut urls: Vec<String> = schemes.map(|scheme| format!("{scheme}://127.0.0.1:{port}")).collect();
    urls.push(server.url());
    let connect = |url: &String| Client::connect(url, b"", ClientConfig::default()).expect("it begins");
    urls.iter().map(connect).collect()
}

#[test]
fn a_denied_address_reaches_nothing_until_it_is_allowed() {
    let mut server = server(&["127.0.0.0/8", "192.0.2.1"]);
    let denied_clients = clients(&server);
    let end = Instant::now() + SPAN_MAX;
    while server.driver_stats().denied < denied_clients.len() as u64 {
        assert!(Instant::now() < end, "each is counted");
        server.wait(Duration::from_millis(20));
        assert!(server.poll_event().is_none(), "nobody is heard");
    }
    assert_eq!(server.shards()[0].handshakes, 0, "nothing is kept");
    assert_eq!(server.stats().received.datagrams, 0);
    server.set_denied(&["nonsense".into()]).expect_err("it is no network");
    server.set_denied(&[]).expect("the driver runs");
    let allowed = clients(&server);
    let mut connected = 0;
    while connected < allowed.len() {
        assert!(Instant::now() < end, "they are let in");
        server.wait(Duration::from_millis(20));
        match server.poll_event() {
            Some(Event::Requested { peer, .. }) => server.accept(peer).expect("it waits"),
            Some(Event::Connected { .. }) => connected += 1,
            _ => {}
        }
    }
}

#[test]
fn clients_of_the_same_process_are_never_denied() {
    let mut server = server(&["0.0.0.0/0", "::/0"]);
    let _client = server.connect_local(b"", ClientConfig::default()).expect("it begins");
    let end = Instant::now() + SPAN_MAX;
    while !matches!(server.poll_event(), Some(Event::Requested { .. })) {
        assert!(Instant::now() < end, "it is heard");
        server.wait(Duration::from_millis(20));
    }
}
