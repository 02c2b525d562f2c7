//! Queries to servers without a connection, for server browsers. WIRE.md sections 2.9 and 2.10.
//!
//! [`query`] queries one server and waits; [`QueryBatch`] queries hundreds from a game loop. `batch` has the latter,
//! `answer` the types of both.

pub(crate) mod answer;
mod batch;

use crate::url::{Target, reachable};
pub use answer::{QueryAnswer, QueryAnswerError, QueryConfig, QueryError};
pub use batch::QueryBatch;
pub use skipstone_proto::QueryPayloadTooLong;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Queries one server and waits for the answer, for `timeout` at most. The server is a URL, as for
/// [`Client::connect`](crate::Client::connect), or a host with a port. If its name has several addresses, all are
/// queried, and the first answer counts.
///
/// # Errors
/// The name has no address, the timeout is 0, the system refuses a socket, or no answer arrived in time.
pub fn query(server: &str, timeout: Duration) -> Result<QueryAnswer, QueryError> {
    let mut batch = QueryBatch::new(QueryConfig { timeout, ..QueryConfig::default() })?;
    resolve(server)?.into_iter().for_each(|address| batch.ask(address));
    let mut last = QueryError::Timeout;
    while !batch.is_done() {
        batch.wait(timeout);
        while let Some((_, outcome)) = batch.poll() {
            match outcome {
                Ok(answer) => return Ok(answer),
                Err(error) => last = error,
            }
        }
    }
    Err(last)
}

fn resolve(server: &str) -> Result<Vec<SocketAddr>, QueryError> {
    let no_address = |why: String| QueryError::Address(server.into(), why);
    let found = if server.contains(':') && server.contains("//") {
        let target: Target = server.parse().map_err(QueryError::Url)?;
        (target.host.as_str(), target.port).to_socket_addrs()
    } else {
        server.to_socket_addrs()
    };
    let addresses: Vec<_> = found.map_err(|error| no_address(error.to_string()))?.map(reachable).collect();
    if addresses.is_empty() { Err(no_address("the name server knows none".into())) } else { Ok(addresses) }
}
