//! `Client::server_time` and `Server::time` show the same clock, to within the error that the client states, on every
//! carrier and in every threading mode.

use crate::eventually;
use skipstone::{Client, ClientConfig, Event, Security, Server, ServerConfig, Threading};
use std::time::{Duration, Instant};

/// Has the server accept a client in the same process, until there is an estimate.
fn estimate(mut server: Server, mut client: Client, what: &str) {
    let end = Instant::now() + Duration::from_secs(10);
    assert_eq!(client.server_time(), None, "{what}: nothing was asked yet");
    while client.server_time().is_none() {
        assert!(Instant::now() < end, "{what}: there is no estimate");
        server.drive(Duration::from_millis(1)).expect("it drives");
        client.drive(Duration::from_millis(1)).expect("it drives");
        server.wait(Duration::from_millis(1));
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it waits");
            }
        }
        while client.poll_event().is_some() {}
    }
    for _ in 0..1_000 {
        let before = server.time();
        let time = client.server_time().expect("there is one");
        let after = server.time();
        // Both clocks are of this process; a microsecond is lost to rounding.
        let slack = time.error + Duration::from_micros(2);
        assert!(
            time.at + slack >= before && time.at <= after + slack,
            "{what}: {time:?} between {before:?} and {after:?}"
        );
        assert!(time.error < Duration::from_secs(2), "{what}: {time:?}");
    }
}

fn config(threading: Threading) -> ServerConfig {
    let security = Security::self_signed().expect("it is made").allowing_plain();
    let listen = "127.0.0.1:0".parse().expect("an address");
    ServerConfig { threading, security: Some(security), ..ServerConfig::new(listen) }
}

#[test]
fn on_every_carrier_threaded_and_stepped() {
    for threading in [Threading::Background, Threading::Stepped] {
        for scheme in ["skip", "skip+plain", "ws", "local"] {
            if scheme == "ws" && !cfg!(feature = "websocket") {
                continue;
            }
            let server = Server::start(config(threading)).expect("a port is free");
            let own = ClientConfig { threading, ..ClientConfig::default() };
            let url = if scheme == "skip" { server.url() } else { format!("{scheme}://{}", server.local_addr()) };
            let client = match scheme {
                "local" => server.connect_local(b"", own),
                _ => Client::connect(&url, b"", own),
            };
            estimate(server, client.expect(&url), &format!("{scheme}, {threading:?}"));
        }
    }
}

#[test]
fn with_the_setting_off_no_time_is_requested() {
    let mut server = Server::start(config(Threading::Background)).expect("a port is free");
    let off = ClientConfig { follows_server_time: false, ..ClientConfig::default() };
    let mut client = Client::connect(&server.url(), b"", off).expect("a socket");
    let mut is_connected = false;
    assert!(eventually(|| {
        if let Some(Event::Requested { peer, .. }) = server.poll_event() {
            server.accept(peer).expect("it waits");
        }
        is_connected |= matches!(client.poll_event(), Some(Event::Connected { .. }));
        is_connected && client.overview().is_some_and(|overview| overview.stats.received.datagrams > 0)
    }));
    assert_eq!(client.server_time(), None);
}
