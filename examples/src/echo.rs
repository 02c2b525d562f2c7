//! The smallest server, which sends every message back, and the smallest client, which sends one message.
//!
//! `cargo run -p skipstone-examples --example echo`

use skipstone::{Client, ClientConfig, Event, Server, ServerConfig, code};
use std::thread;
use std::time::Duration;

/// Each call of the library has its own error, with cause and remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One server on one port, and two clients that connect by UDP and by WebSocket.
pub fn main() -> Result<(), Failure> {
    // Port 0: the system chooses a free port. UDP and WebSocket share its number.
    let server = Server::start(ServerConfig::new("127.0.0.1:0".parse()?))?;
    // The server encrypts, with a certificate made for this run: the URL names the certificate's fingerprint.
    let (url, address) = (server.url(), server.local_addr());
    let serving = thread::spawn(|| serve(server, 2));
    println!("{}", ask(&url, "hello over UDP")?);
    println!("{}", ask(&format!("ws://{address}"), "hello over WebSocket")?);
    serving.join().map_err(|_| "the server panicked")??;
    Ok(())
}

/// Sends every message back, until this number of clients has connected and left.
pub fn serve(mut server: Server, mut visits: u32) -> Result<(), Failure> {
    while visits > 0 {
        // An echo answers at the first event. A game calls `wait_tick`, which runs at a fixed rate.
        server.wait(Duration::from_millis(10));
        while let Some(event) = server.poll_event() {
            match event {
                // The server accepts every client. A game looks at the token first: a name, a password, a ticket.
                Event::Requested { peer, .. } => server.accept(peer)?,
                Event::Message { peer, channel, payload, .. } => drop(server.send(peer, channel, payload)?),
                Event::Closed { .. } => visits -= 1,
                _ => {}
            }
        }
        // Sends everything that was queued since the last flush, several messages in one datagram.
        server.flush()?;
    }
    server.shutdown(code::SHUTDOWN, "the example is over", Duration::from_millis(500));
    Ok(())
}

/// Sends a text and returns the answer.
pub fn ask(url: &str, text: &str) -> Result<String, Failure> {
    let mut client = Client::connect(url, b"", ClientConfig::default())?;
    loop {
        client.wait(Duration::from_millis(100));
        while let Some(event) = client.poll_event() {
            match event {
                // Channel 0 is reliable and ordered by default.
                Event::Connected { .. } => drop(client.send(0, text.to_owned())?),
                Event::Message { payload, .. } => {
                    client.close(code::NONE, "thank you", Duration::from_millis(500));
                    return Ok(String::from_utf8(payload.into())?);
                }
                // Refused, unreachable or lost: every connection ends in exactly one `Closed`.
                Event::Closed { close, .. } => return Err(close.reason_text().into()),
                _ => {}
            }
        }
    }
}
