//! What a driver and its sockets count, beside the protocol.

/// What the driver itself counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriverStats {
    /// Rounds of its loop.
    pub rounds: u64,
    /// System calls that sent datagrams.
    pub send_calls: u64,
    /// Datagrams that the system would not take.
    pub send_errors: u64,
    /// What the sockets say.
    pub sockets: SocketStats,
    /// DTLS handshakes that other implementations began.
    pub half_open: HalfOpenStats,
    /// Datagrams that came to the wrong shard.
    pub misrouted: MisroutedStats,
}

impl DriverStats {
    /// Counts another shard's to these.
    pub(crate) fn add(&mut self, other: &DriverStats) {
        self.rounds += other.rounds;
        self.send_calls += other.send_calls;
        self.send_errors += other.send_errors;
        self.sockets.add(&other.sockets);
        self.half_open.add(&other.half_open);
        self.misrouted.add(&other.misrouted);
    }
}

/// What the sockets say.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketStats {
    /// Datagrams that the kernel dropped because a receive buffer was full.
    pub receive_drops: u64,
    /// The smallest receive buffer granted, in bytes.
    pub receive_buffer_bytes: usize,
    /// Whether the kernel granted smaller buffers than asked for.
    pub are_buffers_short: bool,
    /// WebSocket connections open now.
    pub websockets: u64,
    /// Datagrams that the network played around a server had no memory for.
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

/// What became of handshakes that other implementations began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfOpenStats {
    /// Sessions that began with a ClientHello.
    pub begun: u64,
    /// Handshakes that were completed.
    pub established: u64,
    /// Sessions that had to go before their time, because another came.
    pub displaced: u64,
    /// Datagrams that belonged to no session and began none, and answers that would have been too long.
    pub dropped: u64,
}

impl HalfOpenStats {
    fn add(&mut self, other: &HalfOpenStats) {
        self.begun += other.begun;
        self.established += other.established;
        self.displaced += other.displaced;
        self.dropped += other.dropped;
    }
}

/// What became of datagrams that came to the wrong shard: those of clients that moved, and forged ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MisroutedStats {
    /// Handed on to the shard that they named.
    pub handed_on: u64,
    /// Dropped, because too many waited for that shard already.
    pub dropped: u64,
}

impl MisroutedStats {
    fn add(&mut self, other: &MisroutedStats) {
        self.handed_on += other.handed_on;
        self.dropped += other.dropped;
    }
}
