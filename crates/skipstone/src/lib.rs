//! A low-level transport for multiplayer games: native players over UDP and browsers over WebSocket arrive through one
//! port and one event queue, on reliable and unreliable channels.
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
//!             Event::Requested { peer, .. } => server.accept(peer),
//!             Event::Message { peer, channel, payload, .. } => drop(server.send(peer, channel, payload)?),
//!             _ => {}
//!         }
//!     }
//!     server.flush();
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
//! Channels have rules: how messages are delivered, who goes first, and what is done against loss.
//!
//! ```
//! use skipstone::{ChannelRule, Mode, RedundancyMode, ServerConfig, Settings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let inputs = ChannelRule { priority: 0, ..ChannelRule::new(0..=0, Mode::ReliableOrdered) };
//! let world = ChannelRule::new(1..=9_999, Mode::ReliableSequenced);
//! let files = ChannelRule { priority: 9, ..ChannelRule::new(10_000..=10_000, Mode::ReliableOrdered) };
//! let channels = vec![
//!     // A lost input arrives with one of the next two.
//!     inputs.with_redundancy(RedundancyMode::Repeat { bursts: 2 }),
//!     // Repair packets as the path's losses ask for, which is what the settings say.
//!     world,
//!     // What is lost is sent again, once.
//!     files.with_redundancy(RedundancyMode::Off),
//! ];
//! let mut config = ServerConfig::new("127.0.0.1:0".parse()?);
//! config.settings = Settings { channels, ..Settings::default() };
//! # Ok(())
//! # }
//! ```
//!
//! One driver thread per handle owns the sockets and the protocol; the handle holds two bounded queues and no lock. A
//! single-threaded engine asks for a stepped handle instead and calls `drive`; a server that one core cannot carry has
//! several drivers ([`ServerConfig::shards`]). `net` has the sockets, `driver` joins
//! them to the protocol, `handle` the queues, `security` encrypts; [`Server`], [`Client`] and [`Pool`] are what an application sees.

mod client;
mod driver;
mod handle;
pub mod net;
mod pool;
mod security;
mod server;
mod shards;
mod start_error;
mod url;

pub use client::{Client, ClientConfig};
pub use driver::impair::Impairment;
pub use driver::{DriverStats, HalfOpenStats, SocketStats, StrayStats};
pub use handle::{Mode as Threading, QueueFull};
pub use pool::{Pool, PoolConfig};
pub use security::{DtlsVersion, Fingerprint, Identity, IdentityError, Security, Trust, TrustError};
pub use server::{Server, ServerConfig, ShardOverview};
pub use skipstone_netsim as netsim;
pub use skipstone_proto::channel::lanes::Depth;
pub use skipstone_proto::channel::{GivenUp, MessageId};
pub use skipstone_proto::congestion::Algorithm as Congestion;
pub use skipstone_proto::endpoint::{
    Close, ClosedBy, ConfigError, ConnectError, Drop as DropReason, Drops, Event, Flow, Group, Overview, PeerId, Stats,
    code,
};
pub use skipstone_proto::path::{Carrier, Path};
pub use skipstone_proto::rtt::Rtt;
pub use skipstone_proto::wire::redundancy::{Redundancy, RedundancyMode};
pub use skipstone_proto::wire::settings::{ChannelRule, Merging, Mode, Overflow, Settings};
pub use start_error::{ShardsError, StartError};
pub use url::{Scheme, Target, UrlError};
