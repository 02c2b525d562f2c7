//! The protocols of bots, each in a file or folder of its own; `table` has one line for each.

mod enet;
mod kcp;
mod kcp2k;
#[cfg(test)]
mod knock;
mod lifecycle;
mod limits;
mod litenetlib;
mod renet;
pub mod row;
mod secured;
#[cfg(test)]
mod simulated;
mod skipstone;
pub mod table;
mod tcp;
mod udp;
mod websocket;
mod webtransport;
