//! The table of attacks.

use crate::attack::{
    Access, Attack, Beneath, Door, Ear, First, NativeWay, Origin, Player, QuicWay, Script, ServerSettings, Then, Way,
};
use crate::openings::{
    CONTINUATION, FOREIGN_PAGE, FRAGMENT, HEAD, HEADER, HELLO_WITH_ORDER, PAGE, PING, PONG, RAW_BYTE, REQUEST, TEXT,
    WRONG_BEARER, WRONG_TOKEN,
};
use std::time::Duration;

/// Every row of the siege, in the order in which they are played.
#[must_use]
pub fn attacks() -> Vec<Attack> {
    streams().chain(datagrams()).chain(first_flights()).chain(webtransport()).chain(players()).chain(doors()).collect()
}

/// Streams of one stranger that are full of pieces which cost more than their bytes.
fn streams() -> impl Iterator<Item = Attack> {
    PIECES.iter().flat_map(|(name, first, then)| {
        [(Beneath::Clear, "clear"), (Beneath::Tls, "tls")].into_iter().flat_map(move |(beneath, carrier)| {
            CROWDS.iter().map(move |crowd| Attack {
                name: format!("{name}-{carrier}-{crowd}"),
                kind: "streams",
                door: Door::Game,
                origin: Origin::Networks(1),
                crowd: *crowd,
                way: Way::Streams(Script { beneath, first: *first, then: *then }),
                bytes_per_second_max: STREAMS_BYTES_PER_SECOND,
                operator_hesitates: Duration::ZERO,
                guesses_per_second_max: None,
                server: ServerSettings::default(),
            })
        })
    })
}

/// Datagrams of native clients that are no players yet.
fn datagrams() -> impl Iterator<Item = Attack> {
    [("opens", NativeWay::Opens), ("noise", NativeWay::Noise)].into_iter().flat_map(|(name, way)| {
        [1, 60].into_iter().map(move |networks| Attack {
            name: format!("{name}-{networks}"),
            kind: "datagrams",
            door: Door::Game,
            origin: Origin::Networks(networks),
            crowd: 60,
            way: Way::Natives(way),
            bytes_per_second_max: DATAGRAMS_BYTES_PER_SECOND,
            operator_hesitates: Duration::ZERO,
            guesses_per_second_max: None,
            server: ServerSettings::default(),
        })
    })
}

/// First flights of handshakes, each of which costs the server a signature, at servers with keys of several kinds.
fn first_flights() -> impl Iterator<Item = Attack> {
    let keys = [
        ("rsa-4096", Some(include_str!("../../keys/rsa-4096.pem")), 60),
        ("rsa-2048", Some(include_str!("../../keys/rsa-2048.pem")), 425),
        ("ecdsa", None, 425),
    ];
    let script = Script { beneath: Beneath::Clear, first: First::ClientHello, then: Then::Leaves(FLIGHT) };
    let ways = [
        ("tls", Way::Streams(script)),
        ("quic", Way::Quic(QuicWay::FirstFlights(FLIGHT))),
        ("skip", Way::Natives(NativeWay::FirstFlights(FLIGHT))),
    ];
    keys.into_iter().flat_map(move |(key, certificate, crowd)| {
        ways.into_iter().flat_map(move |(carrier, way)| {
            [1, 60].into_iter().map(move |networks| Attack {
                name: format!("flights-{carrier}-{key}-{networks}"),
                kind: "flights",
                door: Door::Game,
                origin: Origin::Networks(networks),
                crowd,
                way,
                bytes_per_second_max: u64::MAX,
                operator_hesitates: Duration::ZERO,
                guesses_per_second_max: None,
                server: ServerSettings { certificate, ..ServerSettings::default() },
            })
        })
    })
}

/// QUIC clients that are no players yet.
fn webtransport() -> impl Iterator<Item = Attack> {
    let rows = [("partial", 200, QuicWay::PartialStreams), ("repeated", 1, QuicWay::RepeatedFrames)];
    rows.into_iter().map(|(name, crowd, way)| Attack {
        name: format!("webtransport-{name}"),
        kind: "webtransport",
        door: Door::Game,
        origin: Origin::Networks(8),
        crowd,
        way: Way::Quic(way),
        bytes_per_second_max: QUIC_BYTES_PER_SECOND,
        operator_hesitates: Duration::ZERO,
        guesses_per_second_max: None,
        server: ServerSettings::default(),
    })
}

/// Players who take places, memory and time.
fn players() -> impl Iterator<Item = Attack> {
    let of = |name: &str, origin, crowd, ear, says, flags| Attack {
        name: format!("players-{name}"),
        kind: "players",
        door: Door::Game,
        origin,
        crowd,
        way: Way::Players(Player { ear, says }),
        bytes_per_second_max: WORDS_BYTES_PER_SECOND,
        operator_hesitates: Duration::ZERO,
        guesses_per_second_max: None,
        server: ServerSettings { flags, ..ServerSettings::default() },
    };
    let one = Origin::Networks(1);
    [
        of("idle", one, 200, Ear::Open, None, &["--clients-max", "250", "--clients-of-network-max", "150"]),
        of("deaf", Origin::Networks(60), 2_000, Ear::Deaf, None, &[]),
        of("fat", Origin::Neighbour, 64, Ear::Deaf, Some("who"), &[]),
        of("who", one, 8, Ear::Open, Some("who"), &[]),
    ]
    .into_iter()
}

/// Strangers at the console and at the dashboard, from the operator's own address.
fn doors() -> impl Iterator<Item = Attack> {
    let of = |name: &str, door, crowd, first, then, access| Attack {
        name: name.into(),
        kind: if door == Door::Console { "console" } else { "dashboard" },
        door,
        origin: Origin::Neighbour,
        crowd,
        way: Way::Streams(Script { beneath: Beneath::Clear, first, then }),
        bytes_per_second_max: DOORS_BYTES_PER_SECOND,
        operator_hesitates: Duration::ZERO,
        guesses_per_second_max: None,
        server: ServerSettings { access, ..ServerSettings::default() },
    };
    let (stays, page) = (Then::Stays, First::Bytes(PAGE));
    let (console, dashboard, token) = (Door::Console, Door::Dashboard, Access::Token);
    [
        of("console-hello", console, 1, First::Bytes(HELLO_WITH_ORDER), stays, Access::Machine),
        Attack {
            guesses_per_second_max: Some(20),
            ..of("console-tokens", console, 8, First::Bytes(WRONG_TOKEN), stays, token)
        },
        Attack {
            operator_hesitates: Duration::from_secs(1),
            ..of("console-silent", console, 8, First::Bytes(b""), stays, token)
        },
        of("console-crowd", console, 200, First::Bytes(b""), stays, token),
        of("dashboard-crowd", dashboard, 200, page, stays, token),
        of("dashboard-pages", dashboard, 4, First::Bytes(FOREIGN_PAGE), Then::Repeats(FOREIGN_PAGE), Access::Machine),
        of("dashboard-tokens", dashboard, 4, First::Bytes(WRONG_BEARER), Then::Repeats(WRONG_BEARER), token),
    ]
    .into_iter()
}

/// The rate that a few clients can send as control words.
const WORDS_BYTES_PER_SECOND: u64 = 2_600_000;
/// Some thousand requests a second.
const DOORS_BYTES_PER_SECOND: u64 = 300_000;
/// 60 attackers that stay this long begin 350 times a second, 425 of them 2,500 times.
const FLIGHT: Duration = Duration::from_millis(170);
/// 16 Mbit/s.
const QUIC_BYTES_PER_SECOND: u64 = 2_000_000;

/// Name, what comes first, and what follows.
const PIECES: &[(&str, First, Then)] = &[
    ("pings", First::Upgrade(b""), Then::Repeats(PING)),
    ("continuations", First::Upgrade(FRAGMENT), Then::Repeats(CONTINUATION)),
    ("texts", First::Upgrade(b""), Then::Repeats(TEXT)),
    ("pongs", First::Upgrade(b""), Then::Repeats(PONG)),
    ("raw", First::Bytes(RAW_BYTE), Then::Repeats(RAW_BYTE)),
    ("requests", First::Bytes(REQUEST), Then::Repeats(REQUEST)),
    ("drips", First::Upgrade(b""), Then::Drips(PING)),
    ("heads", First::Bytes(HEAD), Then::Drips(HEADER)),
];
const CROWDS: &[usize] = &[1, 64, 128];
/// 20,000 to 100,000 datagrams a second of the maximum size.
const DATAGRAMS_BYTES_PER_SECOND: u64 = 90_000_000;
/// Three times what one core takes of the smallest frames; a gigabit a second has little more.
const STREAMS_BYTES_PER_SECOND: u64 = 90_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let all = attacks();
        let names: BTreeSet<&str> = all.iter().map(|attack| attack.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn attackers_use_loopback_addresses_only() {
        for attack in attacks() {
            assert!((0..1_000).all(|number| attack.origin.address(number).is_loopback()), "{}", attack.name);
        }
    }
}
