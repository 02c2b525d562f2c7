//! How servers are asked, and what comes of it.

use crate::send_error::PeerError;
use crate::url::UrlError;
use bytes::Bytes;
use skipstone_proto::{QUERY_PAYLOAD_BYTES_MAX, QueryPayloadTooLong};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// How servers are asked.
#[derive(Clone, Debug)]
pub struct QueryConfig {
    /// How long a server has to answer, from the first question on.
    pub timeout: Duration,
    /// How often a server is asked within that time: 1 to 4 times, for questions and answers get lost.
    pub tries: u8,
    /// Bytes of a question, 64 to 1,200. An answer that is longer than the question does not come; 1,200 are enough for every one.
    pub question_bytes: u16,
    /// Servers that are asked at the same time; the others wait. Hundreds of questions at once would be lost on the way out.
    pub servers_at_once: usize,
}

impl Default for QueryConfig {
    fn default() -> Self {
        QueryConfig { timeout: Duration::from_secs(1), tries: 3, question_bytes: 1_200, servers_at_once: 64 }
    }
}

/// What a server told about itself. It is in clear, and proves nothing about the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryAnswer {
    /// The server's address.
    pub remote: SocketAddr,
    /// From the question to the answer, as far as it was polled for at once.
    pub rtt: Duration,
    /// Versions of the wire that the server speaks, best first.
    pub versions: Vec<u16>,
    /// What its application set: see `Server::set_query_answer`.
    pub payload: Bytes,
}

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum QueryError {
    /// The URL makes no sense, or its name has no address.
    Url(UrlError),
    /// What was asked is neither a URL nor a host with a port, or the name has no address: what was given, and why.
    Address(String, String),
    /// Nothing came in time: no server is there, it does not answer queries, or the network lost all of it.
    Timeout,
    /// The system could not send the question.
    Io(io::Error),
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueryError::Url(error) => error.fmt(f),
            QueryError::Address(given, why) => {
                write!(f, "'{given}' is no server's URL, and no host and port with an address: {why}")
            }
            QueryError::Timeout => f.write_str(
                "nothing came in time: is the server running, is an answer to queries set there, and does a firewall let \
                 UDP pass?",
            ),
            QueryError::Io(error) => write!(f, "the question could not be sent: {error}"),
        }
    }
}

impl std::error::Error for QueryError {}

/// Why an answer to queries was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryAnswerError {
    /// It does not fit into a datagram.
    TooLong(QueryPayloadTooLong),
    /// The driver is gone, or so far behind that its queue is full.
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

/// Whether a datagram has room for this answer.
pub(crate) fn check_answer(answer: Option<&Bytes>) -> Result<(), QueryPayloadTooLong> {
    match answer.map(Bytes::len) {
        Some(bytes) if bytes > QUERY_PAYLOAD_BYTES_MAX => Err(QueryPayloadTooLong { bytes }),
        _ => Ok(()),
    }
}
