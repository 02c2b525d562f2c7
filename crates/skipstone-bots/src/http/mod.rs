//! HTTP/1.1 for logins: requests of bots beside their game's connection. One client for a worker, in the worker's loop;
//! each bot has connections of its own, as a player's program would, and keeps them alive.
//!
//! ```text
//! client > { connection lookups } > exchange > { request response }
//! ```

mod client;
mod connection;
mod exchange;
mod lookups;
mod request;
mod response;

pub(crate) use client::{HttpClient, HttpFinished};
pub(crate) use request::{HttpOptions, HttpRequest};
pub(crate) use response::HttpResponse;

/// A request's number, and the bot that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HttpTicket {
    /// The bot's place in its worker.
    pub(crate) slot: usize,
    /// Different for each request of a worker.
    pub(crate) number: u64,
}
