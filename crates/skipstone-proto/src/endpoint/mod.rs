//! An endpoint: all connections behind one or more sockets, of clients and servers.
//!
//! The contract: any call, in any order, with a time that does not go back. After any `handle_*` or command, poll
//! [`Endpoint::poll_transmit`] and [`Endpoint::poll_event`] until they are empty, and call
//! [`Endpoint::handle_timeout`] when [`Endpoint::poll_timeout`] says so. Only connections that have work are touched.
//!
//! `state` holds the parts of an endpoint, `commands` and `fan_out` the application's commands; `datagram` handles
//! incoming datagrams, `poll` returns outgoing ones, `overview` is for monitoring, `wheel` holds the timers, `ids`
//! finds connections, `pending_handshakes` and `handshake_budget` limit handshakes, `costly` spreads them over rounds,
//! `memory` limits the memory that peers make an endpoint hold, `victims` selects the connections to close for it,
//! `population` counts players and newcomers, `admission` says whether another fits, `roaming` follows clients whose
//! address changes, `dialing` finds the one of a server's addresses that answers, `query` answers server browsers.

mod accounts;
mod admission;
mod answer;
mod broadcast;
mod carrier_handshakes;
mod commands;
mod config;
mod config_check;
mod config_error;
mod costly;
mod datagram;
mod dialing;
mod directory;
mod fair_queue;
mod fan_out;
mod groups;
mod handshake_budget;
mod ids;
mod memory;
mod memory_account;
mod overview;
mod pending_handshakes;
mod poll;
mod population;
mod query;
mod ready;
mod replies;
mod reset;
mod roaming;
mod secrets;
mod share;
mod slots;
mod spent_cookies;
mod state;
mod totals;
mod transmit;
mod turns;
mod victims;
mod wheel;

pub use broadcast::{Broadcast, BroadcastMessage};
pub use commands::ConnectError;
pub use config::{Config, Everyone, MemoryBudget};
pub use config_error::ConfigError;
pub use groups::Group;
pub use ids::Shard;
pub use query::{DecodedAnswer, QUERY_BYTES_MIN, QUERY_PAYLOAD_BYTES_MAX, QueryPayloadTooLong, encode_question};
pub use state::Endpoint;
pub use totals::Work;
pub use transmit::Transmit;
