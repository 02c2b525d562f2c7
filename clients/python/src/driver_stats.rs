//! Counters of drivers and their sockets, as they were published, up to 50 ms old.

use pyo3::prelude::*;

/// Counters of the drivers and their sockets.
#[pyclass(frozen, get_all)]
pub(crate) struct DriverStats {
    // catalogue: driver counters
    /// Rounds of the driver's loop.
    rounds: u64,
    /// Rounds that ended with something left to read, because they had taken as long as a round may.
    rounds_cut: u64,
    /// System calls that sent datagrams.
    send_calls: u64,
    /// Datagrams that the system refused to send.
    send_errors: u64,
    /// Datagrams and streams from addresses that the server denies.
    denied: u64,
    /// The most work in one round's reading: its expected CPU time, estimated from the data that was read. In seconds.
    round_cost_max: f64,
    /// The smallest receive buffer granted, in bytes.
    receive_buffer_bytes: usize,
    /// Whether the kernel granted smaller buffers than asked for.
    are_buffers_short: bool,
    /// Datagrams that the kernel dropped because a receive buffer was full.
    receive_drops: u64,
    /// WebSocket connections in clear, open now.
    websockets: u64,
    /// WebSocket connections over TLS, open now.
    secure_websockets: u64,
    /// TCP connections without WebSocket, open now.
    raw_streams: u64,
    /// Datagrams that the network simulated around a server dropped for lack of memory.
    impairment_drops: u64,
    /// Streams in memory to clients of this process, or to their server.
    locals: u64,
    // catalogue: end
    /// Datagrams that came to the wrong shard.
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
    // catalogue: misrouted counters
    /// Datagrams handed to the shard that their connection id names.
    handed_on: u64,
    /// Misrouted datagrams dropped, because too many already waited for their shard.
    dropped: u64,
    // catalogue: end
}

/// DTLS sessions of a server.
#[pyclass(frozen, get_all)]
pub(crate) struct DtlsStats {
    // catalogue: dtls counters
    /// DTLS sessions that there are now, handshakes included.
    open: u64,
    /// DTLS sessions that began with a ClientHello.
    begun: u64,
    /// DTLS handshakes that were completed.
    established: u64,
    /// DTLS sessions that were removed before their time limit, because another session needed the place.
    displaced: u64,
    /// Datagrams that belonged to no DTLS session and began none, or were invalid in their session, and answers that
    /// would have been too long.
    dropped: u64,
    // catalogue: end
}

/// WebTransport sessions of a server, and the underlying QUIC connections.
#[pyclass(frozen, get_all)]
pub(crate) struct WebTransportStats {
    // catalogue: webtransport counters
    /// QUIC connections that there are now, handshakes included.
    open: u64,
    /// QUIC handshakes that began.
    begun: u64,
    /// QUIC handshakes that were completed.
    established: u64,
    /// WebTransport sessions that were granted.
    sessions: u64,
    /// Unproven clients that were asked for a proof of their address first (RFC 9000, section 8.1.2).
    retries: u64,
    /// QUIC connections that were removed before their time limit, because another one needed the place.
    displaced: u64,
    /// Requests and streams that were refused, for their origin or because nothing here needs them.
    refused: u64,
    /// Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3.
    breaches: u64,
    /// Datagrams that belonged to no QUIC connection and began none, or to no session; and datagrams of the protocol
    /// that a session did not accept.
    dropped: u64,
    // catalogue: end
}

/// Streams of a server's TCP port, and why they ended.
#[pyclass(frozen, get_all)]
pub(crate) struct StreamStats {
    // catalogue: stream counters
    /// Streams accepted.
    accepted: u64,
    /// Streams whose handshake or close timed out.
    timed_out: u64,
    /// Streams that were closed because they cost too much before they carried a connection.
    too_dear: u64,
    /// Streams that were closed for newer ones, because their network had too many without a connection.
    displaced: u64,
    /// Plain HTTP requests that were answered.
    answered: u64,
    /// HTTP requests that were refused: with 426 without a WebSocket upgrade, with 404 for an unknown path.
    not_upgraded: u64,
    /// Streams that ended without a close: the peer is gone, or left without closing.
    lost: u64,
    /// Streams that were closed in an orderly way, by either side.
    closed: u64,
    /// First bytes of no protocol that the port accepts, and malformed requests.
    malformed_requests: u64,
    /// Heads of requests beyond 8 KiB, or with too many lines.
    oversized_requests: u64,
    /// Invalid WebSocket frames, and invalid message lengths.
    broken_frames: u64,
    /// Messages beyond the limit.
    oversized_messages: u64,
    /// TLS that failed: no certificate fits the name, the client does not trust it, or the bytes are not TLS.
    tls_failures: u64,
    /// Clients that asked for TLS while they, their network or all had begun too many handshakes.
    over_budget: u64,
    /// PROXY headers that cannot be read, or come from a host that is not a trusted proxy.
    bad_proxy_headers: u64,
    /// Requests in clear where TLS is required, and streams of a kind that is not taken.
    not_taken: u64,
    /// Pages of other origins, and requests for other hosts.
    foreign: u64,
    // catalogue: end
}

impl DriverStats {
    pub(crate) fn of(py: Python<'_>, stats: &skipstone::DriverStats) -> PyResult<Py<Self>> {
        let misrouted = MisroutedStats {
            // catalogue: misrouted counters copied
            handed_on: stats.misrouted.handed_on,
            dropped: stats.misrouted.dropped,
            // catalogue: end
        };
        let dtls = DtlsStats {
            // catalogue: dtls counters copied
            open: stats.dtls.open,
            begun: stats.dtls.begun,
            established: stats.dtls.established,
            displaced: stats.dtls.displaced,
            dropped: stats.dtls.dropped,
            // catalogue: end
        };
        let webtransport = WebTransportStats {
            // catalogue: webtransport counters copied
            open: stats.webtransport.open,
            begun: stats.webtransport.begun,
            established: stats.webtransport.established,
            sessions: stats.webtransport.sessions,
            retries: stats.webtransport.retries,
            displaced: stats.webtransport.displaced,
            refused: stats.webtransport.refused,
            breaches: stats.webtransport.breaches,
            dropped: stats.webtransport.dropped,
            // catalogue: end
        };
        let streams = StreamStats {
            // catalogue: stream counters copied
            accepted: stats.streams.accepted,
            timed_out: stats.streams.timed_out,
            too_dear: stats.streams.too_dear,
            displaced: stats.streams.displaced,
            answered: stats.streams.answered,
            not_upgraded: stats.streams.not_upgraded,
            lost: stats.streams.lost,
            closed: stats.streams.closed,
            malformed_requests: stats.streams.malformed_requests,
            oversized_requests: stats.streams.oversized_requests,
            broken_frames: stats.streams.broken_frames,
            oversized_messages: stats.streams.oversized_messages,
            tls_failures: stats.streams.tls_failures,
            over_budget: stats.streams.over_budget,
            bad_proxy_headers: stats.streams.bad_proxy_headers,
            not_taken: stats.streams.not_taken,
            foreign: stats.streams.foreign,
            // catalogue: end
        };
        let counted = DriverStats {
            // catalogue: driver counters copied
            rounds: stats.rounds,
            rounds_cut: stats.rounds_cut,
            send_calls: stats.send_calls,
            send_errors: stats.send_errors,
            denied: stats.denied,
            round_cost_max: stats.round_cost_max.as_secs_f64(),
            receive_buffer_bytes: stats.sockets.receive_buffer_bytes,
            are_buffers_short: stats.sockets.are_buffers_short,
            receive_drops: stats.sockets.receive_drops,
            websockets: stats.sockets.websockets,
            secure_websockets: stats.sockets.secure_websockets,
            raw_streams: stats.sockets.raw_streams,
            impairment_drops: stats.sockets.impairment_drops,
            locals: stats.sockets.locals,
            // catalogue: end
            misrouted: Py::new(py, misrouted)?,
            dtls: Py::new(py, dtls)?,
            webtransport: Py::new(py, webtransport)?,
            streams: Py::new(py, streams)?,
        };
        Py::new(py, counted)
    }
}
