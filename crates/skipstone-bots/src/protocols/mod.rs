//! The protocols of bots, each in a file or folder of its own; `table` has one line for each.

pub mod table;
mod udp;
