//! One QUIC connection of a client, by quinn-proto: datagrams in and out, streams that are written and read as far as
//! flow control allows.

use crate::protocol::{Cause, Ending, QUEUE_BYTES_MAX};
use bytes::BytesMut;
use core::time::Duration;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, ReadError,
    StreamId, TransportConfig, VarInt, WriteError,
};
use skipstone_proto::Time;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// A connection.
pub(super) struct QuicLink {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    pub(super) connection: Connection,
    /// What the clock of quinn-proto shows at [`Time::ZERO`].
    base: Instant,
    /// Datagrams that leave before the goodbye.
    farewell: Vec<Vec<u8>>,
}

/// Bytes of a stream, and whether they are the last.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) is_last: bool,
}

impl QuicLink {
    /// Begins a handshake.
    pub(super) fn new(now: Time, tls: Arc<rustls::ClientConfig>, name: &str, seed: u64) -> Result<Self, String> {
        let crypto = QuicClientConfig::try_from(tls).map_err(|error| error.to_string())?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(transport()));
        let mut rng_seed = [0; 32];
        rng_seed[..8].copy_from_slice(&seed.to_le_bytes());
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, Some(rng_seed));
        let base = Instant::now();
        let begun = endpoint.connect(at(base, now), config, SERVER, name);
        let (handle, connection) = begun.map_err(|error| error.to_string())?;
        Ok(QuicLink { endpoint, handle, connection, base, farewell: Vec::new() })
    }

    pub(super) fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        let mut answer = Vec::new();
        let now = at(self.base, now);
        let event = self.endpoint.handle(now, SERVER, None, None, BytesMut::from(bytes), &mut answer);
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
            self.connection.handle_event(event);
        }
    }

    pub(super) fn handle_deadline(&mut self, now: Time) {
        let now = at(self.base, now);
        if self.connection.poll_timeout().is_some_and(|due| due <= now) {
            self.connection.handle_timeout(now);
        }
    }

    pub(super) fn deadline(&mut self) -> Option<Time> {
        let due = self.connection.poll_timeout()?.saturating_duration_since(self.base);
        // Rounded up: a timer that comes early does nothing, again and again.
        Some(Time::from_micros(due.as_nanos().div_ceil(1000) as u64))
    }

    /// Appends the next datagram.
    pub(super) fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if !self.farewell.is_empty() {
            out.extend(self.farewell.remove(0));
            return true;
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        self.connection.poll_transmit(at(self.base, now), 1, out).is_some()
    }

    /// Ends the connection once what may leave now has left.
    pub(super) fn close(&mut self, now: Time) {
        let mut datagram = Vec::new();
        while self.farewell.len() < FAREWELL_MAX
            && self.connection.poll_transmit(at(self.base, now), 1, &mut datagram).is_some()
        {
            self.farewell.push(std::mem::take(&mut datagram));
        }
        self.connection.close(at(self.base, now), H3_NO_ERROR, bytes::Bytes::new());
    }

    /// Writes to a stream. Returns how much was taken; `None` if the server wants no more of it.
    pub(super) fn write(&mut self, id: StreamId, bytes: &[u8]) -> Option<usize> {
        match self.connection.send_stream(id).write(bytes) {
            Ok(count) => Some(count),
            Err(WriteError::Blocked) => Some(0),
            Err(_) => None,
        }
    }

    /// Ends a stream.
    pub(super) fn finish(&mut self, id: StreamId) {
        // A stream that the server has stopped needs no end.
        let _ = self.connection.send_stream(id).finish();
    }

    /// Reads what has arrived on a stream, at most so much.
    pub(super) fn read(&mut self, id: StreamId, max: usize) -> Chunk {
        let mut chunk = Chunk { bytes: Vec::new(), is_last: false };
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return Chunk { is_last: true, ..chunk } };
        while chunk.bytes.len() < max {
            match chunks.next(max - chunk.bytes.len()) {
                Ok(Some(part)) => chunk.bytes.extend_from_slice(&part.bytes),
                Err(ReadError::Blocked) => break,
                Ok(None) | Err(ReadError::Reset(_)) => {
                    chunk.is_last = true;
                    break;
                }
            }
        }
        // New limits of flow control leave with the next datagram.
        let _ = chunks.finalize();
        chunk
    }
}

/// Why the connection is lost, as bots count it.
pub(super) fn ending_of(error: &ConnectionError) -> Ending {
    match error {
        ConnectionError::TimedOut => Ending::new(Cause::TimedOut, "the server did not answer in time"),
        ConnectionError::ApplicationClosed(close) => {
            Ending::new(Cause::ByServer, format!("the server closed HTTP/3: {close}"))
        }
        ConnectionError::ConnectionClosed(close) => {
            Ending::new(Cause::ByServer, format!("the server closed QUIC: {close}"))
        }
        ConnectionError::Reset => Ending::new(Cause::ByServer, "the server knows nothing of the connection"),
        ConnectionError::LocallyClosed => Ending::new(Cause::Closed, "closed by the bot"),
        ConnectionError::TransportError(error) if error.reason.contains("peer certificate") => {
            // The rules for certificates have texts of their own, which rustls shows within names of its types.
            let reason = error.reason.trim_start_matches("invalid peer certificate: ");
            let own = reason.strip_prefix("Other(OtherError(").and_then(|rest| rest.strip_suffix("))"));
            Ending::new(Cause::Refused, own.unwrap_or(reason))
        }
        other => Ending::new(Cause::Malformed, format!("QUIC failed: {other}")),
    }
}

fn at(base: Instant, now: Time) -> Instant {
    base + Duration::from_micros(now.as_micros())
}

fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()))
        .keep_alive_interval(Some(Duration::from_secs(3)))
        // What a server may have on its way to one of thousands of bots.
        .receive_window(VarInt::from_u32(4 << 20))
        .stream_receive_window(VarInt::from_u32(1 << 20))
        .datagram_receive_buffer_size(Some(1 << 20))
        .datagram_send_buffer_size(DATAGRAMS_QUEUED_MAX)
        .send_window(2 * QUEUE_BYTES_MAX as u64);
    config
}

/// The socket is connected: no address is needed, but quinn-proto wants one.
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 443);
/// Bytes of datagrams that wait: an empty one costs far more than its bytes.
pub(super) const DATAGRAMS_QUEUED_MAX: usize = 256 << 10;
/// Both the handshake's time-out and that of silence.
const IDLE_MS: u32 = 10_000;
/// RFC 9114, section 8.1.
const H3_NO_ERROR: VarInt = VarInt::from_u32(0x100);
/// Datagrams between the last message and the goodbye.
const FAREWELL_MAX: usize = 64;
