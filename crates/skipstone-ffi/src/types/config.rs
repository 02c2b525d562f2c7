//! Configurations. Each has a function that sets its defaults; a field of 0 means 0.

use std::ffi::c_char;

/// A rule of a server's channel table, for the channels from `first` to `last`. skipstone_channel_init sets the
/// defaults of a delivery mode.
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
    /// 1: the sender gets an event for each message that arrived.
    pub receipts: u8,
    /// For SKIPSTONE_REDUNDANCY_FIXED: source packets. For SKIPSTONE_REDUNDANCY_REPEAT: packets whose messages are
    /// repeated.
    pub redundancy_first: u8,
    /// For SKIPSTONE_REDUNDANCY_FIXED: repair packets.
    pub redundancy_second: u8,
    /// Always 0.
    pub reserved: [u8; 3],
    /// Maximum number of messages in each channel's queue.
    pub queue_messages_max: u32,
    /// Maximum bytes in each channel's queue.
    pub queue_bytes_max: u32,
}

/// Limits on what clients may send on the channels from `first` to `last`. skipstone_inbound_rule_init sets the
/// defaults.
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
    /// Maximum bytes of a message from a client; 0 for the limit of the settings.
    pub message_bytes_max: u32,
    /// Messages per second of each client on each channel; 0 for no limit.
    pub messages_per_second: u32,
    /// Messages that may arrive at once after a pause; at least 1 if there is a rate.
    pub burst: u32,
}

/// A simulated link, for tests: it delays and loses datagrams around a real socket. All zero means a perfect link.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneLink {
    /// One-way delay.
    pub delay_us: u64,
    /// Maximum additional random delay.
    pub jitter_us: u64,
    /// Bits per second; 0 for no limit.
    pub rate_bits_per_second: u64,
    /// Share of datagrams that is lost, 0 to 1.
    pub loss: f64,
    /// Mean number of datagrams lost in a row; 0 for independent losses.
    pub loss_burst: f64,
    /// Share of datagrams that are held back, so that later ones overtake them.
    pub reorder: f64,
    /// Share of datagrams that arrive twice.
    pub duplicate: f64,
}

/// Configuration of a server. skipstone_server_config_init sets the defaults; change what you need. The strings and
/// arrays are read by skipstone_server_start, and may be freed after it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SkipstoneServerConfig {
    /// Bytes of this structure, as skipstone_server_config_init set them.
    pub size: u32,
    /// A SkipstoneThreading.
    pub threading: u32,
    /// The address for UDP and TCP, "0.0.0.0:7777" or "[::]:7777", which serves IPv4 too; with port 0 the system
    /// chooses the port. NULL for a server without sockets, which only skipstone_client_connect_local reaches.
    pub listen: *const c_char,
    /// A SkipstoneSecurity.
    pub security: u32,
    /// 1: clients that request no encryption are admitted too.
    pub allows_plain: u8,
    /// 1: WebSocket and tcp:// clients are served on the TCP port with the same number. Default 1.
    pub websocket: u8,
    /// 1: browsers are served by WebTransport, if the server encrypts. Default 1.
    pub webtransport: u8,
    /// 1: refuses unencrypted connections over TCP.
    pub requires_tls: u8,
    /// The name of a PEM file, or a PEM text, as `security` says.
    pub certificate: *const c_char,
    /// The name of a PEM file, or a PEM text, as `security` says.
    pub key: *const c_char,
    /// The channel table; the first rule that contains a channel applies to it. NULL for one rule: every channel is
    /// reliable and ordered. An empty array is refused.
    pub channels: *const SkipstoneChannel,
    /// Limits on what clients may send.
    pub inbound: *const SkipstoneInboundRule,
    /// Number of rules in `channels`.
    pub channel_count: u32,
    /// Number of rules in `inbound`.
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
    /// 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms.
    pub ack_delay_max_us: u64,
    /// Maximum bytes of a message.
    pub message_bytes_max: u32,
    /// Bytes of reliable messages that a receiver holds: the receive window, in which a message of `message_bytes_max`
    /// must fit.
    pub window_bytes: u32,
    /// Maximum bytes of a datagram of UDP; streams have packets of their own size.
    pub datagram_bytes_max: u32,
    // catalogue: end
    /// A SkipstoneRedundancy for channels without their own.
    pub redundancy: u32,
    /// As in SkipstoneChannel.
    pub redundancy_first: u8,
    /// As in SkipstoneChannel.
    pub redundancy_second: u8,
    /// Maximum bytes of repairs and copies, in percent of the bytes that they protect.
    pub redundancy_budget_percent: u16,
    /// Number of drivers, each with its own thread; more of them than cores bring nothing.
    pub shards: u32,
    /// When the server sends queued messages: SKIPSTONE_MERGE_NOT, SKIPSTONE_MERGE_UNTIL_FLUSH (default), or a number
    /// of µs after the first queued message.
    pub merging_us: u64,
    /// The same for its clients, unless they choose otherwise. Default SKIPSTONE_MERGE_NOT.
    pub client_merging_us: u64,
    /// Time limit of a handshake, including the application's decision.
    pub handshake_timeout_us: u64,
    /// Maximum number of players.
    pub connections_max: u32,
    /// A SkipstoneCongestion.
    pub congestion: u32,
    /// Maximum bytes in each of the two queues between the application and a driver.
    pub queue_bytes_max: u64,
    /// Maximum bytes per second to each client; 0 for no limit.
    pub bandwidth_max_per_peer: u64,
    /// Maximum bytes per second to all clients together; 0 for no limit.
    pub bandwidth_max: u64,
    /// Maximum bytes of memory of one connection.
    pub memory_per_connection: u64,
    /// Maximum bytes of memory of all connections of one network.
    pub memory_per_network: u64,
    /// Maximum bytes of memory of all connections.
    pub memory_max: u64,
    /// Origins of pages that may connect, as `https://game.example`; an empty list allows all.
    pub origins: *const *const c_char,
    /// Host names that HTTP requests may name; an empty list allows all.
    pub hosts: *const *const c_char,
    /// Proxies, by address or network, that are trusted to state their clients' addresses.
    pub trusted_proxies: *const *const c_char,
    /// Number of `origins`.
    pub origin_count: u32,
    /// Number of `hosts`.
    pub host_count: u32,
    /// Number of `trusted_proxies`.
    pub trusted_proxy_count: u32,
    /// Progress is published for messages of at least this many bytes; 0 for none.
    pub transfer_bytes_min: u32,
    /// Answer to queries of server browsers, up to 1,181 bytes; NULL for none.
    pub query_answer: *const u8,
    /// Bytes of `query_answer`.
    pub query_answer_length: u32,
    /// 1: `up` and `down` simulate a network around the UDP socket; `websocket` must be 0.
    pub impaired: u32,
    /// The seed of the simulation.
    pub impairment_seed: u64,
    /// The simulated links towards the server.
    pub up: SkipstoneLink,
    /// The simulated links towards the clients.
    pub down: SkipstoneLink,
    /// Addresses and networks that the server ignores, as in skipstone_server_set_denied. Since version 1.3.
    pub denied: *const *const c_char,
    /// Number of `denied`.
    pub denied_count: u32,
    /// Maximum number of players of one network (IPv4 /24, IPv6 /56). 0: three times the number of free places, but at
    /// least 8, and no limit for loopback and private addresses. Since version 1.4.
    pub players_of_network_max: u32,
    // catalogue: settings since version 1.4
    /// The channel by which the server moves its clients to other servers (WIRE.md section 8.2), which must be reliable
    /// and ordered, and which applications cannot use; 65,536 for none. Since version 1.5.
    pub moves_channel: u32,
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
    /// A SkipstoneTrust. A fingerprint in the URL takes precedence.
    pub trust: u32,
    /// A SkipstoneCongestion.
    pub congestion: u32,
    /// PEM text for SKIPSTONE_TRUST_AUTHORITIES.
    pub authorities: *const c_char,
    /// SHA-256 of the server's certificate for SKIPSTONE_TRUST_PINNED.
    pub fingerprint: [u8; 32],
    /// The version of DTLS for skip+dtls:// URLs: 12 or 13; 0 for the default.
    pub dtls_version: u32,
    /// 1: requests the server's time regularly. Default 1.
    pub follows_server_time: u32,
    /// When this client sends queued messages: SKIPSTONE_MERGE_AS_SERVER (default), SKIPSTONE_MERGE_NOT,
    /// SKIPSTONE_MERGE_UNTIL_FLUSH, or a number of µs after the first queued message.
    pub merging_us: u64,
    /// Time limit of the handshake.
    pub handshake_timeout_us: u64,
    /// Maximum bytes in each of the two queues between the application and the driver.
    pub queue_bytes_max: u64,
    /// Maximum bytes per second that this client sends; 0 for no limit.
    pub bandwidth_max: u64,
    /// Maximum bytes of a message that this client accepts.
    pub message_bytes_max: u32,
    /// Maximum bytes of reliable messages that this client holds.
    pub window_bytes: u32,
    /// Maximum bytes of a datagram that this client accepts.
    pub datagram_bytes_max: u32,
    /// Progress is published for messages of at least this many bytes; 0 for none.
    pub transfer_bytes_min: u32,
    /// 1: `up` and `down` simulate a network around the UDP socket.
    pub impaired: u32,
    /// Always 0.
    pub reserved: u32,
    /// The seed of the simulation.
    pub impairment_seed: u64,
    /// The simulated link towards the server.
    pub up: SkipstoneLink,
    /// The simulated link towards this client.
    pub down: SkipstoneLink,
    /// 1: the client connects again by itself, in skipstone_poll, after it lost its connection or if the server
    /// restarts or is full: see skipstone_client_returns_in. It has no effect on a client of this process. Since
    /// version 1.3.
    pub reconnects: u32,
    /// Maximum number of consecutive failed attempts. Default 20.
    pub reconnect_attempts_max: u32,
    /// The first pause after a lost connection, at least 1 ms; it doubles with each failed attempt, and half of it is
    /// random. Default 250 ms.
    pub reconnect_pause_min_us: u64,
    /// The longest pause. Default 30 s.
    pub reconnect_pause_max_us: u64,
}
