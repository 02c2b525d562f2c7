//! The protocols of bots, each in a file or folder of its own; `table` has one line for each.

mod connection_state;
mod skipstone;
pub mod table;
mod tcp;
mod udp;
mod websocket;
