//! A siege: attacks on a server while its clients continue to play. Attackers are data ([`attack::list`]), they run in
//! their own process ([`attacker`]), and a judge ([`play`]) compares good clients without the attack, under it, and
//! with the same attack on a decoy. Everything stays at loopback addresses and ends in bounded time.

pub mod attack;
pub mod attacker;
pub mod play;
pub mod row;
pub mod sent;
pub mod table;

mod bucket;
mod decoy;
mod good;
mod memory;
mod natives;
mod openings;
mod operator;
mod players;
mod process;
mod quic;
mod server;
mod streams;
mod trust;
