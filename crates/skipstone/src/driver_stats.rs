//! Counters of a driver and its sockets, apart from the protocol's.

use std::time::Duration;

/// Counters of a driver.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DriverStats {
    /// Rounds of the driver's loop.
    pub rounds: u64,
    /// Rounds that ended with something left to read, because they had taken as long as a round may.
    pub rounds_cut: u64,
    /// The greatest work of one round's reading: its expected CPU time, estimated from the data that was read.
    pub round_cost_max: Duration,
    /// System calls that sent datagrams.
    pub send_calls: u64,
    /// Datagrams that the system refused to send.
    pub send_errors: u64,
    /// Datagrams and streams from addresses that [`ServerConfig::denied`](crate::ServerConfig::denied) names.
    pub denied: u64,
    /// Counters and buffers of the sockets.
    pub sockets: SocketStats,
    /// DTLS sessions of a server.
    pub dtls: DtlsStats,
    /// WebTransport sessions of a server, and the QUIC connections beneath them.
    pub webtransport: WebTransportStats,
    /// Datagrams that arrived at the wrong shard.
    pub misrouted: MisroutedStats,
    /// Streams of a server's TCP port that were accepted, and why they ended.
    pub streams: StreamStats,
}

impl DriverStats {
    /// Adds another shard's counters.
    pub(crate) fn add(&mut self, other: &DriverStats) {
        self.rounds += other.rounds;
        self.rounds_cut += other.rounds_cut;
        self.round_cost_max = self.round_cost_max.max(other.round_cost_max);
        self.send_calls += other.send_calls;
        self.send_errors += other.send_errors;
        self.denied += other.denied;
        self.sockets.add(&other.sockets);
        self.dtls.add(&other.dtls);
        self.webtransport.add(&other.webtransport);
        self.misrouted.add(&other.misrouted);
        self.streams.add(&other.streams);
    }
}

/// Counters and buffers of a driver's sockets.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SocketStats {
    /// Datagrams that the kernel dropped because a receive buffer was full.
    pub receive_drops: u64,
    /// The smallest receive buffer granted, in bytes.
    pub receive_buffer_bytes: usize,
    /// Whether the kernel granted smaller buffers than asked for.
    pub are_buffers_short: bool,
    /// WebSocket connections in clear, open now.
    pub websockets: u64,
    /// WebSocket connections over TLS, open now.
    pub secure_websockets: u64,
    /// TCP connections without WebSocket, open now.
    pub raw_streams: u64,
    /// Datagrams that the network simulated around a server dropped for lack of memory.
    pub impairment_drops: u64,
    /// Streams in memory to clients of this process, or to their server.
    pub locals: u64,
}

impl SocketStats {
    fn add(&mut self, other: &SocketStats) {
        self.receive_drops += other.receive_drops;
        self.receive_buffer_bytes = self.receive_buffer_bytes.min(other.receive_buffer_bytes);
        self.are_buffers_short |= other.are_buffers_short;
        self.websockets += other.websockets;
        self.secure_websockets += other.secure_websockets;
        self.raw_streams += other.raw_streams;
        self.impairment_drops += other.impairment_drops;
        self.locals += other.locals;
    }
}

/// Counters of a server's DTLS sessions.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DtlsStats {
    /// Sessions that there are now, handshakes included.
    pub open: u64,
    /// Sessions that began with a ClientHello.
    pub begun: u64,
    /// Handshakes that were completed.
    pub established: u64,
    /// Sessions that were removed before their time limit, because another session needed the place.
    pub displaced: u64,
    /// Datagrams that belonged to no session and began none, or were invalid in their session, and answers that would
    /// have been too long.
    pub dropped: u64,
}

impl DtlsStats {
    fn add(&mut self, other: &DtlsStats) {
        self.open += other.open;
        self.begun += other.begun;
        self.established += other.established;
        self.displaced += other.displaced;
        self.dropped += other.dropped;
    }
}

/// Counters of a server's WebTransport sessions, and of the QUIC connections beneath them.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebTransportStats {
    /// QUIC connections that there are now, handshakes included.
    pub open: u64,
    /// QUIC handshakes that began.
    pub begun: u64,
    /// QUIC handshakes that were completed.
    pub established: u64,
    /// Sessions that were granted.
    pub sessions: u64,
    /// Unproven clients that were asked for a proof of their address first (RFC 9000, section 8.1.2).
    pub retries: u64,
    /// QUIC connections that were removed before their time limit, because another one needed the place.
    pub displaced: u64,
    /// Requests and streams that were refused, for their origin or because nothing here needs them.
    pub refused: u64,
    /// Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3.
    pub breaches: u64,
    /// Datagrams that belonged to no connection and began none, or to no session; and datagrams of the protocol that a
    /// session did not accept.
    pub dropped: u64,
}

impl WebTransportStats {
    fn add(&mut self, other: &WebTransportStats) {
        self.open += other.open;
        self.begun += other.begun;
        self.established += other.established;
        self.sessions += other.sessions;
        self.retries += other.retries;
        self.displaced += other.displaced;
        self.refused += other.refused;
        self.breaches += other.breaches;
        self.dropped += other.dropped;
    }
}

/// Counters of misrouted datagrams, which arrived at the wrong shard: those of clients that migrated, and forged ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MisroutedStats {
    /// Datagrams handed to the shard that their connection id names.
    pub handed_on: u64,
    /// Datagrams dropped, because too many already waited for that shard.
    pub dropped: u64,
}

impl MisroutedStats {
    fn add(&mut self, other: &MisroutedStats) {
        self.handed_on += other.handed_on;
        self.dropped += other.dropped;
    }
}

/// Counters of the streams of a server's TCP port: how many were accepted, and why they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStats {
    /// Streams accepted.
    pub accepted: u64,
    /// Streams whose handshake or close timed out.
    pub timed_out: u64,
    /// Streams that were closed because they cost too much before they carried a connection.
    pub too_dear: u64,
    /// Streams that were closed for newer ones, because their network had too many without a connection.
    pub displaced: u64,
    /// Plain HTTP requests that were answered.
    pub answered: u64,
    /// Plain HTTP requests for something that there is not.
    pub not_upgraded: u64,
    /// Streams that ended without a close: the peer is gone, or left without closing.
    pub lost: u64,
    /// Streams that were closed in an orderly way, by either side.
    pub closed: u64,
    /// First bytes that are of no protocol here, and malformed requests.
    pub malformed_requests: u64,
    /// Heads of requests beyond 8 KiB, or with too many lines.
    pub oversized_requests: u64,
    /// Broken frames of WebSocket, and lengths that no message has.
    pub broken_frames: u64,
    /// Messages beyond the limit.
    pub oversized_messages: u64,
    /// TLS that failed: no certificate of ours fits, the client does not trust it, or the bytes are not TLS.
    pub tls_failures: u64,
    /// Clients that asked for TLS while they, their network or all had begun too many handshakes.
    pub over_budget: u64,
    /// PROXY headers that cannot be read, or come from a host that is not a trusted proxy.
    pub bad_proxy_headers: u64,
    /// Requests in clear where TLS is required, and streams of a kind that is not taken.
    pub not_taken: u64,
    /// Pages of other origins, and requests for other hosts.
    pub foreign: u64,
}

impl StreamStats {
    fn add(&mut self, other: &StreamStats) {
        self.accepted += other.accepted;
        self.timed_out += other.timed_out;
        self.displaced += other.displaced;
        self.too_dear += other.too_dear;
        self.answered += other.answered;
        self.not_upgraded += other.not_upgraded;
        self.lost += other.lost;
        self.closed += other.closed;
        self.malformed_requests += other.malformed_requests;
        self.oversized_requests += other.oversized_requests;
        self.broken_frames += other.broken_frames;
        self.oversized_messages += other.oversized_messages;
        self.tls_failures += other.tls_failures;
        self.over_budget += other.over_budget;
        self.bad_proxy_headers += other.bad_proxy_headers;
        self.not_taken += other.not_taken;
        self.foreign += other.foreign;
    }
}
