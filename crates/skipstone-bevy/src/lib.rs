//! Bevy plugins for Skipstone: a server and a client as resources, their events as messages, and a place in each frame
//! for receiving and for sending.
//!
//! [`ServerPlugin`] serves the [`NetServer`] resource while there is one, [`ClientPlugin`] the [`NetClient`]. An app
//! inserts the resource when it begins to serve or to connect, and removes it to stop; a listen server has both.
//!
//! ```text
//! PreUpdate   NetSystems::Receive   events -> FromClients, FromServer; failures -> DriverFailed
//! Update …    the game              reads messages, calls `send` on the resource
//! Last        NetSystems::Flush     what was sent in this frame leaves
//! ```
//!
//! The README has the systems of a server; `examples/bevy` is a whole game.

mod client;
mod failure;
mod schedule;
mod server;

pub use client::{ClientPlugin, FromServer, NetClient};
pub use failure::DriverFailed;
pub use schedule::NetSystems;
pub use server::{FromClients, NetServer, ServerPlugin};
/// The library: configuration, events, channels.
pub use skipstone;
