//! Short programs that use the library. Read them in this order:
//!
//! * [`echo`]: a server and a client, over UDP and over WebSocket.
//! * [`chat`]: accepting clients, broadcasting lines, and closing.
//! * [`listen_server`]: a player who hosts the game, and a single player, without a socket.
//! * [`reconnect`]: a player whose connection ends returns as the same player, and no order is lost or counted twice.
//! * [`query`]: a server browser, which queries servers without a connection.
//! * [`typed`]: packet types from a `.proto` file, each on a channel with its own delivery rule.
//! * [`dots`]: the same packets in a game of native players and pages.
//! * [`interop`]: the game that programs in all languages play together, for tests; [`interop_fleet`]: the same on
//!   servers that move the players among each other.
//!
//! Run one with `cargo run -p skipstone-examples --example echo`.

// The examples are also programs, which name this library from outside.
extern crate self as skipstone_examples;

pub mod chat;
pub mod dots;
pub mod echo;
pub mod interop;
pub mod interop_fleet;
pub mod listen_server;
pub mod query;
pub mod reconnect;
pub mod typed;

/// Why an example ended early: each call of the library has its own error, with cause and remedy.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The programs of the README and of the guide, as doc tests: each must compile, and those that end also run.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    mod readme {}
    #[doc = include_str!("../../docs/guide/first-server.md")]
    mod first_server {}
    #[doc = include_str!("../../docs/guide/channels.md")]
    mod channels {}
    #[doc = include_str!("../../docs/guide/loss.md")]
    mod loss {}
    #[doc = include_str!("../../docs/guide/deployment.md")]
    mod deployment {}
    #[doc = include_str!("../../docs/guide/dashboard.md")]
    mod dashboard {}
    #[doc = include_str!("../../docs/guide/measuring.md")]
    mod measuring {}

    /// The defaults in the table of docs/limits.md.
    ///
    /// ```
    /// use skipstone::{ChannelRule, ClientConfig, DeliveryMode, ServerConfig, Settings};
    /// use std::time::Duration;
    ///
    /// let settings = Settings::default();
    /// assert_eq!((settings.message_bytes_max, settings.window_bytes), (1 << 20, 2 << 20));
    /// assert_eq!(settings.datagram_bytes_max, 1_472);
    /// assert_eq!(settings.redundancy.budget_percent, 125);
    /// assert_eq!((settings.keepalive, settings.idle_timeout), (Duration::from_secs(25), Duration::from_secs(30)));
    /// assert_eq!(settings.channels.len(), 1);
    /// let rule = ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered);
    /// assert_eq!((rule.queue_messages_max, rule.queue_bytes_max), (16_384, 8 << 20));
    /// let server = ServerConfig::new("127.0.0.1:0".parse().unwrap());
    /// assert_eq!((server.connections_max, server.shards), (65_536, 1));
    /// let timeouts = (server.handshake_timeout, ClientConfig::default().handshake_timeout);
    /// assert_eq!(timeouts, (Duration::from_secs(10), Duration::from_secs(10)));
    /// ```
    mod limits {}
}
