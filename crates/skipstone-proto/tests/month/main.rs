//! One connection of each carrier for days in virtual time, busy, idle, moving and cut off: no reliable message is
//! lost, no counter falls, and at the end of each day both sides hold no more than at the end of the second day.
//!
//! `SKIPSTONE_MONTH_DAYS=30` chooses how many days, and `SKIPSTONE_MONTH_BUSY_SECONDS=3600` how much of each is busy. A
//! line for each day goes to standard output (`--nocapture`).
//!
//! A process of its own: the counter of allocations is the global allocator of its program.

mod figures;
mod life;
#[path = "../simulation/mod.rs"]
mod simulation;
mod traffic;

use life::{Life, Seal};
use skipstone_proto::{Carrier, Duration};

fn play(name: &'static str, carrier: Carrier, seal: Seal) {
    let busy = Duration::from_secs(number("SKIPSTONE_MONTH_BUSY_SECONDS", 60).into());
    let mut life = Life::new(name, carrier, seal, busy);
    (1..=number("SKIPSTONE_MONTH_DAYS", 3)).for_each(|day| life.day(day));
    life.end();
}

/// A number from the environment, or the usual one.
fn number(variable: &str, usual: u32) -> u32 {
    let parse = |text: String| text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text:?}"));
    std::env::var(variable).map_or(usual, parse)
}

#[test]
fn udp_in_clear() {
    play("udp", Carrier::UDP, Seal::Plain);
}

#[test]
fn udp_encrypted() {
    play("udp, encrypted", Carrier::UDP, Seal::Encrypted);
}

#[test]
fn dtls() {
    play("dtls", Carrier::DTLS, Seal::Plain);
}

#[test]
fn webtransport() {
    play("wt", Carrier::WEBTRANSPORT, Seal::Plain);
}

#[test]
fn webtransport_streams() {
    play("wt, streams", Carrier::WEBTRANSPORT_STREAMS, Seal::Plain);
}

#[test]
fn websocket() {
    play("ws", Carrier::WEBSOCKET, Seal::Plain);
}

#[test]
fn tcp() {
    play("tcp", Carrier::TCP, Seal::Plain);
}
