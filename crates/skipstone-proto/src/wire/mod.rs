//! The wire codec: every byte that two endpoints exchange, by WIRE.md. Decoding borrows from the datagram, allocates
//! nothing (except for [`settings`]) and panics on no input; encoding writes into a buffer of the caller. Sealing,
//! state and rules that need a connection are elsewhere.

pub mod ack;
pub mod cursor;
pub mod datagram;
mod entries;
pub mod frame;
pub mod grease;
pub mod limits;
pub mod message;
mod message_flags;
pub mod message_run;
pub mod number;
pub mod redundancy;
pub mod repair;
pub mod settings;
pub mod varint;

/// Malformed input: decoding stopped. It carries no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed")
    }
}

impl std::error::Error for Malformed {}
