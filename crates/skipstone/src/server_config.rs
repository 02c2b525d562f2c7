//! The configuration of a server. A line of its table with a kind (`as Time`) is all that declares a setting in every
//! language: `cargo xtask catalogue --update`.

use crate::driver::LOCAL_ADDRESS;
use crate::driver::impair::Impairment;
use crate::handle::Threading;
use crate::listen_sockets::ListenSockets;
use crate::listener_rules::ListenerRules;
use crate::security::Security;
use crate::start_error::StartError;
use bytes::Bytes;
use skipstone_proto::{Congestion, Duration, InboundRule, MemoryBudget, Merging, PacketLog, Settings, configuration};
use std::net::SocketAddr;
use std::sync::Arc;

configuration! {
    /// Configuration of a server.
    #[derive(Clone, Debug)]
    pub struct ServerConfig {
        /// Address of UDP and TCP; `[::]` serves IPv4 too, port 0 lets the system choose. `None` for a server without
        /// sockets, which only [`Server::connect_local`](crate::Server::connect_local) reaches.
        listen: Option<SocketAddr>;
        /// Open sockets to use instead of new ones at `listen`, from the previous process or from a supervisor. One
        /// pair for each shard.
        sockets: Option<ListenSockets>;
        /// Whether the server accepts WebSocket and `tcp://` clients, and answers HTTP, on the TCP port of the same
        /// number; within TLS too, if the server has a certificate. Needs the feature `websocket`, without which `true`
        /// is an error at the start.
        websocket: bool;
        /// Whether the server accepts browsers by WebTransport, on the UDP port, if it encrypts. Needs the feature
        /// `webtransport`, without which `true` is an error at the start.
        webtransport: bool;
        /// Rules for that TCP port: origins, hosts, answers to HTTP, and limits on streams that are not yet
        /// connections. The origins apply to WebTransport, too.
        listener_rules: ListenerRules;
        /// Proxies, by address or network (`10.0.0.7`, `10.0.0.0/8`), that may name the client whose connection they
        /// forward: by the PROXY protocol (versions 1 and 2), or for WebSockets by `Forwarded` or `X-Forwarded-For`.
        ///
        /// Budgets of networks and [`Event::Requested`](skipstone_proto::Event::Requested) then use the client's
        /// address. Such headers from other addresses are ignored. Needs the feature `websocket`.
        trusted_proxies: Vec<String> as Texts;
        /// Addresses and networks that the server denies, on any carrier: their datagrams are dropped and their streams
        /// closed before any state is kept or any answer sent, and counted.
        ///
        /// The count is [`DriverStats::denied`](crate::DriverStats::denied). Behind a trusted proxy the client's
        /// address decides, as soon as the proxy has named it: by the PROXY protocol before anything else; by
        /// `Forwarded` only in the request of a WebSocket, after the TLS handshake. Other HTTP requests that a proxy
        /// forwards are answered. [`Server::set_denied`](crate::Server::set_denied) changes them.
        denied: Vec<String> as Texts, since(1, 3);
        /// Memory that clients can make the server hold; with shards, each shard has a part of it.
        memory: MemoryBudget;
        /// Settings of the server and all its clients.
        settings: Settings;
        /// When the server sends queued messages, and thus which messages share a datagram. [`Merging::Flush`] sends at
        /// each [`Server::flush`](crate::Server::flush).
        merging: Merging;
        /// Time limit of a handshake, the application's decision included.
        handshake_timeout: Duration as Time;
        /// Maximum number of connected players; further clients are told that the server is full. Connections that are
        /// closing, were refused, or wait to be accepted do not count.
        connections_max: u32 as Number32;
        /// Players of one network (IPv4 /24, IPv6 /56) at most; further clients of it are told that it has no more
        /// places. By default three times as many as there are free places, and 8 in any case, so that one network
        /// leaves a quarter of the places to others; then loopback and private addresses have no limit.
        ///
        /// Behind a trusted proxy the players' own addresses count. With shards, each has an equal part of it.
        players_of_network_max: Option<u32> as Optional32, since(1, 4);
        /// Whether background threads or the application run the drivers.
        threading: Threading;
        /// Number of drivers, each with its own thread, sockets and share of the clients; at most one for each core is
        /// useful. 1 by default, or 2 to 256 on Linux with background threads.
        shards: u32 as Number32;
        /// Bytes of messages that may wait in each of the two queues between the application and a driver's thread:
        /// messages to send, and events that were not polled. At least 1 MiB.
        ///
        /// Above this limit, [`Server::send`](crate::Server::send)
        /// reports that the driver is busy, and events stay in the protocol, whose receive windows hold the peers back.
        queue_bytes_max: u64 as Number64;
        /// Congestion controller, which limits the bytes that the server has in flight towards each native client.
        congestion: Congestion;
        /// Maximum rate at which the server sends to each client, in bytes per second, IP headers included; at least
        /// 1,000. Without a limit by default.
        ///
        /// It applies on every carrier, with every `congestion`. Messages wait in their
        /// channels' queues; acknowledgements, handshakes and probes always leave, and the messages after them wait for
        /// longer.
        bandwidth_max_per_peer: Option<u64> as Optional64;
        /// Maximum rate at which the server sends to all clients together, in bytes per second, IP headers included.
        /// Without a limit by default.
        ///
        /// Clients with messages take turns, so no client waits for one with a high
        /// rate. With shards, each has an equal part of it.
        bandwidth_max: Option<u64> as Optional64;
        /// Limits on what clients may send, per channel: who may send, the length of messages, and their number per
        /// second. The server does not send these limits to its clients.
        inbound: Vec<InboundRule>;
        /// Encryption of native clients; `None` for encryption with a certificate generated for this run, whose
        /// fingerprint is in [`Server::url`](crate::Server::url).
        security: Option<Security>;
        /// Network impairments to simulate around the UDP socket: each client's address has links of its own, seeded by
        /// the order in which the addresses appeared. `up` is towards the server. WebSocket must be off; clients of
        /// [`Server::connect_local`](crate::Server::connect_local) have no impairment.
        impairment: Option<Impairment>;
        /// Answer to server browsers, which ask in clear and without a connection: up to 1,181 bytes in the
        /// application's own format. No answer by default.
        ///
        /// They ask by [`query`](crate::query()) or [`QueryBatch`](crate::QueryBatch).
        /// [`Server::set_query_answer`](crate::Server::set_query_answer) changes it.
        query_answer: Option<Bytes> as Bytes;
        /// The progress of messages of at least this many bytes is published; by default of none, which costs nothing.
        ///
        /// [`Server::transfers`](crate::Server::transfers) shows it.
        transfer_bytes_min: Option<u32> as Optional32;
        /// Receiver of the packet events of all connections, if any; each driver waits for its calls. The feature
        /// `qlog` has one that writes files.
        packet_log: Option<Arc<dyn PacketLog>>;
    }
}

impl ServerConfig {
    /// A server at this address, WebSocket included, encrypted, that merges messages sent between two flushes.
    pub fn new(listen: SocketAddr) -> Self {
        ServerConfig {
            listen: Some(listen),
            sockets: None,
            websocket: cfg!(feature = "websocket"),
            webtransport: cfg!(all(feature = "webtransport", feature = "__tls")),
            listener_rules: ListenerRules::default(),
            trusted_proxies: Vec::new(),
            denied: Vec::new(),
            memory: MemoryBudget::default(),
            settings: Settings::default(),
            merging: Merging::Flush,
            handshake_timeout: Duration::from_secs(10),
            connections_max: 65_536,
            players_of_network_max: None,
            threading: Threading::default(),
            shards: 1,
            queue_bytes_max: QUEUE_BYTES_MAX,
            congestion: Congestion::default(),
            bandwidth_max_per_peer: None,
            bandwidth_max: None,
            inbound: Vec::new(),
            security: None,
            impairment: None,
            query_answer: None,
            transfer_bytes_min: None,
            packet_log: None,
        }
    }

    /// A server without sockets, for a single player: only [`Server::connect_local`](crate::Server::connect_local)
    /// reaches it.
    pub fn offline() -> Self {
        ServerConfig { listen: None, websocket: false, security: Some(Security::plain()), ..Self::new(LOCAL_ADDRESS) }
    }

    /// Refuses a setting that needs a feature which this build does not have: it would have no effect.
    pub(crate) fn check_features(&self) -> Result<(), StartError> {
        self.check_built(Built::HERE)
    }

    fn check_built(&self, built: Built) -> Result<(), StartError> {
        let needed = [
            ("websocket", self.websocket, built.websocket, "websocket"),
            ("webtransport", self.webtransport, built.webtransport, "webtransport, with ring or aws-lc"),
            ("trusted_proxies", !self.trusted_proxies.is_empty(), built.websocket, "websocket"),
        ];
        match needed.into_iter().find(|(_, is_set, is_built, _)| *is_set && !is_built) {
            Some((setting, _, _, feature)) => Err(StartError::NotBuilt { setting, feature }),
            None => Ok(()),
        }
    }
}

/// The carriers of a build.
#[derive(Clone, Copy, Debug)]
struct Built {
    websocket: bool,
    webtransport: bool,
}

impl Built {
    const HERE: Built = Built {
        websocket: cfg!(feature = "websocket"),
        webtransport: cfg!(all(feature = "webtransport", feature = "__tls")),
    };
}

/// Default limit, in bytes, of each queue between an application and its driver's thread.
const QUEUE_BYTES_MAX: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_without_its_feature_is_refused_with_the_feature_name() {
        let bare = || ServerConfig { webtransport: false, ..ServerConfig::offline() };
        let proxies = vec!["10.0.0.7".into()];
        for (config, setting, feature) in [
            (ServerConfig { websocket: true, ..bare() }, "websocket", "websocket"),
            (ServerConfig { webtransport: true, ..bare() }, "webtransport", "webtransport, with ring"),
            (ServerConfig { trusted_proxies: proxies, ..bare() }, "trusted_proxies", "websocket"),
        ] {
            let small = config.check_built(Built { websocket: false, webtransport: false });
            let refused = small.expect_err("it has no effect").to_string();
            assert!(refused.starts_with(setting) && refused.contains(&format!("its feature {feature}")), "{refused}");
            config.check_built(Built { websocket: true, webtransport: true }).expect("a whole build");
        }
        bare().check_built(Built { websocket: false, webtransport: false }).expect("it asks for nothing");
        ServerConfig::new(LOCAL_ADDRESS).check_features().expect("what a build begins with is in it");
    }
}
