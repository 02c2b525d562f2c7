//! A server browser: servers answer queries without a connection, and the browser queries them all at once.
//!
//! `cargo run -p skipstone-examples --example query`

use skipstone::{QueryBatch, QueryConfig, Server, ServerConfig};
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

/// An entry of the server list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The server's address.
    pub address: SocketAddr,
    /// Round-trip time from the query to the answer.
    pub rtt: Duration,
    /// The server's answer: here its name and its number of players.
    pub text: String,
}

/// Two servers, and an address where no server listens.
pub fn main() -> Result<(), Box<dyn Error>> {
    let servers = [serve("Harbour, 3 of 8")?, serve("Old mill, 8 of 8")?];
    let nobody = "127.0.0.1:9".parse()?;
    let addresses: Vec<SocketAddr> = servers.iter().map(Server::local_addr).chain([nobody]).collect();
    for server in browse(&addresses)? {
        println!("{:<21} {:>5.1} ms  {}", server.address.to_string(), server.rtt.as_secs_f64() * 1e3, server.text);
    }
    Ok(())
}

/// A server that answers queries; a real one calls `Server::set_query_answer` whenever a player joins or leaves.
pub fn serve(text: &'static str) -> Result<Server, Box<dyn Error>> {
    let config = ServerConfig { query_answer: Some(text.into()), ..ServerConfig::new("127.0.0.1:0".parse()?) };
    Ok(Server::start(config)?)
}

/// Queries all these servers; returns those that answer within half a second, those with the lowest round-trip time
/// first.
pub fn browse(servers: &[SocketAddr]) -> Result<Vec<Listed>, Box<dyn Error>> {
    let mut batch = QueryBatch::new(QueryConfig { timeout: Duration::from_millis(500), ..QueryConfig::default() })?;
    servers.iter().for_each(|server| batch.ask(*server));
    let mut found = Vec::new();
    while !batch.is_done() {
        // A game with frames calls `poll` once per frame, and does not wait.
        batch.wait(Duration::from_millis(50));
        while let Some((address, outcome)) = batch.poll() {
            // A server that does not answer is not listed. The answer is not authenticated: display it, do not trust
            // it.
            let Ok(answer) = outcome else { continue };
            let text = String::from_utf8_lossy(&answer.payload).into_owned();
            found.push(Listed { address, rtt: answer.rtt, text });
        }
    }
    found.sort_by_key(|server| server.rtt);
    Ok(found)
}
