//! Counters of a driver and its sockets, apart from the protocol's.

/// Counters of a driver.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DriverStats {
    /// Rounds of the driver's loop.
    pub rounds: u64,
    /// System calls that sent datagrams.
    pub send_calls: u64,
    /// Datagrams that the system refused to send.
    pub send_errors: u64,
    /// Counters and buffers of the sockets.
    pub sockets: SocketStats,
    /// DTLS sessions of a server.
    pub dtls: DtlsStats,
    /// WebTransport sessions of a server, and the QUIC connections beneath them.
    pub webtransport: WebTransportStats,
    /// Datagrams that came to the wrong shard.
    pub misrouted: MisroutedStats,
}

impl DriverStats {
    /// Adds another shard's counters.
    pub(crate) fn add(&mut self, other: &DriverStats) {
        self.rounds += other.rounds;
        self.send_calls += other.send_calls;
        self.send_errors += other.send_errors;
        self.sockets.add(&other.sockets);
        self.dtls.add(&other.dtls);
        self.webtransport.add(&other.webtransport);
        self.misrouted.add(&other.misrouted);
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
    /// WebSocket connections open now.
    pub websockets: u64,
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
    /// Datagrams that belonged to no session and began none, or counted for nothing in theirs, and answers that would have been
    /// too long.
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
    /// Strangers that were asked for a proof of their address first (RFC 9000, section 8.1.2).
    pub retries: u64,
    /// QUIC connections that were removed before their time limit, because another one needed the place.
    pub displaced: u64,
    /// Requests and streams that were refused, for their origin or because nothing here needs them.
    pub refused: u64,
    /// Connections that ended because the client broke a rule of QUIC, TLS or HTTP/3.
    pub breaches: u64,
    /// Datagrams that belonged to no connection and began none, or to no session; and those of the protocol's that a session
    /// did not take.
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
