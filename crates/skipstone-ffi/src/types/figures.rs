//! Statistics: snapshots, up to 50 ms old.

/// Counters of one direction.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipstoneFlow {
    // catalogue: flow
    /// Datagrams of any size.
    pub datagrams: u64,
    /// Messages of the application.
    pub messages: u64,
    /// Bytes of those messages, each counted once.
    pub payload_bytes: u64,
    /// Bytes of the datagrams: payload, and the overhead of the protocol.
    pub datagram_bytes: u64,
    /// Bytes of the datagrams with IP and carrier headers.
    pub ip_bytes: u64,
    // catalogue: end
}

/// Counters of a connection, or of all. They only grow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipstoneStats {
    /// Bytes of this structure; set it before the call.
    pub size: u32,
    /// Always 0.
    pub reserved: u32,
    // catalogue: counters
    /// What was sent.
    pub sent: SkipstoneFlow,
    /// What was received and authenticated.
    pub received: SkipstoneFlow,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost whose acknowledgement came later.
    pub packets_spurious: u64,
    /// Messages and fragments retransmitted.
    pub resent: u64,
    /// Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
    pub probes: u64,
    /// Repair packets sent.
    pub repairs_sent: u64,
    /// Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
    /// earlier ones.
    pub copies_sent: u64,
    /// Bytes of repairs and copies, IP headers included, and of messages repeated.
    pub redundancy_bytes_sent: u64,
    /// Packets of the peer that were lost and recovered here, each without waiting for a round trip.
    pub packets_recovered: u64,
    /// Packets sent here that were lost and that the peer recovered.
    pub packets_recovered_by_peer: u64,
    /// Times that the connection moved to a new address.
    pub paths_changed: u64,
    /// Messages refused or dropped by a full queue.
    pub queue_overflows: u64,
    /// Datagrams, packets and messages that were dropped on arrival, for any reason.
    pub drops: u64,
    /// Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused,
    /// an earlier acknowledgement was lost, or it does not follow the settings. Since version 1.4.
    pub acks_overdue: u64,
    /// New addresses that did not prove to be the peer's. Since version 1.4.
    pub paths_refused: u64,
    /// Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3). Since
    /// version 1.4.
    pub black_holes: u64,
    // catalogue: end
}

/// The version 1.0 counters of a connection. They are in the middle of an overview, so this structure never changes.
/// Newer counters are at the overview's end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipstoneStatsOf1_0 {
    /// Bytes of this structure.
    pub size: u32,
    /// Always 0.
    pub reserved: u32,
    // catalogue: counters of version 1.0
    /// What was sent.
    pub sent: SkipstoneFlow,
    /// What was received and authenticated.
    pub received: SkipstoneFlow,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost whose acknowledgement came later.
    pub packets_spurious: u64,
    /// Messages and fragments retransmitted.
    pub resent: u64,
    /// Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again.
    pub probes: u64,
    /// Repair packets sent.
    pub repairs_sent: u64,
    /// Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
    /// earlier ones.
    pub copies_sent: u64,
    /// Bytes of repairs and copies, IP headers included, and of messages repeated.
    pub redundancy_bytes_sent: u64,
    /// Packets of the peer that were lost and recovered here, each without waiting for a round trip.
    pub packets_recovered: u64,
    /// Packets sent here that were lost and that the peer recovered.
    pub packets_recovered_by_peer: u64,
    /// Times that the connection moved to a new address.
    pub paths_changed: u64,
    /// Messages refused or dropped by a full queue.
    pub queue_overflows: u64,
    /// Datagrams, packets and messages that were dropped on arrival, for any reason.
    pub drops: u64,
    // catalogue: end
}

/// A snapshot of a connection.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipstoneOverview {
    /// Bytes of this structure; set it before the call.
    pub size: u32,
    /// Current maximum bytes of a datagram: what the path is known to carry.
    pub datagram_bytes: u32,
    /// The connection.
    pub peer: u64,
    /// Smoothed round-trip time.
    pub rtt_us: u64,
    /// Variation of the round-trip time.
    pub rtt_variation_us: u64,
    /// The minimum round-trip time that was measured; 0 before the first.
    pub rtt_min_us: u64,
    /// Messages that are queued or in flight.
    pub queued_messages: u64,
    /// Bytes of those messages.
    pub queued_bytes: u64,
    /// Bytes of messages that arrived and wait for earlier ones.
    pub held_bytes: u64,
    /// Bytes in flight.
    pub bytes_in_flight: u64,
    /// The congestion window: maximum bytes in flight.
    pub congestion_window: u64,
    /// Messages per second to the peer, over about a second.
    pub sent_messages_per_second: f64,
    /// Bytes per second to the peer, headers included.
    pub sent_bytes_per_second: f64,
    /// Share of packets to the peer that the path lost, 0 to 1, over about the last thousand; those sent together count
    /// as one.
    pub sent_loss: f64,
    /// Messages per second from the peer.
    pub received_messages_per_second: f64,
    /// Bytes per second from the peer, headers included.
    pub received_bytes_per_second: f64,
    /// Share of packets from the peer that the path lost, 0 to 1, over about the last thousand.
    pub received_loss: f64,
    /// The carrier of the connection, NUL-padded: "udp", "dtls", "wt", "ws", "wss", "tcp", "tls" or "local".
    pub carrier: [u8; 8],
    /// The connection's counters of version 1.0; later ones are at the end, under the names of SkipstoneStats.
    pub stats: SkipstoneStatsOf1_0,
    /// Bytes of datagrams per second that may be sent to the peer, as far as the path is known: scale snapshots by it.
    /// UINT64_MAX if nothing limits them: on a stream, whose load shows in `queued_bytes`. Since version 1.2.
    pub available_bytes_per_second: u64,
    /// Bytes of messages per second to the peer. Since version 1.3.
    pub sent_payload_bytes_per_second: f64,
    /// Bytes of messages per second from the peer. Since version 1.3.
    pub received_payload_bytes_per_second: f64,
    // catalogue: counters since version 1.4
    /// Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused,
    /// an earlier acknowledgement was lost, or it does not follow the settings. Since version 1.4.
    pub acks_overdue: u64,
    /// New addresses that did not prove to be the peer's. Since version 1.4.
    pub paths_refused: u64,
    /// Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3). Since
    /// version 1.4.
    pub black_holes: u64,
    // catalogue: end
}

/// Counters of the drivers and their sockets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipstoneDriverStats {
    /// Bytes of this structure; set it before the call.
    pub size: u32,
    /// 1: the system granted smaller socket buffers than requested.
    pub are_buffers_short: u32,
    // catalogue: driver counters
    /// Rounds of the driver's loop.
    pub rounds: u64,
    /// System calls that sent datagrams.
    pub send_calls: u64,
    /// Datagrams that the system refused to send.
    pub send_errors: u64,
    /// Datagrams that the kernel dropped because a receive buffer was full.
    pub receive_drops: u64,
    /// WebSocket connections in clear, open now.
    pub websockets: u64,
    /// WebSocket connections over TLS, open now.
    pub secure_websockets: u64,
    /// TCP connections without WebSocket, open now.
    pub raw_streams: u64,
    /// Streams in memory to clients of this process, or to their server.
    pub locals: u64,
    /// DTLS sessions that there are now, handshakes included.
    pub dtls_sessions: u64,
    /// QUIC connections that there are now, handshakes included.
    pub webtransport_sessions: u64,
    /// Datagrams and streams from addresses that the server denies. Since version 1.3.
    pub denied: u64,
    /// The smallest receive buffer granted, in bytes. Since version 1.3.
    pub receive_buffer_bytes: u64,
    /// Datagrams that the network simulated around a server dropped for lack of memory. Since version 1.3.
    pub impairment_drops: u64,
    /// Datagrams handed to the shard that their connection id names. Since version 1.3.
    pub misrouted_handed_on: u64,
    /// Misrouted datagrams dropped, because too many already waited for their shard. Since version 1.3.
    pub misrouted_dropped: u64,
    /// DTLS sessions that began with a ClientHello. Since version 1.3.
    pub dtls_begun: u64,
    /// DTLS handshakes that were completed. Since version 1.3.
    pub dtls_established: u64,
    /// DTLS sessions that were removed before their time limit, because another session needed the place. Since version
    /// 1.3.
    pub dtls_displaced: u64,
    /// Datagrams that belonged to no DTLS session and began none, or were invalid in their session, and answers that
    /// would have been too long. Since version 1.3.
    pub dtls_dropped: u64,
    /// QUIC handshakes that began. Since version 1.3.
    pub webtransport_begun: u64,
    /// QUIC handshakes that were completed. Since version 1.3.
    pub webtransport_established: u64,
    /// WebTransport sessions that were granted. Since version 1.3.
    pub webtransport_granted: u64,
    /// Unproven clients that were asked for a proof of their address first (RFC 9000, section 8.1.2). Since version
    /// 1.3.
    pub webtransport_retries: u64,
    /// QUIC connections that were removed before their time limit, because another one needed the place. Since version
    /// 1.3.
    pub webtransport_displaced: u64,
    /// Requests and streams that were refused, for their origin or because nothing here needs them. Since version 1.3.
    pub webtransport_refused: u64,
    /// Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3. Since version 1.3.
    pub webtransport_breaches: u64,
    /// Datagrams that belonged to no QUIC connection and began none, or to no session; and datagrams of the protocol
    /// that a session did not accept. Since version 1.3.
    pub webtransport_dropped: u64,
    /// Streams accepted. Since version 1.3.
    pub streams_accepted: u64,
    /// Streams whose handshake or close timed out. Since version 1.3.
    pub streams_timed_out: u64,
    /// Streams that were closed for newer ones, because their network had too many without a connection. Since version
    /// 1.3.
    pub streams_displaced: u64,
    /// Plain HTTP requests that were answered. Since version 1.3.
    pub streams_answered: u64,
    /// HTTP requests that were refused: with 426 without a WebSocket upgrade, with 404 for an unknown path. Since
    /// version 1.3.
    pub streams_not_upgraded: u64,
    /// Streams that ended without a close: the peer is gone, or left without closing. Since version 1.3.
    pub streams_lost: u64,
    /// Streams that were closed in an orderly way, by either side. Since version 1.3.
    pub streams_closed: u64,
    /// First bytes of no protocol that the port accepts, and malformed requests. Since version 1.3.
    pub streams_malformed_requests: u64,
    /// Heads of requests beyond 8 KiB, or with too many lines. Since version 1.3.
    pub streams_oversized_requests: u64,
    /// Invalid WebSocket frames, and invalid message lengths. Since version 1.3.
    pub streams_broken_frames: u64,
    /// Messages beyond the limit. Since version 1.3.
    pub streams_oversized_messages: u64,
    /// TLS that failed: no certificate fits the name, the client does not trust it, or the bytes are not TLS. Since
    /// version 1.3.
    pub streams_tls_failures: u64,
    /// Clients that asked for TLS while they, their network or all had begun too many handshakes. Since version 1.3.
    pub streams_over_budget: u64,
    /// PROXY headers that cannot be read, or come from a host that is not a trusted proxy. Since version 1.3.
    pub streams_bad_proxy_headers: u64,
    /// Requests in clear where TLS is required, and streams of a kind that is not taken. Since version 1.3.
    pub streams_not_taken: u64,
    /// Pages of other origins, and requests for other hosts. Since version 1.3.
    pub streams_foreign: u64,
    /// Rounds that ended with something left to read, because they had taken as long as a round may. Since version 1.4.
    pub rounds_cut: u64,
    /// The most work in one round's reading: its expected CPU time, estimated from the data that was read. Since
    /// version 1.4.
    pub round_cost_max_us: u64,
    /// Streams that were closed because they cost too much before they carried a connection. Since version 1.4.
    pub streams_too_dear: u64,
    // catalogue: end
}

/// A client's estimate of the server's clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SkipstoneServerTime {
    /// The server's uptime, as skipstone_server_time returns it there.
    pub at_us: u64,
    /// The maximum error of the estimate, in both directions.
    pub error_us: u64,
}
