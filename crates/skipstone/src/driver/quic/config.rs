//! How QUIC is set up beneath the protocol: it protects and measures, and the protocol does all the rest.

use super::identifiers::Identifiers;
use crate::security::QuicServer;
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{Endpoint, IdleTimeout, TransportConfig, VarInt};
use skipstone_proto::Shard;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An endpoint for the QUIC clients of a server whose connections end after this silence.
pub(super) fn endpoint(server: &QuicServer, shard: Shard, idle_timeout: Duration) -> Endpoint {
    let mut endpoint = server.endpoint_config();
    endpoint.cid_generator(move || Box::new(Identifiers(shard)));
    // A greased first byte would be taken for one of DTLS or of this protocol (RFC 9287).
    endpoint.grease_quic_bit(false);
    let mut config = server.server_config();
    config.transport_config(Arc::new(transport(idle_timeout)));
    // Each attempt is decided on at once, so none waits.
    config.max_incoming(1).incoming_buffer_size(0).incoming_buffer_size_total(0);
    Endpoint::new(Arc::new(endpoint), Some(Arc::new(config)), true, None)
}

fn transport(idle_timeout: Duration) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS_MAX))
        .stream_receive_window(VarInt::from_u32(STREAM_BYTES_MAX))
        .receive_window(VarInt::from_u32(CONNECTION_BYTES_MAX))
        .send_window(SEND_BYTES_MAX)
        .datagram_receive_buffer_size(Some(DATAGRAM_BYTES_MAX))
        .datagram_send_buffer_size(DATAGRAM_QUEUE_BYTES)
        .max_idle_timeout(IdleTimeout::try_from(idle_timeout.saturating_add(IDLE_BESIDE)).ok())
        .keep_alive_interval(Some(KEEPALIVE))
        .congestion_controller_factory(Arc::new(Unlimited))
        .allow_spin(false);
    transport
}

/// Streams that a client may have open at once, of each direction. HTTP/3 needs one and three.
const STREAMS_MAX: u32 = 8;
/// Bytes of one stream that may wait; a request is the longest.
const STREAM_BYTES_MAX: u32 = 20 << 10;
/// Bytes of all streams that may wait.
const CONNECTION_BYTES_MAX: u32 = 64 << 10;
/// Bytes of answers that may wait for acknowledgements.
const SEND_BYTES_MAX: u64 = 16 << 10;
/// Bytes of received datagrams that may wait: taken after each packet, so more than a packet's are never there.
const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// Bytes of datagrams that wait for QUIC. They leave at once as a rule; what does wait is soon stale.
pub(super) const DATAGRAM_QUEUE_BYTES: usize = 8 << 10;
/// The protocol's idle timeout comes first, and says why the connection ends.
const IDLE_BESIDE: Duration = Duration::from_secs(5);
/// Browsers end a connection after 30 s of silence, whatever the settings say. Behind the protocol's own keepalive, so
/// that with the default settings nothing is added.
const KEEPALIVE: Duration = Duration::from_secs(27);

/// A controller that never holds anything back: the protocol's own controls what is in flight.
#[derive(Debug)]
struct Unlimited;

/// More than the bandwidth-delay product of any path that a game has, and little enough for quinn-proto's arithmetic.
const WINDOW: u64 = 64 << 20;

impl ControllerFactory for Unlimited {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Unlimited)
    }
}

impl Controller for Unlimited {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Unlimited)
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Bytes of what precedes a datagram of a session, at most (RFC 9297, section 2.1).
pub(super) const PREFIX_BYTES_MAX: usize = 8;
