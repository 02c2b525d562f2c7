//! TLS 1.3 as a session of the protocol: rustls does the handshake as for QUIC, and its packet keys seal in place.
//! WIRE.md sections 2.4, 2.8 and 3.
//!
//! `config` has the configurations of both sides, `verify` applies the client's rules, `parameters` are the values on
//! which both sides must agree, `pieces` encodes handshake datagrams, `assembly` puts received bytes in order, `stream`
//! tracks the sent and received bytes of one level, `handshake` combines them, `keys` seals packets, `session`
//! implements the protocol's session.

mod assembly;
mod config;
mod handshake;
mod keys;
mod parameters;
mod pieces;
mod provider;
mod session;
mod stream;
mod verify;

#[cfg(all(test, feature = "self-signed"))]
pub(super) use config::server_config;
pub(super) use config::{HTTP, certified_key, client_config, server_config_of, stream_client_config, stream_config};
#[cfg(feature = "webtransport")]
pub(super) use provider::initial_suite;
pub(super) use session::TlsSession;

#[cfg(all(test, feature = "self-signed"))]
mod golden;
#[cfg(all(test, feature = "self-signed"))]
mod tests;
