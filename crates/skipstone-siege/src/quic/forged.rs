//! Frames that no QUIC library sends: the keys of a client (RFC 9001) put them in place of what it wanted to send. Only
//! packets of 1-RTT are forged; their number and length stay.

use bytes::BytesMut;
use quinn_proto::crypto::{ClientConfig, CryptoError, ExportKeyingMaterialError, KeyPair, Keys, PacketKey, Session};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Frames of streams whose byte 0 never arrives: a byte each at every other offset.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Packets have these frames, and not their own.
    pub(super) is_forging: AtomicBool,
    /// How many were sent.
    pub(super) sent: AtomicUsize,
}

impl Frames {
    /// How many there are, each different from all others.
    pub(super) const COUNT: usize = STREAMS.len() * OFFSETS;

    /// Fills a payload with whole frames; the rest is padding (RFC 9000, section 19.1).
    fn fill(&self, payload: &mut [u8]) {
        let mut at = 0;
        while at + FRAME_BYTES <= payload.len() {
            let number = self.sent.fetch_add(1, Ordering::Relaxed) % Self::COUNT;
            let (stream, offset) = (STREAMS[number % STREAMS.len()], 1 + 2 * (number / STREAMS.len()) as u16);
            let [high, low] = (0x4000 | offset).to_be_bytes();
            // STREAM with offset and length (RFC 9000, section 19.8), one byte of data.
            payload[at..at + FRAME_BYTES].copy_from_slice(&[0x0E, stream, high, low, 1, 0]);
            at += FRAME_BYTES;
        }
        payload[at..].fill(0);
    }
}

/// Eight streams in both directions and twelve in one: fewer than a WebTransport server lets a client open.
const STREAMS: [u8; 20] = [0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46];
/// 2 KiB of each stream: 40 KiB of the connection's window.
const OFFSETS: usize = 1_024;
const FRAME_BYTES: usize = 6;

/// A client's TLS with forged packets.
pub(super) struct Forger<C> {
    pub(super) tls: Arc<C>,
    pub(super) frames: Arc<Frames>,
}

impl<C: ClientConfig + 'static> ClientConfig for Forger<C> {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let tls = self.tls.clone().start_session(version, server_name, params)?;
        Ok(Box::new(Forging { tls, frames: self.frames.clone(), has_handshake_keys: false }))
    }
}

struct Forging {
    tls: Box<dyn Session>,
    frames: Arc<Frames>,
    has_handshake_keys: bool,
}

impl Forging {
    fn forge(&self, key: Box<dyn PacketKey>) -> Box<dyn PacketKey> {
        Box::new(ForgingKey { key, frames: self.frames.clone() })
    }
}

impl Session for Forging {
    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let mut keys = self.tls.write_handshake(buffer)?;
        // First the handshake keys, then the 1-RTT keys.
        if std::mem::replace(&mut self.has_handshake_keys, true) {
            keys.packet.local = self.forge(keys.packet.local);
        }
        Some(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.tls.next_1rtt_keys()?;
        Some(KeyPair { local: self.forge(keys.local), remote: keys.remote })
    }

    fn initial_keys(&self, connection: &ConnectionId, side: Side) -> Keys {
        self.tls.initial_keys(connection, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.tls.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.tls.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn quinn_proto::crypto::HeaderKey>, Box<dyn PacketKey>)> {
        self.tls.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.tls.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.tls.read_handshake(bytes)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.tls.transport_parameters()
    }

    fn is_valid_retry(&self, connection: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.tls.is_valid_retry(connection, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.tls.export_keying_material(output, label, context)
    }
}

struct ForgingKey {
    key: Box<dyn PacketKey>,
    frames: Arc<Frames>,
}

impl PacketKey for ForgingKey {
    fn encrypt(&self, packet: u64, bytes: &mut [u8], header_bytes: usize) {
        if self.frames.is_forging.load(Ordering::Relaxed) {
            let end = bytes.len() - self.key.tag_len();
            self.frames.fill(&mut bytes[header_bytes..end]);
        }
        self.key.encrypt(packet, bytes, header_bytes);
    }

    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.key.decrypt(packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.key.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.key.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.key.integrity_limit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_frame_contains_byte_0_and_all_fit_the_stream_window() {
        let (frames, mut payload) = (Frames::default(), [0xAA; 1_150]);
        while frames.sent.load(Ordering::Relaxed) < Frames::COUNT {
            frames.fill(&mut payload);
            for frame in payload.chunks(FRAME_BYTES).filter(|frame| frame.len() == FRAME_BYTES) {
                let offset = u16::from_be_bytes([frame[2], frame[3]]) & 0x3FFF;
                assert!(frame[0] == 0x0E && STREAMS.contains(&frame[1]), "{frame:?}");
                assert!(offset % 2 == 1 && offset < 2_048, "{offset}");
            }
        }
    }
}
