//! The Skipstone protocol, sans-I/O: time and bytes in; datagrams, events and a deadline out.
//!
//! There is no socket, clock, thread, randomness or global in this crate. Its embedder calls, in any order,
//! [`Endpoint::handle_datagram`], [`Endpoint::handle_timeout`], [`Endpoint::send`] and the `poll_*` methods, always
//! with the current [`Time`]. `WIRE.md` specifies the wire format.
//!
//! Two endpoints, joined by a [`Vec`] of datagrams in place of a network:
//!
//! ```
//! use bytes::Bytes;
//! use skipstone_proto::{Carrier, Config, Duration, Endpoint, Event, MessageId, Path, Settings, Time};
//!
//! /// Takes all datagrams that are due. An embedder gives them to a socket instead.
//! fn transmit(endpoint: &mut Endpoint, now: Time) -> Vec<Vec<u8>> {
//!     let mut datagrams = Vec::new();
//!     let mut buffer = vec![0; 65_536];
//!     while let Some(transmit) = endpoint.poll_transmit(now, &mut buffer) {
//!         let written = &buffer[..transmit.bytes];
//!         datagrams.extend(written.chunks(transmit.segment_bytes).map(<[u8]>::to_vec));
//!     }
//!     datagrams
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let to_server = Path { socket: 0, local: None, remote: "192.0.2.1:7777".parse()?, carrier: Carrier::UDP };
//! let to_client = Path { socket: 0, local: None, remote: "192.0.2.2:50000".parse()?, carrier: Carrier::UDP };
//! // Every random choice follows from the seed: take it from the system's entropy.
//! let mut server = Endpoint::new(Config::server(Settings::default()), [1; 32])?;
//! let mut client = Endpoint::new(Config::client(), [2; 32])?;
//!
//! let mut now = Time::ZERO;
//! client.connect(now, to_server, b"a token")?;
//! let delivered = 'game: loop {
//!     for mut datagram in transmit(&mut client, now) {
//!         server.handle_datagram(now, to_client, &mut datagram);
//!     }
//!     while let Some(event) = server.poll_event(now) {
//!         match event {
//!             Event::Requested { peer, .. } => assert!(server.accept(now, peer)),
//!             Event::Message { payload, .. } => break 'game payload,
//!             _ => {}
//!         }
//!     }
//!     for mut datagram in transmit(&mut server, now) {
//!         client.handle_datagram(now, to_server, &mut datagram);
//!     }
//!     while let Some(event) = client.poll_event(now) {
//!         if let Event::Connected { peer, .. } = event {
//!             client.send(now, peer, 0, Bytes::from_static(b"hello"), MessageId(1))?;
//!         }
//!     }
//!     // An embedder waits for its socket until the earlier `poll_timeout`.
//!     now += Duration::from_millis(10);
//!     client.handle_timeout(now);
//!     server.handle_timeout(now);
//! };
//! assert_eq!(delivered, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! Everything public is at the root. The feature `unstable` exports some modules for fuzzing, benches and tests,
//! without any stability guarantee.
#![forbid(unsafe_code)]
#![deny(unnameable_types)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![cfg_attr(
    not(feature = "unstable"),
    expect(
        unreachable_pub,
        dead_code,
        reason = "some items are reached through the modules that `unstable` opens only"
    )
)]

// First, for its macros.
#[doc(hidden)]
#[macro_use]
pub mod catalogue;

mod allowance;
mod channel;
mod checksum;
mod connection;
mod cost;
mod crossing;
mod delivery;
mod endpoint;
mod moves;
mod mtu;
mod network;
mod path;
mod ranges;
mod recovery;
mod rtt;
mod seq;
mod shrink_queue;
mod sparse_ranges;
mod time;

#[cfg(not(feature = "unstable"))]
mod congestion;
#[cfg(feature = "unstable")]
pub mod congestion;
#[cfg(not(feature = "unstable"))]
mod redundancy;
#[cfg(feature = "unstable")]
pub mod redundancy;
#[cfg(not(feature = "unstable"))]
mod rng;
#[cfg(feature = "unstable")]
pub mod rng;
#[cfg(not(feature = "unstable"))]
mod security;
#[cfg(feature = "unstable")]
pub mod security;
#[cfg(not(feature = "unstable"))]
mod wire;
#[cfg(feature = "unstable")]
pub mod wire;

/// The endpoint: all connections behind one or more sockets.
pub use endpoint::{
    Broadcast, BroadcastMessage, Config, ConfigError, ConnectError, DecodedAnswer, Endpoint, Everyone, Group,
    MemoryBudget, QUERY_BYTES_MIN, QUERY_PAYLOAD_BYTES_MAX, QueryPayloadTooLong, Shard, Transmit, Work,
    encode_question,
};
/// Prefetch hints for a round through many connections.
pub use skipstone_prefetch::{Lookahead, Step};

/// Connections: their events and statistics.
pub use connection::event::{Close, ClosedBy, Event, PeerId, code};
pub use connection::packet_log::{
    LoggedConnection, LoggedFrame, LoggedFrames, LossTrigger, PacketEvent, PacketLog, RecoveryMetrics,
};
pub use connection::stats::{DropReason, Drops, Flow, RedundancyStats, Stats};
pub use connection::{Overview, SendError, ServerTime, Side};
pub use rtt::Rtt;

/// Moves of a client to another server.
pub use crossing::{Crossing, Route};
pub use moves::{ClientMoves, DESTINATION_BYTES_MAX, MoveAction, MoveId, MoveMessage, MoveStage, Stayed};

/// Messages in both directions.
pub use channel::channels::Depth;
pub use channel::inbound::{Direction, InboundRule, MessageRate, Violation};
pub use channel::transfers::{IncomingTransfer, OutgoingTransfer, TRANSFERS_MAX, Transfers};
pub use channel::{GivenUp, MessageId, Submission};

/// The catalogue: what is known about each statistic, setting and close code.
pub use catalogue::{CloseCode, ConfigField, ConfigKind, Figure, Metric, Setting, SettingNumber, SettingUnit, Unit};

/// Settings: the server chooses them, its clients follow them.
pub use congestion::{
    AckSample, Congestion, Controller, CustomController, DeliveryStamp, Pace, PathModel, Phase, Queue,
};
pub use wire::frame::TOKEN_BYTES_MAX;
pub use wire::limits::Limits;
pub use wire::redundancy::{BLOCK_MAX, BURSTS_MAX, Redundancy, RedundancyMode};
pub use wire::settings::{CHANNEL_RULES_MAX, ChannelRule, DeliveryMode, Merging, Overflow, Settings, window_cost};

/// Paths, time and budgets.
pub use allowance::{Allowance, CoreShare};
pub use cost::Cost;
pub use network::Network;
pub use path::{Carrier, Lateness, Path};
pub use time::{Duration, Time};

/// The interface for encryption: suites, their sessions, and the suites of this crate.
pub use security::{HANDSHAKE_COST, Plain, Protection, Session, Suites};
pub use wire::datagram::{SUITE_PLAIN, SUITE_TLS_1_3};

/// Kinds of datagrams, for embedders that classify them before an endpoint handles them.
pub use wire::datagram::{KIND_OPEN, KIND_PACKET};

/// Reading and writing by WIRE.md, for suites with messages of their own.
pub mod coding {
    pub use crate::wire::Malformed;
    pub use crate::wire::cursor::{Reader, Writer};
    pub use crate::wire::grease::Grease;
    pub use crate::wire::number::Truncated;
    pub use crate::wire::varint;
}
