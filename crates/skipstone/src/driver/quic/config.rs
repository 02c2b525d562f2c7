//! The configuration of QUIC below the protocol: QUIC encrypts and measures the path, and the protocol does everything
//! else.

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
    // Each attempt is decided on at once, but for those that wait for a round with room for a signature.
    config.max_incoming(1 + WAITING_MAX).incoming_buffer_size(0).incoming_buffer_size_total(0);
    Endpoint::new(Arc::new(endpoint), Some(Arc::new(config)), true, None)
}

fn transport(idle_timeout: Duration) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(BIDI_STREAMS_MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(UNI_STREAMS_MAX))
        .stream_receive_window(VarInt::from_u32(STREAM_BYTES_MAX))
        .receive_window(VarInt::from_u32(CONNECTION_BYTES_MAX))
        .send_window(SEND_BYTES_MAX)
        .datagram_receive_buffer_size(Some(DATAGRAM_BYTES_MAX))
        .datagram_send_buffer_size(DATAGRAM_QUEUE_BYTES)
        .max_idle_timeout(IdleTimeout::try_from(idle_timeout.saturating_add(IDLE_BESIDE)).ok())
        .keep_alive_interval(Some(KEEPALIVE))
        .congestion_controller_factory(Arc::new(Unlimited::default()))
        .initial_rtt(INITIAL_RTT)
        .allow_spin(false);
    transport
}

/// The initial round-trip time, the same as the protocol's: a lost first flight is retransmitted after three times
/// this. RFC 9002 recommends 333 ms, for paths that few players have.
const INITIAL_RTT: Duration = skipstone_proto::Rtt::INITIAL;

/// Streams that a client may have open at once, of each direction: its request and another that is refused; HTTP/3's
/// control stream, QPACK's two, and grease (RFC 9114, section 7.2.8).
const BIDI_STREAMS_MAX: u32 = 2;
const UNI_STREAMS_MAX: u32 = 4;
/// Streams that may carry a session's datagrams at once.
pub(super) const DATAGRAM_STREAMS_MAX: usize = 8;
/// The same once its session was granted: datagrams may arrive on further streams, with some in reserve, because QUIC
/// reports finished streams in steps.
pub(super) const GRANTED_UNI_STREAMS_MAX: u32 = 2 * UNI_STREAMS_MAX + DATAGRAM_STREAMS_MAX as u32;
/// Bytes of one stream that may be in flight; a datagram stream has the most.
pub(super) const STREAM_BYTES_MAX: u32 = 20 << 10;
/// Bytes of all streams that may be in flight.
const CONNECTION_BYTES_MAX: u32 = 16 << 10;
/// The same once the client is a player: its datagrams may arrive on streams, and everything is read
/// at once.
pub(super) const PLAYERS_BYTES_MAX: u32 = CONNECTION_BYTES_MAX + DATAGRAM_STREAMS_MAX as u32 * STREAM_BYTES_MAX;
/// Bytes of answers that may wait for acknowledgements.
const SEND_BYTES_MAX: u64 = 16 << 10;
/// Bytes of received datagrams that may wait: they are read after each packet, so there are never more than one
/// packet's.
const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// Bytes of datagrams that wait for QUIC. Most leave at once; those that wait are soon stale.
pub(super) const DATAGRAM_QUEUE_BYTES: usize = 8 << 10;
/// Attempts that wait for a round with budget for a signature.
pub(super) const WAITING_MAX: usize = 64;
/// The protocol's idle timeout expires first, and gives the reason why the connection ends.
const IDLE_BESIDE: Duration = Duration::from_secs(5);
/// Browsers end a connection after 30 s of silence, whatever the settings. This is later than the protocol's own
/// keepalive, so with the default settings nothing is added.
const KEEPALIVE: Duration = Duration::from_secs(27);

/// A controller that limits nothing as long as the client acknowledges: the protocol's own controller limits the bytes
/// in flight. QUIC remembers each packet until it is acknowledged or lost, and a client that acknowledges none would
/// make it remember all.
#[derive(Clone, Copy, Debug, Default)]
struct Unlimited {
    /// The numbers of the newest packet, and of the newest acknowledged packet.
    sent: u64,
    acknowledged: u64,
}

/// More than the bandwidth-delay product of any game's path, and small enough for quinn-proto's arithmetic.
const WINDOW: u64 = 64 << 20;
/// The number of packets after the newest acknowledged one: 260 Mbit/s at 300 ms in full packets.
const UNACKNOWLEDGED_MAX: u64 = 8_192;
/// The window while [`UNACKNOWLEDGED_MAX`] is exceeded: enough for a probe.
const WINDOW_MIN: u64 = 2 * 1_472;

impl ControllerFactory for Unlimited {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

impl Controller for Unlimited {
    fn on_sent(&mut self, _: Instant, _: u64, last: u64) {
        self.sent = self.sent.max(last);
    }

    fn on_end_acks(&mut self, _: Instant, _: u64, _: bool, largest: Option<u64>) {
        self.acknowledged = self.acknowledged.max(largest.unwrap_or(0));
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        if self.sent.saturating_sub(self.acknowledged) < UNACKNOWLEDGED_MAX { WINDOW } else { WINDOW_MIN }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_acknowledges_nothing_gets_only_probes() {
        let (now, mut controller) = (Instant::now(), Unlimited::default());
        controller.on_sent(now, 1_200, UNACKNOWLEDGED_MAX - 1);
        assert_eq!(controller.window(), WINDOW);
        controller.on_sent(now, 1_200, UNACKNOWLEDGED_MAX);
        assert_eq!(controller.window(), WINDOW_MIN);
        controller.on_end_acks(now, 0, false, Some(1));
        assert_eq!(controller.window(), WINDOW);
        // A new path, too, begins with the counts so far.
        controller.on_sent(now, 1_200, 2 * UNACKNOWLEDGED_MAX);
        assert_eq!(controller.clone_box().window(), WINDOW_MIN);
    }
}
