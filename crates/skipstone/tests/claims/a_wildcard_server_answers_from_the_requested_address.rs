//! A server on all addresses is reached at each of them, on every carrier, also with shards. On a machine, that is the
//! loopback's network of IPv4, and `::1`; in a namespace with these addresses, three of IPv6 besides:
//!
//! ```sh
//! unshare -rn sh -c 'ip link set lo up; for n in 1 2 3; do ip addr add fd00:7::$n/128 dev lo; done; cargo test …'
//! ```

use super::eventually;
use crate::web_player::WebPlayer;
use skipstone::{Client, ClientConfig, Event, Security, Server, ServerConfig, query};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const SPAN: Duration = Duration::from_secs(10);

/// The addresses of a list that this machine has.
fn addresses() -> Vec<IpAddr> {
    let all = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "::1", "fd00:7::1", "fd00:7::2", "fd00:7::3"];
    let all = all.into_iter().map(|ip| ip.parse::<IpAddr>().expect("an address"));
    all.filter(|ip| UdpSocket::bind((*ip, 0)).is_ok()).collect()
}

/// A server that accepts every client and sends its messages back.
fn serve(listen: &str, shards: u32) -> Server {
    let security = Security::self_signed().expect("it is made").allowing_plain();
    let config = ServerConfig {
        shards,
        security: Some(security),
        query_answer: Some("3 of 8".into()),
        ..ServerConfig::new(listen.parse().expect("an address"))
    };
    Server::start(config).expect("a port is free")
}

fn echo(server: &mut Server) {
    server.wait(Duration::from_millis(1));
    while let Some(event) = server.poll_event() {
        match event {
            Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
            Event::Message { peer, channel, payload, .. } => drop(server.send(peer, channel, payload).expect("room")),
            _ => {}
        }
    }
    server.flush().expect("it runs");
}

/// Has a client send a message of several datagrams, and receive it again.
fn converse(server: &mut Server, url: &str) {
    let mut client = Client::connect(url, b"", ClientConfig::default()).expect(url);
    let end = Instant::now() + SPAN;
    loop {
        assert!(Instant::now() < end, "{url} is not answered");
        echo(server);
        match client.poll_event() {
            Some(Event::Connected { .. }) => drop(client.send(7, vec![9; 20_000]).expect("room")),
            Some(Event::Message { payload, .. }) => return assert_eq!(payload.len(), 20_000),
            Some(Event::Closed { close, .. }) => panic!("{url}: {close:?}"),
            _ => {}
        }
    }
}

fn converse_from_a_page(server: &mut Server, at: SocketAddr) {
    let mut page = WebPlayer::new(at);
    page.socket = UdpSocket::bind(if at.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }).expect("a port is free");
    page.socket.set_nonblocking(true).expect("it may");
    let mut has_spoken = false;
    let is_heard = eventually(|| {
        echo(server);
        page.step();
        if page.is_connected && !core::mem::replace(&mut has_spoken, page.is_connected) {
            page.say("from the page");
        }
        page.heard.len() == 1
    });
    assert!(is_heard, "https://{at} is not answered: {:?}", page.page.lost);
}

fn every_carrier_at(server: &mut Server, at: SocketAddr) {
    let fingerprint = server.url().split_once('#').expect("it is encrypted").1.to_owned();
    for scheme in ["skip", "skip+dtls", "wss"] {
        converse(server, &format!("{scheme}://{at}#{fingerprint}"));
    }
    for scheme in ["skip+plain", "ws", "tcp"] {
        converse(server, &format!("{scheme}://{at}"));
    }
    converse_from_a_page(server, at);
    assert_eq!(query(&at.to_string(), SPAN).expect("an answer").payload, "3 of 8");
}

#[test]
fn every_address_on_every_carrier_with_and_without_shards() {
    let addresses = addresses();
    for (listen, shards) in [("0.0.0.0:0", 1), ("[::]:0", 1), ("0.0.0.0:0", 2), ("[::]:0", 2)] {
        let mut server = serve(listen, shards);
        let of_family = addresses.iter().filter(|ip| ip.is_ipv4() || server.local_addr().is_ipv6());
        for ip in of_family.copied().collect::<Vec<_>>() {
            let at = SocketAddr::new(ip, server.local_addr().port());
            every_carrier_at(&mut server, at);
        }
    }
}

#[test]
fn the_url_of_the_unspecified_address_is_reachable() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let mut server = serve(listen, 1);
        let url = server.url();
        converse(&mut server, &url);
        // A player copies the address that an operator wrote for listening.
        let port = server.local_addr().port();
        converse(&mut server, &format!("skip+plain://0.0.0.0:{port}"));
        converse(&mut server, &format!("skip+plain://[::ffff:127.0.0.1]:{port}"));
        converse(&mut server, &format!("ws://0.0.0.0:{port}"));
        assert_eq!(query(&format!("0.0.0.0:{port}"), SPAN).expect("an answer").payload, "3 of 8");
    }
}
