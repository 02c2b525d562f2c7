//! A client that a server lets in.

use skipstone::{Client, ClientConfig, Event, Server};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long tests wait for an expected event.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Connects, and returns the client and the address that the server saw.
pub(crate) fn enter(server: &mut Server, url: &str) -> Result<(Client, SocketAddr), String> {
    let mut client = Client::connect(url, b"", ClientConfig::default()).map_err(|error| error.to_string())?;
    let (mut from, end) = (None, Instant::now() + PATIENCE);
    while Instant::now() < end {
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, remote, .. } = event {
                server.accept(peer).expect("it asked");
                from = Some(remote);
            }
        }
        client.wait(Duration::from_millis(5));
        match client.poll_event() {
            Some(Event::Connected { .. }) => return Ok((client, from.expect("it asked before"))),
            Some(Event::Closed { close, .. }) => return Err(format!("{} {}", close.code, close.reason_text())),
            _ => {}
        }
    }
    Err("it is not let in".into())
}
