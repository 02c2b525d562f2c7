//! A NATS server of one's own: on this machine's loopback, with a folder that is removed, and ended with its owner.

mod config;
mod error;
mod guard;
mod ports;
mod program;
mod server;

pub use config::{LocalJetStream, LocalSettings};
pub use error::LocalError;
pub use server::LocalNats;
