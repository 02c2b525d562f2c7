//! What a driver and its sockets count, beside the protocol.

use super::{HalfOpenStats, StrayStats};

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
    pub strays: StrayStats,
}

impl DriverStats {
    /// Counts another shard's to these.
    pub(crate) fn add(&mut self, other: &DriverStats) {
        self.rounds += other.rounds;
        self.send_calls += other.send_calls;
        self.send_errors += other.send_errors;
        self.sockets.add(&other.sockets);
        self.half_open.add(&other.half_open);
        self.strays.add(&other.strays);
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
}

impl SocketStats {
    fn add(&mut self, other: &SocketStats) {
        self.receive_drops += other.receive_drops;
        self.receive_buffer_bytes = self.receive_buffer_bytes.min(other.receive_buffer_bytes);
        self.are_buffers_short |= other.are_buffers_short;
        self.websockets += other.websockets;
    }
}
