//! What an endpoint is told when it is made.

use super::ids::Shard;
use crate::congestion::Algorithm;
use crate::mtu::BASE_BYTES;
use crate::security::Suites;
use crate::time::Duration;
use crate::wire::frame;
use crate::wire::settings::{Merging, Settings};
use std::sync::Arc;

/// An endpoint's settings. Those of the protocol are the server's: it sends them to its clients.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether strangers may ask to be let in.
    pub is_server: bool,
    /// What a server and its clients keep to.
    pub settings: Settings,
    /// Merging of this side; `None` for that of the settings.
    pub merging: Option<Merging>,
    /// How long a handshake may take, the application's decision included.
    pub handshake_timeout: Duration,
    /// Connections at once; further clients are refused.
    pub connections_max: u32,
    /// What decides how much may be in flight, on carriers that lose datagrams.
    pub congestion: Algorithm,
    /// Which of several endpoints behind one port this is.
    pub shard: Shard,
    /// Encrypted suites: those that a server lets clients choose from, and what [`super::Endpoint::connect`] asks for.
    pub suites: Option<Arc<dyn Suites>>,
    /// Whether a server lets clients in that ask for no encryption. Streams are as their carrier is, in any case.
    pub allows_plain: bool,
}

impl Config {
    /// A server with these settings.
    pub fn server(settings: Settings) -> Self {
        Config { is_server: true, settings, ..Config::client() }
    }

    /// An endpoint that only connects.
    pub fn client() -> Self {
        Config {
            is_server: false,
            settings: Settings::default(),
            merging: None,
            handshake_timeout: Duration::from_secs(10),
            connections_max: 65_536,
            congestion: Algorithm::default(),
            shard: Shard::default(),
            suites: None,
            allows_plain: true,
        }
    }

    /// The same with these encrypted suites, and nothing in clear.
    pub fn encrypted(self, suites: Arc<dyn Suites>) -> Self {
        Config { suites: Some(suites), allows_plain: false, ..self }
    }

    /// What is wrong with it, if anything.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !self.settings.is_valid() {
            return Err(ConfigError::Settings);
        }
        let accept = frame::accept_len(&self.settings.encode());
        // Nothing is known about the path yet.
        if accept + PACKET_BYTES_BESIDE > usize::from(self.settings.datagram_bytes_max.min(BASE_BYTES)) {
            return Err(ConfigError::ChannelTableTooLong);
        }
        Ok(())
    }
}

/// Header, number, acknowledgement and seal beside an ACCEPT, at most.
const PACKET_BYTES_BESIDE: usize = 128;

/// What is wrong with a [`Config`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A value of the settings is out of range, or the channel table is empty or contradictory.
    Settings,
    /// The channel table does not fit into the packet that carries it to the client.
    ChannelTableTooLong,
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ConfigError::Settings => {
                "a setting is out of range: times from 1 ms to a day, datagrams from 256 to 65,507 bytes, a receive \
                 window of at least the greatest message, 1 to 64 channel rules with a weight of at least 1"
            }
            ConfigError::ChannelTableTooLong => {
                "the channel table does not fit into one datagram: use fewer rules over wider ranges of channels"
            }
        })
    }
}

impl core::error::Error for ConfigError {}
