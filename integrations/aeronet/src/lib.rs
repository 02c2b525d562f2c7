//! Skipstone as an IO layer of aeronet: [`SkipstoneServer`] and [`SkipstoneClient`] make sessions
//! ([`Session`](aeronet_io::Session)), whose packets are messages of one unreliable channel, [`PACKETS`].
//!
//! aeronet's own transport above it has lanes, fragments and retransmissions. Skipstone below it encrypts, paces,
//! follows clients to new addresses, and repairs losses before that transport notices them. A game without aeronet
//! gets more from `skipstone_bevy`, where reliable messages are Skipstone's own.

mod client;
mod peer;
mod reason;
mod server;
mod settings;

pub use client::{SkipstoneClient, SkipstoneClientPlugin};
pub use peer::PacketsRefused;
pub use reason::ConnectionLost;
pub use server::{Accept, Refuse, SessionRequest, SkipstonePeer, SkipstoneServer, SkipstoneServerPlugin};
pub use settings::{MTU, NoPacketChannel, PACKETS, settings};
/// The library: configuration, URLs, identities.
pub use skipstone;
