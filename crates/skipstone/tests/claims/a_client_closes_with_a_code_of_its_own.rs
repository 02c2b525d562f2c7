//! A client that leaves gives a reason: its code and reason are in the server's `Closed` event.

use skipstone::{Client, ClientConfig, ClosedBy, Event, Security, Server, ServerConfig};
use std::time::{Duration, Instant};

#[test]
fn the_server_gets_the_code_and_the_reason() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let mut server = Server::start(ServerConfig { security: Some(Security::plain()), ..ServerConfig::new(listen) })
        .expect("a port is free");
    for scheme in ["skip+plain", "ws"] {
        let url = format!("{scheme}://{}", server.local_addr());
        let mut client = Some(Client::connect(&url, b"", ClientConfig::default()).expect("a socket"));
        let end = Instant::now() + Duration::from_secs(20);
        let close = 'closed: loop {
            assert!(Instant::now() < end, "{url}");
            server.wait(Duration::from_millis(5));
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                    Event::Closed { close, .. } => break 'closed close,
                    _ => {}
                }
            }
            let is_connected = |event| matches!(event, Some(Event::Connected { .. }));
            if let Some(connected) = client.take_if(|client| is_connected(client.poll_event())) {
                connected.close(42, "out of lives", Duration::ZERO);
            }
        };
        assert_eq!((close.by, close.code, &*close.reason_text()), (ClosedBy::Peer, 42, "out of lives"), "{url}");
    }
}
