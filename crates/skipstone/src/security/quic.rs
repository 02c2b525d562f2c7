//! QUIC's cryptography for a server, as quinn-proto asks for it (RFC 9001): rustls does the handshake, this build's
//! provider everything else. quinn-proto's own implementation needs rustls' built-in providers, which are features of
//! rustls that would interfere with an application's choice.

use super::Security;
use super::backend::rand::SystemRandom;
use super::backend::{aead, hmac};
use super::tls::initial_suite;
use quinn_proto::crypto::{
    AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError, TransportErrorCode};
use rustls::quic::{self, KeyChange, Secrets, ServerConnection, Version};
use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

/// A server's configuration for QUIC.
#[derive(Clone)]
pub(crate) struct QuicServer {
    tls: Arc<rustls::ServerConfig>,
}

/// QUIC version 1 (RFC 9000), the only one supported.
pub(crate) const VERSION_1: u32 = 1;
/// HTTP/3 (RFC 9114).
const ALPN: &[u8] = b"h3";

impl Security {
    /// A server's configuration for QUIC; `None` if it serves in clear only.
    pub(crate) fn quic(&self) -> Option<QuicServer> {
        Some(QuicServer { tls: self.certificates()?.quic_config(&[ALPN]) })
    }
}

impl QuicServer {
    /// The configuration of a server. The key of its tokens is new: only the server that issued a token accepts it.
    pub(crate) fn server_config(&self) -> quinn_proto::ServerConfig {
        quinn_proto::ServerConfig::new(Arc::new(Handshakes(self.tls.clone())), Arc::new(TokenKey(random_key())))
    }

    /// The configuration of an endpoint, with a new key for its stateless resets.
    pub(crate) fn endpoint_config(&self) -> quinn_proto::EndpointConfig {
        let mut config = quinn_proto::EndpointConfig::new(Arc::new(ResetKey(random_key())));
        config.supported_versions(vec![VERSION_1]);
        config
    }
}

fn random_key() -> hmac::Key {
    hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).expect("the system has entropy")
}

/// Begins handshakes.
struct Handshakes(Arc<rustls::ServerConfig>);

impl ServerConfig for Handshakes {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        if version == VERSION_1 { Ok(initial_keys(id, Side::Server)) } else { Err(UnsupportedVersion) }
    }

    fn retry_tag(&self, _: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        let pseudo_packet = [&[id.len() as u8], &id[..], packet].concat();
        let key = aead::UnboundKey::new(&aead::AES_128_GCM, &RETRY_KEY).expect("it is as long as such a key");
        let nonce = aead::Nonce::assume_unique_for_key(RETRY_NONCE);
        let tag =
            aead::LessSafeKey::new(key).seal_in_place_separate_tag(nonce, aead::Aad::from(pseudo_packet), &mut []);
        tag.ok().and_then(|tag| tag.as_ref().try_into().ok()).expect("a tag of GCM has 16 bytes")
    }

    fn start_session(self: Arc<Self>, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        let mut encoded = Vec::new();
        parameters.write(&mut encoded);
        let tls = ServerConnection::new(self.0.clone(), Version::V1, encoded);
        Box::new(TlsSession { tls: tls.expect("the configuration is one of TLS 1.3"), next: None, is_known: false })
    }
}

/// RFC 9001, section 5.8.
const RETRY_KEY: [u8; 16] =
    [0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e];
const RETRY_NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

/// One handshake, and the keys that come from it.
struct TlsSession {
    tls: ServerConnection,
    /// Derives the keys of the next generation.
    next: Option<Secrets>,
    /// quinn-proto was notified of the ClientHello.
    is_known: bool,
}

impl Session for TlsSession {
    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        initial_keys(id, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.tls.read_hs(bytes).map_err(|error| TransportError {
            // Every error of rustls has an alert, except its own mistakes.
            code: TransportErrorCode::crypto(self.tls.alert().map_or(INTERNAL_ERROR, u8::from)),
            frame: None,
            reason: error.to_string(),
        })?;
        let is_known = self.tls.alpn_protocol().is_some();
        Ok(is_known && !core::mem::replace(&mut self.is_known, is_known))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(encoded) = self.tls.quic_transport_parameters() else { return Ok(None) };
        Ok(Some(TransportParameters::read(Side::Server, &mut Cursor::new(encoded))?))
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let keys = match self.tls.write_hs(buffer)? {
            KeyChange::Handshake { keys } => keys,
            KeyChange::OneRtt { keys, next } => {
                self.next = Some(next);
                keys
            }
        };
        Some(both(keys))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(Packets(keys.local)), remote: Box::new(Packets(keys.remote)) })
    }

    /// Only clients get a RETRY.
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    /// Not used by this crate.
    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

/// The alert `internal_error` (RFC 8446, section 6).
const INTERNAL_ERROR: u8 = 80;

fn initial_keys(id: &ConnectionId, side: Side) -> Keys {
    let side = if side == Side::Client { rustls::Side::Client } else { rustls::Side::Server };
    both(initial_suite().keys(id, side, Version::V1))
}

fn both(keys: quic::Keys) -> Keys {
    let (local, remote) = (keys.local, keys.remote);
    Keys {
        header: KeyPair { local: Box::new(Headers(local.header)), remote: Box::new(Headers(remote.header)) },
        packet: KeyPair { local: Box::new(Packets(local.packet)), remote: Box::new(Packets(remote.packet)) },
    }
}

/// Protects the payloads of packets.
struct Packets(Box<dyn quic::PacketKey>);

impl PacketKey for Packets {
    fn encrypt(&self, number: u64, packet: &mut [u8], header_bytes: usize) {
        let (header, payload) = packet.split_at_mut(header_bytes);
        let (payload, tag) = payload.split_at_mut(payload.len() - self.0.tag_len());
        let sealed =
            self.0.encrypt_in_place(number, header, payload).expect("a packet is shorter than what AEADs take");
        tag.copy_from_slice(sealed.as_ref());
    }

    fn decrypt(&self, number: u64, header: &[u8], payload: &mut bytes::BytesMut) -> Result<(), CryptoError> {
        let bytes = self.0.decrypt_in_place(number, header, payload).map_err(|_| CryptoError)?.len();
        payload.truncate(bytes);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

/// Protects the headers of packets.
struct Headers(Box<dyn quic::HeaderProtectionKey>);

impl HeaderKey for Headers {
    fn decrypt(&self, number_at: usize, packet: &mut [u8]) {
        let (sample, first, number) = parts(number_at, packet, self.0.sample_len());
        self.0.decrypt_in_place(sample, first, number).expect("quinn-proto has checked the sample's length");
    }

    fn encrypt(&self, number_at: usize, packet: &mut [u8]) {
        let (sample, first, number) = parts(number_at, packet, self.0.sample_len());
        self.0.encrypt_in_place(sample, first, number).expect("quinn-proto pads for the sample");
    }

    fn sample_size(&self) -> usize {
        self.0.sample_len()
    }
}

/// The sample, the first byte and the packet number, as long as numbers can be (RFC 9001, section 5.4.2).
fn parts(number_at: usize, packet: &mut [u8], sample_bytes: usize) -> (&[u8], &mut u8, &mut [u8]) {
    let (header, sample) = packet.split_at_mut(number_at + 4);
    let (first, rest) = header.split_at_mut(1);
    (&sample[..sample_bytes], &mut first[0], &mut rest[number_at - 1..])
}

/// Makes the keys that seal tokens (RFC 9000, section 8.1.4), one for each token.
struct TokenKey(hmac::Key);

impl HandshakeTokenKey for TokenKey {
    fn aead_from_hkdf(&self, random: &[u8]) -> Box<dyn AeadKey> {
        let key = hmac::sign(&self.0, random);
        let key = aead::UnboundKey::new(&aead::CHACHA20_POLY1305, key.as_ref()).expect("it is as long as a hash");
        Box::new(TokenSeal(aead::LessSafeKey::new(key)))
    }
}

/// Seals one token, so its nonce is always the same.
struct TokenSeal(aead::LessSafeKey);

impl AeadKey for TokenSeal {
    fn seal(&self, token: &mut Vec<u8>, beside: &[u8]) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key([0; 12]);
        self.0.seal_in_place_append_tag(nonce, aead::Aad::from(beside), token).map_err(|_| CryptoError)
    }

    fn open<'a>(&self, token: &'a mut [u8], beside: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key([0; 12]);
        self.0.open_in_place(nonce, aead::Aad::from(beside), token).map_err(|_| CryptoError)
    }
}

/// Makes the tokens of stateless resets (RFC 9000, section 10.3).
struct ResetKey(hmac::Key);

impl HmacKey for ResetKey {
    fn sign(&self, bytes: &[u8], signature: &mut [u8]) {
        signature.copy_from_slice(hmac::sign(&self.0, bytes).as_ref());
    }

    fn signature_len(&self) -> usize {
        SHA256_BYTES
    }

    fn verify(&self, bytes: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        hmac::verify(&self.0, bytes, signature).map_err(|_| CryptoError)
    }
}

const SHA256_BYTES: usize = 32;

impl std::fmt::Debug for QuicServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicServer").finish_non_exhaustive()
    }
}
