//! A chat room: the token carries a name, the server decides which clients to accept, and every client receives every
//! line.
//!
//! `cargo run -p skipstone-examples --example chat`

use skipstone::{Client, ClientConfig, Event, Group, Server, ServerConfig, code};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

/// Each call of the library has its own error, with cause and remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The only channel. By default a server's channels are all reliable and ordered.
const LINES: u16 = 0;
const LINGER: Duration = Duration::from_millis(500);

/// Zoe and Bob join, talk and leave; a third guest is refused.
pub fn main() -> Result<(), Failure> {
    let server = Server::start(ServerConfig::new("127.0.0.1:0".parse()?))?;
    let url = server.url();
    let serving = thread::spawn(|| serve(server));

    let mut zoe = Guest::join(&url, "Zoe")?;
    zoe.hear("Zoe joined")?;
    let mut bob = Guest::join(&url, "Bob")?;
    zoe.hear("Bob joined")?;
    zoe.say("Hello Bob")?;
    bob.hear("Zoe: Hello Bob")?;
    bob.say("Hello Zoe")?;
    zoe.hear("Bob: Hello Zoe")?;

    if let Err(reason) = Guest::join(&url, "Zoe")?.hear("Zoe joined") {
        println!("a second Zoe: {reason}");
    }
    zoe.leave();
    bob.leave();
    serving.join().map_err(|_| "the server panicked")??;
    Ok(())
}

/// Serves until the last guest has left.
pub fn serve(mut server: Server) -> Result<(), Failure> {
    let mut names = HashMap::new();
    loop {
        server.wait(Duration::from_millis(10));
        while let Some(event) = server.poll_event() {
            match event {
                // Any client can send any token: the server checks it, and answers by `accept` or by `refuse`.
                Event::Requested { peer, token, .. } => match String::from_utf8(token.into()) {
                    Ok(name) if !name.is_empty() && names.values().all(|taken| *taken != name) => {
                        names.insert(peer, name);
                        server.accept(peer)?;
                    }
                    _ => server.refuse(peer, code::REFUSED, "choose another name")?,
                },
                Event::Connected { peer, .. } => {
                    let line = format!("{} joined", names[&peer]);
                    server.broadcast(Group::EVERYONE, LINES, line)?;
                }
                Event::Message { peer, payload, .. } => {
                    let line = format!("{}: {}", names[&peer], String::from_utf8_lossy(&payload));
                    server.broadcast(Group::EVERYONE, LINES, line)?;
                }
                Event::Closed { peer, .. } => {
                    // A refused guest is not in `names`.
                    let was_guest = names.remove(&peer).is_some();
                    if was_guest && names.is_empty() {
                        server.shutdown(code::SHUTDOWN, "the last one has left", LINGER);
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        server.flush()?;
    }
}

/// A guest in the room.
#[derive(Debug)]
pub struct Guest {
    client: Client,
    name: String,
}

impl Guest {
    /// Connects to the room; the guest receives the lines that follow.
    pub fn join(url: &str, name: &str) -> Result<Guest, skipstone::StartError> {
        let client = Client::connect(url, name.as_bytes(), ClientConfig::default())?;
        Ok(Guest { client, name: name.into() })
    }

    /// Sends a line to all guests.
    pub fn say(&mut self, line: &str) -> Result<(), Failure> {
        self.client.send(LINES, line.to_owned())?;
        Ok(())
    }

    /// Prints the lines that arrive, until this one. An error if the connection ends first.
    pub fn hear(&mut self, awaited: &str) -> Result<(), Failure> {
        loop {
            while let Some(event) = self.client.poll_event() {
                match event {
                    Event::Message { payload, .. } => {
                        println!("{} hears: {}", self.name, String::from_utf8_lossy(&payload));
                        if payload == awaited {
                            return Ok(());
                        }
                    }
                    Event::Closed { close, .. } => return Err(close.reason_text().into()),
                    _ => {}
                }
            }
            self.client.wait(Duration::from_millis(100));
        }
    }

    /// Closes the connection. Without the close, the server would wait for its idle timeout.
    pub fn leave(self) {
        self.client.close(code::NONE, "bye", LINGER);
    }
}
