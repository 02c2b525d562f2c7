//! Addresses and carriers of a driver's paths.

use crate::net::websocket::StreamKind;
use skipstone_proto::{Carrier, Path};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The address of both ends of a local stream. Port 0, which no socket has.
pub(crate) const LOCAL_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The path of a stream in memory.
pub(super) fn local_path(socket: u32) -> Path {
    Path { socket, local: None, remote: LOCAL_ADDRESS, carrier: Carrier::LOCAL }
}

/// The carrier of a stream.
pub(super) fn stream_carrier(kind: Option<StreamKind>) -> Carrier {
    match kind {
        Some(StreamKind::WebSocket) | None => Carrier::WEBSOCKET,
        Some(StreamKind::SecureWebSocket) => Carrier::WEBSOCKET_TLS,
        Some(StreamKind::Raw) => Carrier::TCP,
        Some(StreamKind::SecureRaw) => Carrier::TCP_TLS,
    }
}

/// The carrier of a DTLS session with this address.
pub(super) fn dtls_carrier(remote: &SocketAddr) -> Carrier {
    if remote.is_ipv4() { Carrier::DTLS } else { Carrier::DTLS6 }
}

/// The carrier of datagrams to this address.
pub(super) fn udp_carrier(remote: &SocketAddr) -> Carrier {
    if remote.is_ipv4() { Carrier::UDP } else { Carrier::UDP6 }
}

/// The carrier of a WebTransport session with this address.
#[cfg(all(feature = "webtransport", feature = "__tls"))]
pub(super) fn webtransport_carrier(remote: &SocketAddr) -> Carrier {
    if remote.is_ipv4() { Carrier::WEBTRANSPORT } else { Carrier::WEBTRANSPORT6 }
}
