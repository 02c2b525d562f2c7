//! Configuration and results of queries.

use crate::send_error::PeerError;
use crate::url::UrlError;
use bytes::Bytes;
use skipstone_proto::{ConfigError, QUERY_BYTES_MIN, QUERY_PAYLOAD_BYTES_MAX, QueryPayloadTooLong};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Configuration of queries.
#[derive(Clone, Debug)]
pub struct QueryConfig {
    /// Time within which a server must answer, from the first query on. Above 0.
    pub timeout: Duration,
    /// Number of queries to a server within that time, 1 to 4, since queries and answers may be lost.
    pub tries: u8,
    /// Bytes of a query, 64 to 1,200. A server sends no answer that is longer than the query; 1,200 are enough for
    /// every answer.
    pub question_bytes: u16,
    /// Servers that are queried at the same time, 1 or more; the others wait. Hundreds of simultaneous queries would be
    /// lost on the uplink.
    pub servers_at_once: usize,
}

impl Default for QueryConfig {
    fn default() -> Self {
        QueryConfig { timeout: Duration::from_secs(1), tries: 3, question_bytes: 1_200, servers_at_once: 64 }
    }
}

/// A server's description of itself. It is not encrypted, and proves nothing about the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryAnswer {
    /// The server's address.
    pub remote: SocketAddr,
    /// Time from the query to the answer; exact only if the batch was polled without delay.
    pub rtt: Duration,
    /// Protocol versions that the server supports, best first.
    pub versions: Vec<u16>,
    /// Data that the server's application has set: see `Server::set_query_answer`.
    pub payload: Bytes,
}

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum QueryError {
    /// The URL is invalid, or its name has no address.
    Url(UrlError),
    /// The given server is neither a URL nor a host with a port, or its name has no address: the given text, and the
    /// reason.
    Address(String, String),
    /// No answer arrived in time: no server is there, the server does not answer queries, or the network lost all
    /// packets.
    Timeout,
    /// A field of the configuration is out of its range.
    Config(ConfigError),
    /// The system could not send the query, or refuses a poll.
    Io(io::Error),
}

impl QueryConfig {
    /// Checks each field against its range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.timeout.is_zero() {
            return Err(ConfigError::out_of_range("timeout", self.timeout, "above 0"));
        }
        if !(1..=TRIES_MAX).contains(&self.tries) {
            return Err(ConfigError::out_of_range("tries", self.tries, "1 to 4"));
        }
        if !QUESTION_BYTES.contains(&self.question_bytes) {
            return Err(ConfigError::out_of_range("question_bytes", self.question_bytes, "64 to 1,200"));
        }
        if self.servers_at_once == 0 {
            return Err(ConfigError::out_of_range("servers_at_once", 0, "1 or more"));
        }
        Ok(())
    }
}

/// Greatest number of tries: as many as the lowest bits of a nonce can distinguish.
pub(super) const TRIES_MAX: u8 = 4;
const QUESTION_BYTES: std::ops::RangeInclusive<u16> = QUERY_BYTES_MIN as u16..=1_200;

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueryError::Url(error) => error.fmt(f),
            QueryError::Address(given, why) => {
                write!(f, "'{given}' is neither a server's URL nor a host and port that resolve to an address: {why}")
            }
            QueryError::Timeout => f.write_str(
                "nothing came in time: is the server running, is an answer to queries set there, and does a firewall \
                 let UDP pass?",
            ),
            QueryError::Config(error) => error.fmt(f),
            QueryError::Io(error) => write!(f, "the question could not be sent: {error}"),
        }
    }
}

impl std::error::Error for QueryError {}

/// Why an answer to queries was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryAnswerError {
    /// The answer does not fit into a datagram.
    TooLong(QueryPayloadTooLong),
    /// The driver is gone, or its queue is full.
    Driver(PeerError),
}

impl std::fmt::Display for QueryAnswerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueryAnswerError::TooLong(error) => error.fmt(f),
            QueryAnswerError::Driver(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for QueryAnswerError {}

/// Checks whether the answer fits into a datagram.
pub(crate) fn check_answer(answer: Option<&Bytes>) -> Result<(), QueryPayloadTooLong> {
    match answer.map(Bytes::len) {
        Some(bytes) if bytes > QUERY_PAYLOAD_BYTES_MAX => Err(QueryPayloadTooLong { bytes }),
        _ => Ok(()),
    }
}
