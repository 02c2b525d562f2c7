//! A server ignores datagrams and streams of denied addresses, on any carrier, and counts them.

#[cfg(feature = "webtransport")]
use crate::web_player::WebPlayer;
use skipstone::{Client, ClientConfig, Event, Security, Server, ServerConfig};
#[cfg(all(feature = "websocket", target_os = "linux"))]
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const SPAN_MAX: Duration = Duration::from_secs(20);

fn server(denied: &[&str], shards: u32) -> Server {
    let config = ServerConfig {
        security: Some(Security::self_signed().expect("a certificate").allowing_plain()),
        denied: denied.iter().map(|text| (*text).to_owned()).collect(),
        trusted_proxies: if cfg!(feature = "websocket") { vec!["127.0.0.2".into()] } else { Vec::new() },
        shards,
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    Server::start(config).expect("a port is free")
}

/// URLs of every carrier of this build.
fn urls(server: &Server) -> Vec<String> {
    let (own, port) = (server.url(), server.local_addr().port());
    let mut urls = vec![own.clone(), format!("skip+plain://127.0.0.1:{port}")];
    if cfg!(feature = "websocket") {
        urls.extend(["ws", "tcp"].map(|scheme| format!("{scheme}://127.0.0.1:{port}")));
        urls.push(own.replace("skip://", "wss://"));
    }
    if cfg!(feature = "dtls") {
        urls.push(own.replace("skip://", "skip+dtls://"));
    }
    urls
}

fn connect(url: &str) -> Client {
    Client::connect(url, b"", ClientConfig::default()).expect("it begins")
}

/// Waits until the server has denied something after `before`, and gives no event meanwhile.
fn denied_since(server: &mut Server, before: u64, what: &str, mut step: impl FnMut()) {
    let end = Instant::now() + SPAN_MAX;
    while server.driver_stats().denied <= before {
        assert!(Instant::now() < end, "{what} is counted");
        step();
        server.wait(Duration::from_millis(5));
        assert!(server.poll_event().is_none(), "{what} is not heard");
    }
}

fn nobody_is_known(server: &Server) {
    assert!(server.shards().iter().all(|shard| shard.handshakes == 0), "nothing is kept");
    assert_eq!(server.stats().received.datagrams, 0);
}

/// On systems other than Linux, one port has one shard.
const SHARDS: u32 = if cfg!(target_os = "linux") { 2 } else { 1 };

#[test]
fn a_denied_address_reaches_nothing_until_allowed() {
    for shards in [1, SHARDS] {
        let mut server = server(&["127.0.0.0/8", "192.0.2.1"], shards);
        let urls = urls(&server);
        for url in &urls {
            let before = server.driver_stats().denied;
            let client = connect(url);
            denied_since(&mut server, before, url, || {});
            drop(client);
        }
        nobody_is_known(&server);
        server.set_denied(&["nonsense".into()]).expect_err("it is no network");
        server.set_denied(&[]).expect("the driver runs");
        let mut allowed: Vec<Client> = urls.iter().map(|url| connect(url)).collect();
        let (mut connected, end) = (0, Instant::now() + SPAN_MAX);
        while connected < allowed.len() {
            assert!(Instant::now() < end, "they are let in");
            server.wait(Duration::from_millis(20));
            match server.poll_event() {
                Some(Event::Requested { peer, .. }) => server.accept(peer).expect("it waits"),
                Some(Event::Connected { .. }) => connected += 1,
                _ => {}
            }
            for (client, url) in allowed.iter_mut().zip(&urls) {
                // A driver that was busy learned of the list after this client.
                if let Some(Event::Closed { .. }) = client.poll_event() {
                    *client = connect(url);
                }
            }
        }
    }
}

#[cfg(feature = "webtransport")]
#[test]
fn a_page_at_a_denied_address_reaches_nothing_until_allowed() {
    let mut server = server(&["127.0.0.1"], 1);
    let mut page = WebPlayer::new(server.local_addr());
    denied_since(&mut server, 0, "a page", || page.step());
    nobody_is_known(&server);
    server.set_denied(&[]).expect("the driver runs");
    let (mut page, end) = (WebPlayer::new(server.local_addr()), Instant::now() + SPAN_MAX);
    while !page.is_connected {
        assert!(Instant::now() < end, "it is let in");
        page.step();
        server.wait(Duration::from_millis(2));
        if let Some(Event::Requested { peer, .. }) = server.poll_event() {
            server.accept(peer).expect("it waits");
        }
    }
}

/// The loopback of Linux has more than one address.
#[cfg(all(feature = "websocket", target_os = "linux"))]
#[test]
fn behind_a_proxy_the_players_address_counts() {
    let mut server = server(&["203.0.113.7"], 1);
    let to = server.local_addr();
    let ask = |player: &str| {
        let proxy = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
        let own: std::net::SocketAddr = "127.0.0.2:0".parse().expect("an address");
        proxy.bind(&own.into()).expect("it is this machine's");
        proxy.connect(&to.into()).expect("it listens");
        let mut proxy = std::net::TcpStream::from(proxy);
        proxy.set_read_timeout(Some(SPAN_MAX)).expect("it may");
        write!(proxy, "PROXY TCP4 {player} 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is open");
        let mut answer = String::new();
        // A reset is also an end.
        let _ = proxy.read_to_string(&mut answer);
        answer
    };
    assert_eq!(ask("203.0.113.7"), "");
    denied_since(&mut server, 0, "the player", || {});
    assert!(ask("203.0.113.8").starts_with("HTTP/1.1 "));
    assert_eq!(server.driver_stats().denied, 1, "neither the proxy nor its other players");
}

#[test]
fn clients_of_the_same_process_are_never_denied() {
    let mut server = server(&["0.0.0.0/0", "::/0"], 1);
    let _client = server.connect_local(b"", ClientConfig::default()).expect("it begins");
    let end = Instant::now() + SPAN_MAX;
    while !matches!(server.poll_event(), Some(Event::Requested { .. })) {
        assert!(Instant::now() < end, "it is heard");
        server.wait(Duration::from_millis(20));
    }
}
