//! The protocols of bots, each in a file or folder of its own; `table` has one line for each.

mod enet;
mod kcp;
mod kcp2k;
mod lifecycle;
mod litenetlib;
mod renet;
#[cfg(test)]
mod simulated;
pub mod table;
mod udp;
