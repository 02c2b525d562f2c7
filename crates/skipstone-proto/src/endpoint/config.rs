//! The configuration of an endpoint.

use super::ids::Shard;
use crate::channel::inbound::InboundRule;
use crate::congestion::Congestion;
use crate::connection::packet_log::PacketLog;
use crate::security::Suites;
use crate::time::Duration;
use crate::wire::limits::Limits;
use crate::wire::settings::{Merging, Settings};
use std::sync::Arc;

/// The configuration of an endpoint. The protocol settings are the server's, which sends them to its clients.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether clients may connect.
    pub is_server: bool,
    /// The protocol settings of a server and its clients.
    pub settings: Settings,
    /// Merging on this side; `None` for the value in `settings`.
    pub merging: Option<Merging>,
    /// Time limit of a handshake, the application's decision included: 1 ms to 1 hour.
    pub handshake_timeout: Duration,
    /// Maximum number of players, at least 1: established connections, and those that this endpoint began. A client
    /// that connects, or is accepted, when every place is taken is refused with [`code::FULL`](crate::code::FULL).
    /// Connections that are closing, were refused, or wait to be accepted do not count. With shards, connection ids
    /// allow fewer: the shards share half of 2^24.
    pub connections_max: u32,
    /// Players of one [`Network`](crate::Network) at most, those behind a proxy by their own addresses. Further clients
    /// of it are refused with [`code::FULL`](crate::code::FULL), and counted as
    /// [`DropReason::NetworkFull`](crate::DropReason::NetworkFull). `None` for three times as many as there are free
    /// places, but always 8; then loopback and private addresses have no limit. With shards, each endpoint has an equal
    /// part of it.
    pub players_of_network_max: Option<u32>,
    /// The congestion controller, on carriers that lose datagrams.
    pub congestion: Congestion,
    /// This endpoint's shard among several endpoints behind one port.
    pub shard: Shard,
    /// Encrypted suites: those that a server offers to clients, and those that [`super::Endpoint::connect`] requests.
    pub suites: Option<Arc<dyn Suites>>,
    /// Whether a server accepts clients without encryption. On a stream, the carrier determines the encryption.
    pub allows_plain: bool,
    /// How peers become members of [`Group::EVERYONE`](super::Group::EVERYONE).
    pub everyone: Everyone,
    /// Whether a client queries its server's time regularly: [`super::Endpoint::server_time`].
    pub follows_server_time: bool,
    /// Maximum bytes per second to each peer, IP headers included, at least 1,000; `None` without a limit.
    /// Acknowledgements, handshakes and probes always leave, and the messages after them wait for longer.
    pub bandwidth_max_per_peer: Option<u64>,
    /// The same for all peers of this endpoint together. Peers with messages take turns.
    pub bandwidth_max: Option<u64>,
    /// Limits on what a client accepts. The client sends them to its server, which never sends more, whatever its
    /// settings.
    pub limits: Limits,
    /// A server's limits on clients' messages, per channel.
    pub inbound: Arc<[InboundRule]>,
    /// Limits on the memory that peers make this endpoint hold.
    pub memory: MemoryBudget,
    /// Receiver of the packet events of all connections, if any. Needs the feature `packet-log`, without which it is an
    /// error.
    pub packet_log: Option<Arc<dyn PacketLog>>,
}

configuration! {
    /// Limits on the memory that peers make an endpoint hold, in bytes: messages that wait for others or for the
    /// application, channels with state, packets kept for repairs. Connections that exceed a budget are closed with
    /// [`code::MEMORY`](crate::code::MEMORY), the one that holds the most first; their messages that the application
    /// has not polled are dropped and counted. docs/decisions/budgets.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MemoryBudget {
        /// Bytes of memory that one connection may use; never less than four receive windows.
        connection: u64 as Number64, named("memory_per_connection");
        /// Bytes of memory that all connections of one network (IPv4 /24, IPv6 /56) may use.
        network: u64 as Number64, named("memory_per_network");
        /// Bytes of memory that all connections may use.
        endpoint: u64 as Number64, named("memory_max");
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        MemoryBudget { connection: 16 << 20, network: 256 << 20, endpoint: 1 << 30 }
    }
}

/// Memory that a server may make a client hold unless the client configures other limits: enough for every default, and
/// harmless for a player's machine.
const CLIENT_LIMITS: Limits =
    Limits { message_bytes_max: 64 << 20, window_bytes: 72 << 20, datagram_bytes_max: Limits::NONE.datagram_bytes_max };

/// How peers become members of [`Group::EVERYONE`](super::Group::EVERYONE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Everyone {
    /// With their `Connected` event, when it is polled.
    #[default]
    ByEvent,
    /// With [`super::Endpoint::join`], for an application that receives events later than they are polled.
    ByCommand,
}

impl Config {
    /// A server with these settings.
    pub fn server(settings: Settings) -> Self {
        Config { is_server: true, settings, memory: MemoryBudget::default(), ..Config::client() }
    }

    /// An endpoint that only connects.
    pub fn client() -> Self {
        Config {
            is_server: false,
            settings: Settings::default(),
            merging: None,
            handshake_timeout: Duration::from_secs(10),
            connections_max: 65_536,
            players_of_network_max: None,
            congestion: Congestion::default(),
            shard: Shard::default(),
            suites: None,
            allows_plain: true,
            everyone: Everyone::default(),
            follows_server_time: false,
            bandwidth_max_per_peer: None,
            bandwidth_max: None,
            limits: CLIENT_LIMITS,
            inbound: Arc::default(),
            // All of a client's servers may be of one network.
            memory: MemoryBudget { network: MemoryBudget::default().endpoint, ..MemoryBudget::default() },
            packet_log: None,
        }
    }

    /// The same configuration with these encrypted suites, and without plain connections.
    pub fn encrypted(self, suites: Arc<dyn Suites>) -> Self {
        Config { suites: Some(suites), allows_plain: false, ..self }
    }
}
