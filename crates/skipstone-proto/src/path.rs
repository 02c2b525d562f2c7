//! The two ends of a datagram's path, and the properties of its carrier. Differences between carriers are data here, so
//! that the layers above need not know the kind of carrier.

use core::net::SocketAddr;

/// One way to reach a peer: a local socket of the embedder's and a remote address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The embedder's own number for the socket or the stream. A stream (WebSocket, TCP) has one of its own.
    pub socket: u32,
    /// The peer's address.
    pub remote: SocketAddr,
    /// The carrier of the datagrams.
    pub carrier: Carrier,
}

/// Properties and costs of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The name of the carrier in statistics: `udp`, `ws`, `local`.
    pub name: &'static str,
    /// Everything arrives, once, in order: no retransmission, no loss detection, no congestion window on our side.
    pub is_reliable: bool,
    /// The largest datagram that the carrier takes; on an unreliable one the settings may allow less.
    pub datagram_bytes_max: u16,
    /// The largest packet that is sent on the carrier: smaller than the carrier's limit where urgent data would wait
    /// for a large packet.
    pub packet_bytes_max: u16,
    /// Bytes that IP and the carrier add to each datagram, for statistics.
    pub overhead_bytes: u16,
}

impl Carrier {
    /// UDP over IPv4: 28 bytes of headers.
    pub const UDP: Carrier = Carrier {
        name: "udp",
        is_reliable: false,
        datagram_bytes_max: 65_507,
        packet_bytes_max: 65_507,
        overhead_bytes: 28,
    };
    /// UDP over IPv6: 48 bytes of headers.
    pub const UDP6: Carrier = Carrier { overhead_bytes: 48, ..Carrier::UDP };
    /// WebSocket over TCP and IPv4: 40 bytes of headers (52 with timestamps) and up to 8 of framing, if each message
    /// went alone.
    pub const WEBSOCKET: Carrier = Carrier {
        name: "ws",
        is_reliable: true,
        datagram_bytes_max: 16_384,
        packet_bytes_max: 4_080,
        overhead_bytes: 56,
    };
    /// Memory of one process: packets are as large as a stream's may be, and nothing is added to them.
    pub const LOCAL: Carrier = Carrier {
        name: "local",
        is_reliable: true,
        datagram_bytes_max: 16_384,
        packet_bytes_max: 16_384,
        overhead_bytes: 0,
    };
}
