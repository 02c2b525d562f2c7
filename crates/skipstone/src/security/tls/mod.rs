//! TLS 1.3 as a session of the protocol: rustls shakes hands as it does for QUIC, and its packet keys seal in place.
//! WIRE.md sections 2.4 and 3.
//!
//! `config` says what both sides offer, `verify` asks the client's rules, `parameters` are what both must agree on, `pieces` has the bytes of handshake datagrams,
//! `stream` what was said and heard of one level, `handshake` brings them together, `keys` seals packets, `session` is
//! what the protocol sees.

mod config;
mod handshake;
mod keys;
mod parameters;
mod pieces;
mod provider;
mod session;
mod stream;
mod verify;

pub(super) use config::{client_config, server_config};
pub(super) use session::TlsSession;

#[cfg(all(test, feature = "self-signed"))]
mod tests;
