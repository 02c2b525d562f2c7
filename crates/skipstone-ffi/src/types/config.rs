//! Configurations. Each has its defaults from a function of its own; a field of 0 means what it says.

use std::ffi::c_char;

/// A rule of a server's channel table, for the channels from `first` to `last`. skipstone_channel_init sets the defaults of
/// a delivery mode.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneChannel {
    /// Bytes of this structure, as skipstone_channel_init set them.
    pub size: u32,
    /// The first channel of the rule.
    pub first: u16,
    /// The last channel of the rule.
    pub last: u16,
    /// A SkipstoneDelivery.
    pub delivery: u32,
    /// A SkipstoneOverflow.
    pub overflow: u32,
    /// A SkipstoneRedundancy.
    pub redundancy: u32,
    /// 0 is the most urgent.
    pub priority: u8,
    /// The share among channels of one priority, at least 1.
    pub weight: u8,
    /// 1: the sender learns of each message that arrived.
    pub receipts: u8,
    /// Of SKIPSTONE_REDUNDANCY_FIXED: source packets. Of SKIPSTONE_REDUNDANCY_REPEAT: packets that are repeated.
    pub redundancy_first: u8,
    /// Of SKIPSTONE_REDUNDANCY_FIXED: repair packets.
    pub redundancy_second: u8,
    /// Always 0.
    pub reserved: [u8; 3],
    /// Messages that wait in each channel's queue, at most.
    pub queue_messages_max: u32,
    /// Bytes that wait in each channel's queue, at most.
    pub queue_bytes_max: u32,
}

/// Limits on what clients may send on the channels from `first` to `last`. skipstone_inbound_rule_init sets the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneInboundRule {
    /// Bytes of this structure, as skipstone_inbound_rule_init set them.
    pub size: u32,
    /// The first channel of the rule.
    pub first: u16,
    /// The last channel of the rule.
    pub last: u16,
    /// A SkipstoneDirection.
    pub direction: u32,
    /// A SkipstoneViolation.
    pub violation: u32,
    /// Bytes of a message from a client, at most; 0 for the limit of the settings.
    pub message_bytes_max: u32,
    /// Messages per second of each client on each channel; 0 for any number.
    pub messages_per_second: u32,
    /// Messages that may come at once after a pause; at least 1 where there is a rate.
    pub burst: u32,
}

/// A simulated link, for tests: it delays and loses datagrams around a real socket. All zero is a perfect link.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneLink {
    /// Time on the way.
    pub delay_us: u64,
    /// Up to so much more, at random.
    pub jitter_us: u64,
    /// Bits per second; 0 for any number.
    pub rate_bits_per_second: u64,
    /// Share of datagrams that is lost, 0 to 1.
    pub loss: f64,
    /// Mean number of datagrams lost in a row; 0 for independent losses.
    pub loss_burst: f64,
    /// Share of datagrams that is held back, so that later ones overtake it.
    pub reorder: f64,
    /// Share of datagrams that arrives twice.
    pub duplicate: f64,
}

/// Configuration of a server. skipstone_server_config_init sets the defaults; change what you need. The strings and arrays
/// are read by skipstone_server_start, and may be freed after it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneServerConfig {
    /// Bytes of this structure, as skipstone_server_config_init set them.
    pub size: u32,
    /// A SkipstoneThreading.
    pub threading: u32,
    /// The address of UDP and TCP, "0.0.0.0:7777" or "[::]:7777", which serves IPv4 too; port 0 lets the system choose. NULL
    /// for a server without sockets, which only skipstone_client_connect_local reaches.
    pub listen: *const c_char,
    /// A SkipstoneSecurity.
    pub security: u32,
    /// 1: clients that ask for no encryption are let in too.
    pub allows_plain: u8,
    /// 1: WebSocket and tcp:// clients are served on the TCP port of the same number. Default 1.
    pub websocket: u8,
    /// 1: browsers are served by WebTransport, if the server encrypts. Default 1.
    pub webtransport: u8,
    /// 1: refuses what comes in clear over TCP.
    pub requires_tls: u8,
    /// The name of a PEM file, or a PEM text, as `security` says.
    pub certificate: *const c_char,
    /// The name of a PEM file, or a PEM text, as `security` says.
    pub key: *const c_char,
    /// The channel table; the first rule that holds a channel rules it. NULL for one rule: every channel reliable and ordered. An
    /// array without a rule is refused.
    pub channels: *const SkipstoneChannel,
    /// Limits on what clients may send.
    pub inbound: *const SkipstoneInboundRule,
    /// Rules of `channels`.
    pub channel_count: u32,
    /// Rules of `inbound`.
    pub inbound_count: u32,
    // catalogue: settings of version 1.0
    /// Time without a packet after which the peer is gone: the idle timeout.
    pub idle_timeout_us: u64,
    /// Time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is shorter; a server
    /// waits half as long again, or until half-way to the idle timeout if that is sooner.
    pub keepalive_us: u64,
    /// Longest time for which an acknowledgement may be held back while losses are possible (WIRE.md section 4.1).
    pub ack_delay_us: u64,
    /// Longest time for which an acknowledgement may be held back at all, also where nothing was lost (WIRE.md section
    /// 4.1); `ack_delay` if that is longer. On a stream it is 100 ms, whatever both are.
    pub ack_delay_max_us: u64,
    /// Maximum bytes of a message.
    pub message_bytes_max: u32,
    /// Bytes of reliable messages that a receiver holds: the receive window, in which a message of `message_bytes_max`
    /// must fit.
    pub window_bytes: u32,
    /// Maximum bytes of a datagram of UDP; streams have packets of their own size.
    pub datagram_bytes_max: u32,
    // catalogue: end
    /// A SkipstoneRedundancy for channels that have none of their own.
    pub redundancy: u32,
    /// As in SkipstoneChannel.
    pub redundancy_first: u8,
    /// As in SkipstoneChannel.
    pub redundancy_second: u8,
    /// Bytes of repairs and copies in percent of what they protect, at most.
    pub redundancy_budget_percent: u16,
    /// Number of drivers, each with a thread: as many as there are cores to run them.
    pub shards: u32,
    /// When the server sends queued messages: SKIPSTONE_MERGE_NOT, SKIPSTONE_MERGE_UNTIL_FLUSH (default), or so many µs after
    /// the first that waits.
    pub merging_us: u64,
    /// The same for its clients, unless they choose. Default SKIPSTONE_MERGE_NOT.
    pub client_merging_us: u64,
    /// Time limit of a handshake, the application's decision included.
    pub handshake_timeout_us: u64,
    /// Players at once.
    pub connections_max: u32,
    /// A SkipstoneCongestion.
    pub congestion: u32,
    /// Bytes that may wait in each of the two queues between the application and a driver.
    pub queue_bytes_max: u64,
    /// Bytes per second to each client, at most; 0 for no limit.
    pub bandwidth_max_per_peer: u64,
    /// Bytes per second to all clients together, at most; 0 for no limit.
    pub bandwidth_max: u64,
    /// Bytes of memory that one connection may use.
    pub memory_per_connection: u64,
    /// Bytes of memory that the connections of one network may use.
    pub memory_per_network: u64,
    /// Bytes of memory that all connections may use.
    pub memory_max: u64,
    /// Origins of the pages from which browsers may connect, as `https://game.example`; none allows all.
    pub origins: *const *const c_char,
    /// Names under which the server may be asked for over HTTP; none allows all.
    pub hosts: *const *const c_char,
    /// Proxies, by address or network, that may say whose connections they pass on.
    pub trusted_proxies: *const *const c_char,
    /// Number of `origins`.
    pub origin_count: u32,
    /// Number of `hosts`.
    pub host_count: u32,
    /// Number of `trusted_proxies`.
    pub trusted_proxy_count: u32,
    /// Messages of so many bytes and more have their progress published; 0 for none.
    pub transfer_bytes_min: u32,
    /// Answer to server browsers, up to 1,181 bytes; NULL for none.
    pub query_answer: *const u8,
    /// Bytes of `query_answer`.
    pub query_answer_length: u32,
    /// 1: `up` and `down` simulate a network around the UDP socket; `websocket` must be 0.
    pub impaired: u32,
    /// The seed of what is simulated.
    pub impairment_seed: u64,
    /// The simulated links towards the server.
    pub up: SkipstoneLink,
    /// The simulated links towards the clients.
    pub down: SkipstoneLink,
    /// Addresses and networks of which nothing is heard, as skipstone_server_set_denied has them. Since version 1.3.
    pub denied: *const *const c_char,
    /// Number of `denied`.
    pub denied_count: u32,
    /// Players of one network (IPv4 /24, IPv6 /56) at most; 0 for three times as many as there are free places, and 8 in any case,
    /// while loopback and private addresses have no limit. Since version 1.4.
    pub players_of_network_max: u32,
    // catalogue: settings since version 1.4
    // catalogue: end
}

/// Configuration of a client. skipstone_client_config_init sets the defaults. The strings are read by
/// skipstone_client_connect, and may be freed after it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneClientConfig {
    /// Bytes of this structure, as skipstone_client_config_init set them.
    pub size: u32,
    /// A SkipstoneThreading.
    pub threading: u32,
    /// A SkipstoneTrust. A fingerprint in the URL goes before.
    pub trust: u32,
    /// A SkipstoneCongestion.
    pub congestion: u32,
    /// PEM text, of SKIPSTONE_TRUST_AUTHORITIES.
    pub authorities: *const c_char,
    /// SHA-256 of the server's certificate, of SKIPSTONE_TRUST_PINNED.
    pub fingerprint: [u8; 32],
    /// The version of DTLS that skip+dtls:// means: 12 or 13; 0 for the default.
    pub dtls_version: u32,
    /// 1: asks for the server's time now and then. Default 1.
    pub follows_server_time: u32,
    /// When this client sends queued messages: SKIPSTONE_MERGE_AS_SERVER (default), SKIPSTONE_MERGE_NOT,
    /// SKIPSTONE_MERGE_UNTIL_FLUSH, or so many µs after the first that waits.
    pub merging_us: u64,
    /// Time limit of the handshake.
    pub handshake_timeout_us: u64,
    /// Bytes that may wait in each of the two queues between the application and the driver.
    pub queue_bytes_max: u64,
    /// Bytes per second that this client sends, at most; 0 for no limit.
    pub bandwidth_max: u64,
    /// Bytes of a message that this client takes, at most.
    pub message_bytes_max: u32,
    /// Bytes of reliable messages that this client holds.
    pub window_bytes: u32,
    /// Bytes of a datagram that this client takes, at most.
    pub datagram_bytes_max: u32,
    /// Messages of so many bytes and more have their progress published; 0 for none.
    pub transfer_bytes_min: u32,
    /// 1: `up` and `down` simulate a network around the UDP socket.
    pub impaired: u32,
    /// Always 0.
    pub reserved: u32,
    /// The seed of what is simulated.
    pub impairment_seed: u64,
    /// The simulated link towards the server.
    pub up: SkipstoneLink,
    /// The simulated link towards this client.
    pub down: SkipstoneLink,
    /// 1: after a connection that was lost, or to a server that restarts or is full, the client connects again by itself, in
    /// skipstone_poll: see skipstone_client_returns_in. It has no effect on a client of this process. Since version 1.3.
    pub reconnects: u32,
    /// Attempts in a row that may fail. Default 20.
    pub reconnect_attempts_max: u32,
    /// The first pause after a lost connection, at least 1 ms; it doubles with each attempt that fails, and half of it is random.
    /// Default 250 ms.
    pub reconnect_pause_min_us: u64,
    /// The longest pause. Default 30 s.
    pub reconnect_pause_max_us: u64,
}
