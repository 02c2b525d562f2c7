//! The Skipstone protocol, sans-I/O: time and bytes in; datagrams, events and a deadline out.
//!
//! There is no socket, clock, thread, randomness or global in this crate. Whoever embeds it calls, in any order,
//! [`endpoint::Endpoint::handle_datagram`], [`endpoint::Endpoint::handle_timeout`], [`endpoint::Endpoint::send`] and the
//! `poll_*` methods, always with the present [`time::Time`]. `WIRE.md` specifies what it puts on the wire.
#![forbid(unsafe_code)]

pub mod channel;
pub mod congestion;
pub mod connection;
pub mod delivery;
pub mod endpoint;
pub mod fec;
pub mod loss;
pub mod mtu;
pub mod path;
pub mod ranges;
pub mod recovery;
pub mod rng;
pub mod rtt;
pub mod security;
pub mod seq;
mod spare;
pub mod time;
pub mod wire;
