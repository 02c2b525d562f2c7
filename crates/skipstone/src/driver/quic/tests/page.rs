//! A page: a WebTransport client on quinn-proto and rustls' own provider, without sockets.

use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    StreamEvent, StreamId, TransportConfig, VarInt,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use web_transport_proto::http::HeaderValue;
use web_transport_proto::{Capsule, ConnectError, ConnectRequest, ConnectResponse, Frame, Settings, StreamUni};

/// One QUIC connection, and the session that it asks for.
pub(crate) struct Page {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    pub(crate) quic: Connection,
    request: Vec<u8>,
    settings: Vec<u8>,
    pub(crate) connect: Option<StreamId>,
    answer: Vec<u8>,
    /// The answer to the request: granted or not.
    pub(crate) granted: Option<bool>,
    /// The server's settings allow sessions.
    pub(crate) has_settings: bool,
    /// The server closed the session.
    pub(crate) is_session_over: bool,
    pub(crate) lost: Option<ConnectionError>,
    pub(crate) got: Vec<Bytes>,
    pub(crate) stopped: Vec<(StreamId, u64)>,
    /// Streams that carry datagrams in turn, once one was asked for.
    pub(crate) streams: Vec<StreamId>,
    turn: usize,
    buffer: Vec<u8>,
}

impl Page {
    /// Begins a connection to the server at this address.
    pub(crate) fn new(now: Instant, server: SocketAddr, origin: Option<&str>) -> Page {
        let mut request = ConnectRequest::new(url::Url::parse("https://game.example/play").expect("a URL"));
        if let Some(origin) = origin {
            let value = HeaderValue::from_str(origin).expect("a header");
            request = request.with_header(web_transport_proto::http::header::ORIGIN, value);
        }
        let (mut connect, mut settings) = (Vec::new(), Vec::new());
        request.encode(&mut connect).expect("it is short");
        let mut all = Settings::default();
        all.enable_webtransport(1);
        all.encode(&mut settings);
        Page::saying(now, server, connect, settings)
    }

    /// The same with this request, and its own control stream.
    pub(crate) fn saying(now: Instant, server: SocketAddr, request: Vec<u8>, settings: Vec<u8>) -> Page {
        Page::with(now, server, (request, settings), TransportConfig::default(), b"h3")
    }

    pub(crate) fn with(
        now: Instant,
        server: SocketAddr,
        (request, settings): (Vec<u8>, Vec<u8>),
        transport: TransportConfig,
        alpn: &[u8],
    ) -> Page {
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let mut config = ClientConfig::new(Arc::new(tls(alpn)));
        config.transport_config(Arc::new(transport));
        let (handle, quic) = endpoint.connect(now, config, server, "localhost").expect("it may");
        Page {
            endpoint,
            handle,
            quic,
            request,
            settings,
            connect: None,
            answer: Vec::new(),
            granted: None,
            has_settings: false,
            is_session_over: false,
            lost: None,
            got: Vec::new(),
            stopped: Vec::new(),
            streams: Vec::new(),
            turn: 0,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn handle(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let handled = self.endpoint.handle(now, from, None, None, BytesMut::from(bytes), &mut Vec::new());
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = handled {
            self.quic.handle_event(event);
        }
        self.handle_events();
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.quic.poll_timeout().is_some_and(|due| due <= now) {
            self.quic.handle_timeout(now);
        }
        self.handle_events();
    }

    /// All datagrams that leave now.
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

    /// Sends one datagram of the session.
    pub(crate) fn send(&mut self, content: &[u8]) {
        self.send_raw([&[0], content].concat());
    }

    pub(crate) fn send_raw(&mut self, datagram: Vec<u8>) {
        // A datagram that does not fit is dropped, as in a browser.
        let _ = self.quic.datagrams().send(datagram.into(), true);
    }

    /// Sends a datagram of the protocol on a stream of the session, of eight the one whose turn it is.
    pub(crate) fn send_on_stream(&mut self, content: &[u8]) {
        if self.streams.is_empty() {
            self.streams = (0..8).map(|_| self.open(Dir::Uni, &[0x40, 0x54, 0]).expect("it may")).collect();
        }
        self.turn += 1;
        let id = self.streams[self.turn % self.streams.len()];
        let record = [&(0x8000 | content.len() as u16).to_be_bytes()[..], content].concat();
        let written = self.quic.send_stream(id).write(&record).expect("it is open");
        assert_eq!(written, record.len(), "there is room");
    }

    /// Closes the session as a page does.
    pub(crate) fn close(&mut self, code: u32, reason: &str) {
        let (mut capsule, mut frame) = (Vec::new(), Vec::new());
        Capsule::CloseWebTransportSession { code, reason: reason.into() }.encode(&mut capsule);
        Frame::DATA.encode(&mut frame);
        web_transport_proto::VarInt::from_u32(capsule.len() as u32).encode(&mut frame);
        frame.extend_from_slice(&capsule);
        let id = self.connect.expect("it has a session");
        self.quic.send_stream(id).write(&frame).expect("there is room");
        self.quic.send_stream(id).finish().expect("it is open");
    }

    /// Opens a stream and writes to it.
    pub(crate) fn open(&mut self, dir: Dir, bytes: &[u8]) -> Option<StreamId> {
        let id = self.quic.streams().open(dir)?;
        let _ = self.quic.send_stream(id).write(bytes);
        Some(id)
    }

    pub(crate) fn abort(&mut self, now: Instant) {
        self.quic.close(now, VarInt::from_u32(0x100), Bytes::new());
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.quic.poll() {
            match event {
                Event::Connected => self.begin(),
                // Later datagrams may be answered by a stateless reset.
                Event::ConnectionLost { reason } => drop(self.lost.get_or_insert(reason)),
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    while let Some(id) = self.quic.streams().accept(Dir::Uni) {
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                    self.stopped.push((id, error_code.into_inner()));
                }
                _ => {}
            }
        }
        while let Some(datagram) = self.quic.datagrams().recv() {
            if datagram.first() == Some(&0) {
                self.got.push(datagram.slice(1..));
            }
        }
    }

    fn begin(&mut self) {
        let settings = std::mem::take(&mut self.settings);
        if !settings.is_empty() {
            self.open(Dir::Uni, &settings);
        }
        for kind in [StreamUni::QPACK_ENCODER, StreamUni::QPACK_DECODER] {
            let mut bytes = Vec::new();
            kind.encode(&mut bytes);
            self.open(Dir::Uni, &bytes);
        }
        let request = std::mem::take(&mut self.request);
        if !request.is_empty() {
            self.connect = self.open(Dir::Bi, &request);
        }
    }

    fn read(&mut self, id: StreamId) {
        let mut bytes = Vec::new();
        let mut is_over = false;
        {
            let mut stream = self.quic.recv_stream(id);
            let Ok(mut chunks) = stream.read(true) else { return };
            loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => bytes.extend_from_slice(&chunk.bytes),
                    Err(quinn_proto::ReadError::Blocked) => break,
                    Ok(None) | Err(quinn_proto::ReadError::Reset(_)) => {
                        is_over = true;
                        break;
                    }
                }
            }
            let _ = chunks.finalize();
        }
        if id.dir() == Dir::Uni {
            let settings = Settings::decode(&mut &bytes[..]);
            self.has_settings |= settings.is_ok_and(|settings| settings.supports_webtransport() > 0);
        } else if Some(id) == self.connect {
            self.answer.extend_from_slice(&bytes);
            match ConnectResponse::decode(&mut &self.answer[..]) {
                Ok(_) => self.granted = Some(true),
                Err(ConnectError::UnexpectedEnd) => {}
                Err(_) => self.granted = Some(false),
            }
            self.is_session_over |= is_over;
        }
    }
}

fn tls(alpn: &[u8]) -> QuicClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("it has suites");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    QuicClientConfig::try_from(config).expect("it has the suite of the first packets")
}

/// Trusts every server, as a page does that knows the hash of the certificate.
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
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
