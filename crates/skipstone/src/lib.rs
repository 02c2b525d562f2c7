//! A low-level transport for multiplayer games: native players over UDP and browsers over WebTransport or WebSocket
//! connect through one port and share one event queue, on reliable and unreliable channels.
//!
//! ```
//! use skipstone::{Client, ClientConfig, Event, Server, ServerConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut server = Server::start(ServerConfig::new("127.0.0.1:0".parse()?))?;
//! let mut client = Client::connect(&server.url(), b"hello", ClientConfig::default())?;
//! let echoed = 'game: loop {
//!     while let Some(event) = server.poll_event() {
//!         match event {
//!             Event::Requested { peer, .. } => server.accept(peer)?,
//!             Event::Message { peer, channel, payload, .. } => drop(server.send(peer, channel, payload)?),
//!             _ => {}
//!         }
//!     }
//!     server.flush()?;
//!     while let Some(event) = client.poll_event() {
//!         match event {
//!             Event::Connected { .. } => drop(client.send(0, "ping")?),
//!             Event::Message { payload, .. } => break 'game payload,
//!             _ => {}
//!         }
//!     }
//!     std::thread::sleep(std::time::Duration::from_millis(1));
//! };
//! assert_eq!(echoed, "ping");
//! # Ok(())
//! # }
//! ```
//!
//! Channels have rules: delivery mode, priority, and protection against loss.
//!
//! ```
//! use skipstone::{ChannelRule, ClientConfig, DeliveryMode, Event, RedundancyMode, Server, ServerConfig, Settings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let inputs = ChannelRule { priority: 0, ..ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered) };
//! let world = ChannelRule::new(1..=9_999, DeliveryMode::ReliableSequenced);
//! let files = ChannelRule { priority: 9, ..ChannelRule::new(10_000..=10_000, DeliveryMode::ReliableOrdered) };
//! let channels = vec![
//!     // A lost input arrives with one of the next two.
//!     inputs.with_redundancy(RedundancyMode::Repeat { bursts: 2 }),
//!     // The default of the settings: as many repairs as the losses of the path require.
//!     world,
//!     // A lost message is retransmitted, without copies or repairs.
//!     files.with_redundancy(RedundancyMode::Off),
//! ];
//! let mut config = ServerConfig::offline();
//! config.settings = Settings { channels, ..Settings::default() };
//! let mut server = Server::start(config)?;
//! // Clients have no table of their own: they learn the server's when they are let in.
//! let mut client = server.connect_local(b"", ClientConfig::default())?;
//! let settings = loop {
//!     server.wait(std::time::Duration::from_millis(1));
//!     if let Some(Event::Requested { peer, .. }) = server.poll_event() {
//!         server.accept(peer)?;
//!     }
//!     if let Some(Event::Connected { settings, .. }) = client.poll_event() {
//!         break settings;
//!     }
//! };
//! let redundancy_of = |channel| settings.rule(channel).and_then(|rule| rule.redundancy);
//! assert_eq!(redundancy_of(0), Some(RedundancyMode::Repeat { bursts: 2 }));
//! assert_eq!(redundancy_of(7), None);
//! assert_eq!(redundancy_of(10_000), Some(RedundancyMode::Off));
//! # Ok(())
//! # }
//! ```
//!
//! More examples: receipts at [`Client::send`], groups at [`Server::broadcast`], single-threaded programs at
//! [`Threading`], reconnecting at [`Client`].
//!
//! One driver thread per handle owns the sockets and the protocol; the handle holds two bounded queues and no lock. A
//! single-threaded engine asks for a stepped handle instead and calls `drive`; a server that needs more than one core
//! has several drivers ([`ServerConfig::shards`]). `net` has the sockets, `driver` joins them to the protocol, `handle`
//! has the queues, `security` encrypts. [`Server`], [`Client`] and `Pool` are the interface for applications.
#![deny(unnameable_types)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod client;
mod deadline;
mod deny_error;
mod destination;
mod driver;
mod driver_stats;
mod gate;
mod handle;
mod listen_sockets;
mod listener_rules;
#[cfg_attr(not(feature = "tracing"), path = "logged/absent.rs")]
mod logged;
mod moving;
#[cfg(feature = "unstable")]
pub mod net;
#[cfg(not(feature = "unstable"))]
#[allow(dead_code, unused_imports, unreachable_pub, reason = "measuring tools use the rest, by the feature `unstable`")]
mod net;
#[cfg(feature = "simulate")]
mod pool;
#[cfg(feature = "simulate")]
mod pool_moves;
#[cfg(feature = "qlog")]
mod qlog;
mod query;
mod recipients;
mod reconnect;
mod recording;
mod restart_notice;
mod roster;
mod security;
mod send_error;
mod server;
mod server_config;
mod server_moves;
mod server_time;
mod shards;
mod start_error;
mod statistics;
mod statistics_reader;
mod ticks;
mod url;
mod waiter;

/// The type of a message's bytes in this crate's signatures: a reference-counted slice, into which strings and vectors
/// convert.
pub use bytes::Bytes;

pub use client::{Client, ClientConfig};
pub use deny_error::DenyError;
pub use destination::{Destination, NextDestination};
#[cfg(all(feature = "unstable", feature = "webtransport", feature = "__tls"))]
#[doc(hidden)]
pub use driver::http3_fuzzed;
pub use driver::impair::Impairment;
pub use driver::impairment_error::ImpairmentError;
#[cfg(all(
    feature = "unstable",
    feature = "dtls",
    feature = "webtransport",
    feature = "websocket",
    feature = "__tls"
))]
#[doc(hidden)]
pub use driver::port_fuzzed;
pub use driver_stats::{DriverStats, DtlsStats, MisroutedStats, SocketStats, StreamStats, WebTransportStats};
pub use handle::Threading;
pub use listen_sockets::ListenSockets;
pub use listener_rules::{ListenerRules, NewcomerLimits};
pub use net::udp::BufferGrants;
pub use net::websocket::HttpAnswer;
#[cfg(feature = "simulate")]
pub use pool::{Pool, PoolConfig};
#[cfg(feature = "qlog")]
pub use qlog::{Qlog, QlogLimits, QlogStatus};
pub use query::{QueryAnswer, QueryAnswerError, QueryBatch, QueryConfig, QueryError, QueryPayloadTooLong, query};
pub use reconnect::Reconnect;
pub use recording::{
    RecordedEvent, RecordedMessage, RecordingEnd, RecordingError, RecordingReader, RecordingSide, RecordingStatus,
    TrafficRecorder,
};
pub use restart_notice::RestartNotice;
#[cfg(feature = "__tls")]
pub use security::{CertificateEvent, CertificateStats, Identity};
pub use security::{DtlsVersion, Fingerprint, FingerprintError, IdentityError, Security, Trust, TrustError};
pub use send_error::{PeerError, SendError, SendRefusal};
pub use server::{BroadcastReceipt, Server};
pub use server_config::ServerConfig;
pub use server_moves::MoveError;
pub use server_time::ServerTime;
#[cfg(feature = "simulate")]
pub use skipstone_netsim as netsim;
pub use skipstone_proto::{
    AckSample, Carrier, ChannelRule, Close, CloseCode, ClosedBy, ConfigError, Congestion, ConnectError, Controller,
    CustomController, DeliveryMode, DeliveryStamp, Depth, Direction, DropReason, Drops, Event, Figure, Flow, GivenUp,
    Group, InboundRule, IncomingTransfer, Limits, LoggedConnection, LoggedFrame, LoggedFrames, LossTrigger,
    MemoryBudget, Merging, MessageId, MessageRate, Metric, MoveId, MoveStage, OutgoingTransfer, Overflow, Pace,
    PacketEvent, PacketLog, Path, PathModel, PeerId, Phase, Queue, RecoveryMetrics, Redundancy, RedundancyMode,
    RedundancyStats, Rtt, Settings, Side, Stats, Stayed, Time, Transfers, Unit, Violation, code,
};
pub use start_error::{ShardsError, StartError};
pub use statistics::{Overview, ShardOverview, Traffic};
pub use statistics_reader::StatisticsReader;
pub use ticks::{Tick, Ticks};
pub use url::{Scheme, Target, UrlError};
pub use waiter::Waiter;

/// The protocol's interface to encryption, for an endpoint that is embedded without this crate's sockets.
pub use skipstone_proto::Suites;
