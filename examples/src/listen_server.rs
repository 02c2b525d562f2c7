//! A player who hosts the game: the host's client is in the server's process and needs no socket, a friend joins over
//! the network, and the same code runs for both. Offline it is the same game without a network.
//!
//! `cargo run -p skipstone-examples --example listen_server`

use skipstone::{Client, ClientConfig, Event, Group, Server, ServerConfig, code};
use std::error::Error;
use std::time::{Duration, Instant};

/// Turns that each player takes.
pub const TURNS: u32 = 3;
const LINGER: Duration = Duration::from_millis(500);

/// First a single player, then a host with a friend.
pub fn main() -> Result<(), Box<dyn Error>> {
    // No socket is opened, and nothing is encrypted.
    let server = Server::start(ServerConfig::offline())?;
    let host = server.connect_local(b"Zoe", ClientConfig::default())?;
    println!("alone:    {}", play(server, vec![host])?);

    let server = Server::start(ServerConfig::new("127.0.0.1:0".parse()?))?;
    let host = server.connect_local(b"Zoe", ClientConfig::default())?;
    // This line usually runs in another process, on the friend's machine.
    let friend = Client::connect(&server.url(), b"Bob", ClientConfig::default())?;
    println!("together: {}", play(server, vec![host, friend])?);
    Ok(())
}

/// One game loop for the server and its players, until every player has received the last turn of all. Returns the
/// score.
pub fn play(mut server: Server, mut players: Vec<Client>) -> Result<u32, Box<dyn Error>> {
    let (all, deadline) = (TURNS * players.len() as u32, Instant::now() + Duration::from_secs(20));
    let mut scores = vec![0; players.len()];
    let mut score = 0;
    while scores.iter().any(|seen| *seen < all) {
        if Instant::now() > deadline {
            return Err("the game takes too long".into());
        }
        server.wait_tick(Duration::from_millis(5));
        while let Some(event) = server.poll_event() {
            match event {
                // The game treats local and remote players alike, unless it checks `remote`.
                Event::Requested { peer, .. } => server.accept(peer)?,
                Event::Message { .. } => {
                    score += 1;
                    server.broadcast(Group::EVERYONE, 0, score.to_string())?;
                }
                _ => {}
            }
        }
        server.flush()?;
        for (player, seen) in players.iter_mut().zip(&mut scores) {
            take_turns(player, seen)?;
        }
    }
    server.shutdown(code::SHUTDOWN, "the game is over", LINGER);
    Ok(score)
}

/// Runs one player's frame, the same for the host and for a friend.
fn take_turns(player: &mut Client, seen: &mut u32) -> Result<(), Box<dyn Error>> {
    while let Some(event) = player.poll_event() {
        match event {
            Event::Connected { .. } => {
                for _ in 0..TURNS {
                    player.send(0, "a turn")?;
                }
            }
            // A player who joins later has missed some scores; the last score contains all of them.
            Event::Message { payload, .. } => *seen = std::str::from_utf8(&payload)?.parse()?,
            Event::Closed { close, .. } => return Err(close.reason_text().into()),
            _ => {}
        }
    }
    Ok(())
}
