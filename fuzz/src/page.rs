//! A page: a QUIC client whose streams carry any bytes, and handmade first packets.

use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{cipher_suite::TLS13_AES_128_GCM_SHA256, default_provider};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::quic::Version;
use rustls::{DigitallySignedStruct, Error, Side, SignatureScheme};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// One QUIC connection.
pub(crate) struct Page {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    pub(crate) quic: Connection,
    server: SocketAddr,
    pub(crate) is_lost: bool,
    buffer: Vec<u8>,
}

impl Page {
    /// Begins a connection to the server at this address.
    pub(crate) fn new(now: Instant, server: SocketAddr) -> Page {
        static CONFIG: LazyLock<Arc<QuicClientConfig>> = LazyLock::new(|| Arc::new(tls()));
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let config = ClientConfig::new(CONFIG.clone());
        let (handle, quic) = endpoint.connect(now, config, server, "localhost").expect("it may");
        Page { endpoint, handle, quic, server, is_lost: false, buffer: Vec::new() }
    }

    pub(crate) fn handle(&mut self, now: Instant, bytes: &[u8]) {
        let handled = self.endpoint.handle(now, self.server, None, None, BytesMut::from(bytes), &mut Vec::new());
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = handled {
            self.quic.handle_event(event);
        }
        self.poll();
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.quic.poll_timeout().is_some_and(|due| due <= now) {
            self.quic.handle_timeout(now);
        }
        self.poll();
    }

    fn poll(&mut self) {
        while let Some(event) = self.quic.poll() {
            self.is_lost |= matches!(event, Event::ConnectionLost { .. });
        }
        while self.quic.datagrams().recv().is_some() {}
    }

    /// All datagrams that are sent now.
    pub(crate) fn datagrams(&mut self, now: Instant) -> Vec<Vec<u8>> {
        while let Some(event) = self.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.quic.handle_event(event);
            }
        }
        let mut left = Vec::new();
        loop {
            self.buffer.clear();
            let Some(transmit) = self.quic.poll_transmit(now, 1, &mut self.buffer) else { return left };
            left.push(self.buffer[..transmit.size].to_vec());
        }
    }
}

/// A client's first packet (RFC 9000, section 17.2.2) with these frames, padded to the size that a server answers.
pub(crate) fn first_packet(to: &[u8; 8], number: u8, token: &[u8], frames: &[u8]) -> Vec<u8> {
    let suite = TLS13_AES_128_GCM_SHA256.tls13().and_then(|suite| suite.quic_suite()).expect("it has one");
    let keys = suite.keys(to, Side::Client, Version::V1);
    let mut packet = vec![0xC0, 0, 0, 0, 1, to.len() as u8];
    packet.extend_from_slice(to);
    packet.extend_from_slice(&[4, 1, 2, 3, 4, token.len().min(63) as u8]);
    packet.extend_from_slice(&token[..token.len().min(63)]);
    let length_at = packet.len();
    // A length of two bytes, and a packet number of one byte.
    packet.extend_from_slice(&[0, 0, number]);
    let head_bytes = packet.len();
    packet.extend_from_slice(frames);
    packet.resize(packet.len().max(FIRST_BYTES_MIN - TAG_BYTES), 0);
    let length = (packet.len() - head_bytes + 1 + TAG_BYTES) as u16;
    packet[length_at..length_at + 2].copy_from_slice(&(0x4000 | length).to_be_bytes());
    let (head, payload) = packet.split_at_mut(head_bytes);
    let tag = keys.local.packet.encrypt_in_place(u64::from(number), head, payload).expect("it has room");
    packet.extend_from_slice(tag.as_ref());
    let (first, rest) = packet.split_at_mut(1);
    let number_at = head_bytes - 1 - 1;
    let (number, rest) = rest.split_at_mut(number_at).1.split_at_mut(1);
    keys.local.header.encrypt_in_place(&rest[3..3 + SAMPLE_BYTES], &mut first[0], number).expect("there is a sample");
    packet
}

/// A datagram with a client's first packet has at least this length (RFC 9000, section 14.1).
const FIRST_BYTES_MIN: usize = 1_200;
const TAG_BYTES: usize = 16;
const SAMPLE_BYTES: usize = 16;

fn tls() -> QuicClientConfig {
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("it has suites");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
    config.alpn_protocols = vec![b"h3".to_vec()];
    QuicClientConfig::try_from(config).expect("it has the suite of the first packets")
}

/// Trusts every server.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
