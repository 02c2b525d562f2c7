//! Counters of drivers and their sockets, as they were published, up to 50 ms old.

use pyo3::prelude::*;

/// Counters of the drivers and their sockets.
#[pyclass(frozen, get_all)]
pub(crate) struct DriverStats {
    /// Rounds of the drivers' loops.
    rounds: u64,
    /// Rounds that ended with datagrams left to read, because their time limit was reached.
    rounds_cut: u64,
    /// The maximum work of one round's reading, in seconds, estimated from what was read.
    round_cost_max: f64,
    /// System calls that sent datagrams.
    send_calls: u64,
    /// Datagrams that the system refused to send.
    send_errors: u64,
    /// Datagrams and streams from denied addresses.
    denied: u64,
    /// Datagrams that the system dropped because a receive buffer was full.
    receive_drops: u64,
    /// The smallest receive buffer that the system granted, in bytes.
    receive_buffer_bytes: usize,
    /// Whether the system granted smaller socket buffers than requested.
    are_buffers_short: bool,
    /// Datagrams that the simulated network dropped because its memory limit was reached.
    impairment_drops: u64,
    /// Unencrypted WebSocket connections open now.
    websockets: u64,
    /// WebSocket connections over TLS open now.
    secure_websockets: u64,
    /// TCP connections without WebSocket open now.
    raw_streams: u64,
    /// Clients of this process connected now.
    locals: u64,
    /// Datagrams that arrived at the wrong shard.
    misrouted: Py<MisroutedStats>,
    /// DTLS sessions of a server.
    dtls: Py<DtlsStats>,
    /// WebTransport sessions of a server, and the underlying QUIC connections.
    webtransport: Py<WebTransportStats>,
    /// Streams of a server's TCP port, and why they ended.
    streams: Py<StreamStats>,
}

/// Datagrams that arrived at the wrong shard.
#[pyclass(frozen, get_all)]
pub(crate) struct MisroutedStats {
    /// Datagrams that arrived at the wrong shard and were forwarded to the shard of their connection.
    handed_on: u64,
    /// Datagrams that arrived at the wrong shard and were dropped, because too many were queued for the right one.
    dropped: u64,
}

/// DTLS sessions of a server.
#[pyclass(frozen, get_all)]
pub(crate) struct DtlsStats {
    /// Current sessions, including handshakes.
    open: u64,
    /// DTLS sessions that began with a ClientHello.
    begun: u64,
    /// DTLS handshakes that were completed.
    established: u64,
    /// DTLS sessions that were removed before their time limit to make room for another one.
    displaced: u64,
    /// Datagrams of DTLS that belonged to no session and began none, or were ignored by their session.
    dropped: u64,
}

/// WebTransport sessions of a server, and the underlying QUIC connections.
#[pyclass(frozen, get_all)]
pub(crate) struct WebTransportStats {
    /// Current QUIC connections, including handshakes.
    open: u64,
    /// QUIC handshakes that began.
    begun: u64,
    /// QUIC handshakes that were completed.
    established: u64,
    /// Sessions of WebTransport that were granted.
    sessions: u64,
    /// Unproven clients that were asked to prove their address first (RFC 9000, section 8.1.2).
    retries: u64,
    /// QUIC connections that were removed before their time limit to make room for another one.
    displaced: u64,
    /// Requests and streams that were refused because of their origin, or because the server does not use them.
    refused: u64,
    /// Connections that ended because the client violated QUIC, TLS or HTTP/3.
    breaches: u64,
    /// Datagrams of QUIC that belonged to no connection and began none, or to no session.
    dropped: u64,
}

/// Streams of a server's TCP port, and why they ended.
#[pyclass(frozen, get_all)]
pub(crate) struct StreamStats {
    /// Streams accepted on the TCP port.
    accepted: u64,
    /// Streams whose handshake or close timed out.
    timed_out: u64,
    /// Streams that were closed because they cost too much before they carried a connection.
    too_dear: u64,
    /// Streams that were closed in favour of newer ones, because their network had too many without a connection.
    displaced: u64,
    /// Plain HTTP requests that were answered.
    answered: u64,
    /// Plain HTTP requests for an unknown path.
    not_upgraded: u64,
    /// Streams that ended without a close.
    lost: u64,
    /// Streams that were closed in an orderly way, by either side.
    closed: u64,
    /// First bytes of an unknown protocol, and malformed requests.
    malformed_requests: u64,
    /// Request heads above 8 KiB, or with too many lines.
    oversized_requests: u64,
    /// Broken WebSocket frames, and impossible message lengths.
    broken_frames: u64,
    /// Messages above the maximum length.
    oversized_messages: u64,
    /// Failed TLS handshakes: no certificate fits, the client does not trust it, or the bytes are not TLS.
    tls_failures: u64,
    /// Clients that began TLS while too many handshakes were pending.
    over_budget: u64,
    /// PROXY headers that are malformed, or from a client that is not a trusted proxy.
    bad_proxy_headers: u64,
    /// Unencrypted requests where TLS is required, and streams of a kind that is not accepted.
    not_taken: u64,
    /// Pages of other origins, and requests for other hosts.
    foreign: u64,
}

impl DriverStats {
    pub(crate) fn of(py: Python<'_>, stats: &skipstone::DriverStats) -> PyResult<Py<Self>> {
        let skipstone::DriverStats { sockets, misrouted, dtls, webtransport, streams, .. } = stats;
        let counted = DriverStats {
            rounds: stats.rounds,
            rounds_cut: stats.rounds_cut,
            round_cost_max: stats.round_cost_max.as_secs_f64(),
            send_calls: stats.send_calls,
            send_errors: stats.send_errors,
            denied: stats.denied,
            receive_drops: sockets.receive_drops,
            receive_buffer_bytes: sockets.receive_buffer_bytes,
            are_buffers_short: sockets.are_buffers_short,
            impairment_drops: sockets.impairment_drops,
            websockets: sockets.websockets,
            secure_websockets: sockets.secure_websockets,
            raw_streams: sockets.raw_streams,
            locals: sockets.locals,
            misrouted: Py::new(py, MisroutedStats { handed_on: misrouted.handed_on, dropped: misrouted.dropped })?,
            dtls: Py::new(
                py,
                DtlsStats {
                    open: dtls.open,
                    begun: dtls.begun,
                    established: dtls.established,
                    displaced: dtls.displaced,
                    dropped: dtls.dropped,
                },
            )?,
            webtransport: Py::new(
                py,
                WebTransportStats {
                    open: webtransport.open,
                    begun: webtransport.begun,
                    established: webtransport.established,
                    sessions: webtransport.sessions,
                    retries: webtransport.retries,
                    displaced: webtransport.displaced,
                    refused: webtransport.refused,
                    breaches: webtransport.breaches,
                    dropped: webtransport.dropped,
                },
            )?,
            streams: Py::new(
                py,
                StreamStats {
                    accepted: streams.accepted,
                    timed_out: streams.timed_out,
                    too_dear: streams.too_dear,
                    displaced: streams.displaced,
                    answered: streams.answered,
                    not_upgraded: streams.not_upgraded,
                    lost: streams.lost,
                    closed: streams.closed,
                    malformed_requests: streams.malformed_requests,
                    oversized_requests: streams.oversized_requests,
                    broken_frames: streams.broken_frames,
                    oversized_messages: streams.oversized_messages,
                    tls_failures: streams.tls_failures,
                    over_budget: streams.over_budget,
                    bad_proxy_headers: streams.bad_proxy_headers,
                    not_taken: streams.not_taken,
                    foreign: streams.foreign,
                },
            )?,
        };
        Py::new(py, counted)
    }
}
