//! The two ends of a datagram's path, and the properties of its carrier. Differences between carriers are data here, so
//! that the layers above need not know the kind of carrier.

use core::net::{IpAddr, SocketAddr};

/// One way to reach a peer: a local socket of the embedder's and a remote address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The embedder's own number for the socket. A carrier of a single connection (a WebSocket, a DTLS session) has its
    /// own number.
    pub socket: u32,
    /// This side's address, where the socket has several: datagrams arrive at it and leave from it. `None` if the
    /// socket knows the address, or the system chooses it. A change of only this address is not a change of the path.
    pub local: Option<IpAddr>,
    /// The peer's address.
    pub remote: SocketAddr,
    /// The carrier of the datagrams.
    pub carrier: Carrier,
}

impl Path {
    /// Whether both lead to the same peer by the same socket, from any address of this side.
    pub fn is_same_route(&self, other: &Path) -> bool {
        self.remote == other.remote && self.socket == other.socket
    }
}

/// Properties and costs of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The name of the carrier in statistics: `udp`, `dtls`, `wt`, `ws`, `wss`, `tcp`, `tls`, `local`.
    pub name: &'static str,
    /// Everything arrives, once, in order: no retransmission, no loss detection, no congestion window on our side.
    pub is_reliable: bool,
    /// Each connection has a session of the carrier to itself, named by [`Path::socket`]: it ends with that session,
    /// stays at its address, and no other datagram enters it.
    pub is_bound: bool,
    /// The carrier, or the layer below it, encrypts: its connections always use the plain suite, even if the server
    /// encrypts.
    pub is_protected: bool,
    /// A session of the carrier has cost its server a signature.
    pub is_signed: bool,
    /// The largest datagram that the carrier accepts; on an unreliable one the settings may allow less.
    pub datagram_bytes_max: u16,
    /// The largest packet that is sent on the carrier: smaller than the carrier's limit where urgent data would wait
    /// for a large packet, or where the carrier reports its current limit
    /// ([`Endpoint::set_packet_bytes_max`](crate::Endpoint::set_packet_bytes_max)).
    pub packet_bytes_max: u16,
    /// Maximum bytes that IP and the carrier add to each datagram.
    pub overhead_bytes: u16,
    /// The part of them within the UDP datagram, whose size the settings limit.
    pub record_bytes: u16,
    /// A controller below this layer, which we cannot choose, limits our datagrams and treats each lost one as
    /// congestion, as a browser's QUIC does: fewer, fuller datagrams matter more than fewer bytes.
    pub is_loss_limited: bool,
    /// How much later than without a loss a packet may arrive, because the carrier retransmits lost data.
    pub lateness: Lateness,
    /// The carrier has its own controller, which makes queues that this layer does not cause.
    pub has_own_queue: bool,
    /// Microseconds by which packets that left together, or their acknowledgements, are spaced before and after the
    /// path: a browser paces what its page sends, and the page reads datagrams one by one.
    pub spread_us: u16,
}

/// The time that a carrier takes to repair a loss. It delivers such data after data that left later, so a missing
/// packet is almost never lost before that time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Part of the time that grows with the path, in smoothed round-trip times.
    pub round_trips: u8,
    /// Microseconds in addition.
    pub delay_us: u16,
}

impl Lateness {
    /// The carrier retransmits nothing.
    pub const NONE: Lateness = Lateness { round_trips: 0, delay_us: 0 };
    /// Streams of QUIC. A loss is detected after 9/8 of a round trip, and the retransmission takes another one-way
    /// delay: twice that, if the retransmission is lost, too. QUIC's receivers acknowledge within 25 ms by default,
    /// which is part of a probe timeout (RFC 9002, section 6.2.1).
    pub const QUIC: Lateness = Lateness { round_trips: 4, delay_us: 25_000 };
}

impl Carrier {
    /// UDP over IPv4: 28 bytes of headers.
    pub const UDP: Carrier = Carrier {
        name: "udp",
        is_reliable: false,
        is_bound: false,
        is_protected: false,
        is_signed: false,
        datagram_bytes_max: 65_507,
        packet_bytes_max: 65_507,
        overhead_bytes: 28,
        record_bytes: 0,
        is_loss_limited: false,
        lateness: Lateness::NONE,
        has_own_queue: false,
        spread_us: 0,
    };
    /// UDP over IPv6: 48 bytes of headers.
    pub const UDP6: Carrier = Carrier { overhead_bytes: 48, ..Carrier::UDP };
    /// DTLS over UDP and IPv4: 28 bytes of headers, and at most 37 of a record (DTLS 1.2 with AES-GCM).
    pub const DTLS: Carrier = Carrier {
        name: "dtls",
        is_bound: true,
        is_protected: true,
        is_signed: true,
        datagram_bytes_max: Carrier::DTLS_BYTES_MAX,
        packet_bytes_max: Carrier::DTLS_BYTES_MAX,
        overhead_bytes: Carrier::UDP.overhead_bytes + Carrier::DTLS_RECORD_BYTES,
        record_bytes: Carrier::DTLS_RECORD_BYTES,
        ..Carrier::UDP
    };
    /// DTLS over UDP and IPv6.
    pub const DTLS6: Carrier =
        Carrier { overhead_bytes: Carrier::UDP6.overhead_bytes + Carrier::DTLS_RECORD_BYTES, ..Carrier::DTLS };
    /// Bytes that a record of DTLS adds, at most: a header of 13, a nonce of 8 and a tag of 16.
    const DTLS_RECORD_BYTES: u16 = 37;
    /// The greatest content of a record (RFC 6347, section 4.1).
    const DTLS_BYTES_MAX: u16 = 16_384;
    /// Datagrams of a WebTransport session, over QUIC and IPv4. The session reports how long a datagram may be, and the
    /// value may change; before the first report, packets have the smallest initial limit of any browser.
    pub const WEBTRANSPORT: Carrier = Carrier {
        name: "wt",
        is_bound: true,
        is_protected: true,
        is_signed: true,
        packet_bytes_max: 1_024,
        overhead_bytes: Carrier::UDP.overhead_bytes + Carrier::WEBTRANSPORT_RECORD_BYTES,
        record_bytes: Carrier::WEBTRANSPORT_RECORD_BYTES,
        has_own_queue: true,
        spread_us: 5_000,
        ..Carrier::UDP
    };
    /// The same from within a page: its browser's QUIC has a congestion controller, which a server's does not (a page
    /// cannot choose it).
    pub const WEBTRANSPORT_PAGE: Carrier = Carrier { is_loss_limited: true, ..Carrier::WEBTRANSPORT };
    /// A page whose datagrams go on streams of the session, several in turn, because its browser drops session
    /// datagrams (WIRE.md section 7.2).
    pub const WEBTRANSPORT_STREAMS: Carrier = Carrier {
        lateness: Lateness::QUIC,
        overhead_bytes: Carrier::WEBTRANSPORT.overhead_bytes + Carrier::STREAM_BYTES,
        record_bytes: Carrier::WEBTRANSPORT.record_bytes + Carrier::STREAM_BYTES,
        ..Carrier::WEBTRANSPORT_PAGE
    };
    /// Bytes by which a stream's frame (RFC 9000, section 19.8) and the datagram's length in it are longer than a
    /// datagram's frame, at most.
    const STREAM_BYTES: u16 = 11;
    /// Datagrams of a WebTransport session over IPv6.
    pub const WEBTRANSPORT6: Carrier = Carrier {
        overhead_bytes: Carrier::UDP6.overhead_bytes + Carrier::WEBTRANSPORT_RECORD_BYTES,
        ..Carrier::WEBTRANSPORT
    };
    /// Bytes that a WebTransport datagram adds: QUIC's short header of 13 with an id of 8 (RFC 9000, section 17.3.1),
    /// its tag of 16, the frame's type and length (RFC 9221, section 4), and the session's id (RFC 9297, section 2.1).
    const WEBTRANSPORT_RECORD_BYTES: u16 = 33;
    /// WebSocket over TCP and IPv4: 40 bytes of headers (52 with timestamps) and up to 8 of framing, if each message
    /// were sent separately.
    pub const WEBSOCKET: Carrier = Carrier {
        name: "ws",
        is_reliable: true,
        is_bound: true,
        is_protected: true,
        is_signed: false,
        datagram_bytes_max: 16_384,
        packet_bytes_max: 4_080,
        overhead_bytes: 56,
        record_bytes: 0,
        is_loss_limited: false,
        lateness: Lateness::NONE,
        has_own_queue: false,
        spread_us: 0,
    };
    /// WebSocket over TLS: a record adds up to 29 bytes (TLS 1.2 with AES-GCM).
    pub const WEBSOCKET_TLS: Carrier =
        Carrier { name: "wss", is_signed: true, overhead_bytes: 85, ..Carrier::WEBSOCKET };
    /// TCP without WebSocket: two bytes of length before each datagram.
    pub const TCP: Carrier = Carrier { name: "tcp", overhead_bytes: 54, ..Carrier::WEBSOCKET };
    /// The same over TLS.
    pub const TCP_TLS: Carrier = Carrier { name: "tls", is_signed: true, overhead_bytes: 83, ..Carrier::WEBSOCKET };
    /// Memory of one process: packets are as large as a stream allows, without any overhead.
    pub const LOCAL: Carrier = Carrier {
        name: "local",
        is_reliable: true,
        is_bound: true,
        is_protected: true,
        is_signed: false,
        datagram_bytes_max: 16_384,
        packet_bytes_max: 16_384,
        overhead_bytes: 0,
        record_bytes: 0,
        is_loss_limited: false,
        lateness: Lateness::NONE,
        has_own_queue: false,
        spread_us: 0,
    };
}
