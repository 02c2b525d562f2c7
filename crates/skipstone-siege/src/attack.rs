//! An attack as data: its clients, their addresses, what they send, and how much. No sockets here.

pub mod list;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// One row of the siege.
#[derive(Clone, Debug)]
pub struct Attack {
    /// Its name, unique: `pings-tls-64`.
    pub name: String,
    /// Its kind, such as `streams` or `console`.
    pub kind: &'static str,
    /// The port that it goes to.
    pub door: Door,
    /// The addresses that it comes from.
    pub origin: Origin,
    /// Streams, sessions or players at once.
    pub crowd: usize,
    /// The behaviour of each client.
    pub way: Way,
    /// The most that the whole crowd sends.
    pub bytes_per_second_max: u64,
    /// How long the operator hesitates at the console before the token is typed. At once it counts before any crowd is
    /// weighed.
    pub operator_hesitates: Duration,
    /// How often per second the server may answer and end a stream, for attacks in which each stream is a guess that
    /// must be slowed.
    pub guesses_per_second_max: Option<u32>,
    /// Settings of the server that this attack is aimed at.
    pub server: ServerSettings,
}

impl Attack {
    /// Whether a decoy can stand in for the server: one that takes streams, or answers datagrams. Other attacks need
    /// answers that only a server has.
    #[must_use]
    pub fn has_decoy(&self) -> bool {
        matches!(self.way, Way::Streams(_) | Way::Natives(NativeWay::Opens | NativeWay::Noise))
    }

    /// Whether these are the first words of its name, or all.
    #[must_use]
    pub fn is_called(&self, words: &str) -> bool {
        self.name.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}

/// A port of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The port of the game, UDP and TCP.
    Game,
    /// The console's.
    Console,
    /// The dashboard's.
    Dashboard,
}

/// Where attackers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The number of /24 networks, none of which contains good clients.
    Networks(u8),
    /// The address of the good clients and of the operator.
    Neighbour,
}

impl Origin {
    /// The address of the attacker with this number.
    #[must_use]
    pub fn address(self, number: usize) -> IpAddr {
        match self {
            Origin::Networks(count) => {
                let network = u8::try_from(number % usize::from(count)).expect("the remainder of a byte");
                IpAddr::V4(Ipv4Addr::new(127, 66, network, 1))
            }
            Origin::Neighbour => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }
}

/// The behaviour of attackers.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Each holds a stream (TCP).
    Streams(Script),
    /// Each holds a QUIC connection.
    Quic(QuicWay),
    /// Each holds a UDP socket.
    Natives(NativeWay),
    /// Each holds a connection of the protocol.
    Players(Player),
}

/// A hostile player.
#[derive(Clone, Copy, Debug)]
pub struct Player {
    /// Whether it reads.
    pub ear: Ear,
    /// The line that it sends as often as there is room.
    pub says: Option<&'static str>,
}

/// Whether a player reads its data once it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ear {
    /// Everything.
    Open,
    /// Nothing.
    Deaf,
}

/// The behaviour of a QUIC client.
#[derive(Clone, Copy, Debug)]
pub enum QuicWay {
    /// It sends the first flight of a handshake, and leaves after this time.
    FirstFlights(Duration),
    /// It sends streams a byte in each frame, without byte 0, and then stays.
    PartialStreams,
    /// It sends the same frames again and again.
    RepeatedFrames,
}

/// The behaviour of a native client over UDP.
#[derive(Clone, Copy, Debug)]
pub enum NativeWay {
    /// It begins an encrypted handshake up to the server's flight, and leaves after this time.
    FirstFlights(Duration),
    /// It sends the first datagram of a plain handshake, a new one each time, and ignores answers.
    Opens,
    /// Sends random datagrams.
    Noise,
}

/// The bytes sent on a stream, and again on a new one after the server ends it.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// Whether TLS is beneath.
    pub beneath: Beneath,
    /// The first bytes.
    pub first: First,
    /// The behaviour after them.
    pub then: Then,
}

/// The layer below a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beneath {
    /// TCP alone.
    Clear,
    /// TLS 1.3; the attacker believes any certificate.
    Tls,
}

/// The first bytes on a stream.
#[derive(Clone, Copy, Debug)]
pub enum First {
    /// These.
    Bytes(&'static [u8]),
    /// The first message of TLS, a new one each time.
    ClientHello,
    /// The request for a WebSocket, followed by these frames; it waits for the answer.
    Upgrade(&'static [u8]),
}

/// The behaviour after the first bytes.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// These bytes, as often as there is room.
    Repeats(&'static [u8]),
    /// These bytes again and again, each of them in its own write: above TLS a record for each byte.
    Drips(&'static [u8]),
    /// Nothing: the attacker stays until it is thrown out.
    Stays,
    /// Sends nothing: the attacker leaves after this time, and the next one follows.
    Leaves(Duration),
}

/// The server settings that an attack requires.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerSettings {
    /// Flags of `skipstone serve`, in addition to the flags that every row has.
    pub flags: &'static [&'static str],
    /// Its certificate and key as PEM, in place of one of its own making.
    pub certificate: Option<&'static str>,
    /// The access to its console and its dashboard.
    pub access: Access,
}

/// The access to the console and the dashboard, which listen on loopback addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Only with the token.
    #[default]
    Token,
    /// Every program on the machine.
    Machine,
}
