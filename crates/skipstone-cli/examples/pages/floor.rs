//! The lower bound of the measurements: WebTransport datagrams of a browser, without a protocol
//! in them, with a server in the same process that does only what a session requires.
//!
//! `https://HOST:PORT/pour/BYTES` sends datagrams of this size as fast as QUIC takes them; `…/drain` counts what comes,
//! and says every 100 ms how many bytes that were; `…/echo` sends back what comes.

use bytes::{BufMut, Bytes, BytesMut};
use quinn_proto::congestion::CubicConfig;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, ServerConfig, StreamEvent,
    StreamId, TransportConfig,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use skipstone::net::udp::{ReceiveBatch, SendBatch, UdpOptions, UdpSocket};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use web_transport_proto::http::StatusCode;
use web_transport_proto::{ConnectRequest, ConnectResponse, Settings};

use crate::Failure;

/// Where it listens, and the SHA-256 of its certificate.
pub(crate) struct Floor {
    pub(crate) port: u16,
    pub(crate) hash: String,
}

const DAY: Duration = Duration::from_secs(86_400);
const TOLD_EVERY: Duration = Duration::from_millis(100);
/// Datagrams that wait for QUIC.
const QUEUE_BYTES: usize = 256 << 10;
/// No path is in the way on one machine.
const WINDOW: u64 = 16 << 20;
const SEGMENTS_MAX: usize = 10;

/// Serves in its own thread until it is stopped or the process ends.
pub(crate) fn start(address: SocketAddr, over: Arc<AtomicBool>) -> Result<Floor, Failure> {
    let (config, hash) = config()?;
    let udp = UdpSocket::bind(SocketAddr::new(address.ip(), 0), &UdpOptions::server())?;
    let port = udp.local_addr()?.port();
    let quic = Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), true, None);
    let mut serving = Serving {
        udp,
        quic,
        visitors: BTreeMap::new(),
        incoming: ReceiveBatch::new(),
        outgoing: SendBatch::new(),
        buffer: Vec::new(),
    };
    std::thread::spawn(move || while !over.load(Ordering::Relaxed) && serving.step().is_ok() {});
    Ok(Floor { port, hash })
}

/// A certificate as `serverCertificateHashes` takes it, and its hash.
fn config() -> Result<(ServerConfig, String), Failure> {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
    params.not_before = (SystemTime::now() - DAY).into();
    params.not_after = (SystemTime::now() + 10 * DAY).into();
    let certificate = params.self_signed(&key)?;
    let identity = skipstone::Identity::from_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes())?;
    let hash = identity.fingerprint().to_string();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13])?.with_no_client_auth();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut tls = builder.with_single_cert(vec![certificate.der().clone()], key)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let (mut transport, mut window) = (TransportConfig::default(), CubicConfig::default());
    window.initial_window(WINDOW);
    transport.datagram_send_buffer_size(QUEUE_BYTES).datagram_receive_buffer_size(Some(4 << 20));
    transport.congestion_controller_factory(Arc::new(window));
    config.transport_config(Arc::new(transport));
    Ok((config, hash))
}

struct Serving {
    udp: UdpSocket,
    quic: Endpoint,
    visitors: BTreeMap<ConnectionHandle, Visitor>,
    incoming: ReceiveBatch,
    outgoing: SendBatch,
    buffer: Vec<u8>,
}

struct Visitor {
    quic: Connection,
    remote: SocketAddr,
    request: Vec<u8>,
    wish: Option<Wish>,
}

enum Wish {
    Echo,
    Pour { bytes: usize },
    Drain { bytes: u64, told: Instant },
}

impl Serving {
    fn step(&mut self) -> std::io::Result<()> {
        if !self.receive()? {
            std::thread::sleep(Duration::from_micros(200));
        }
        let now = Instant::now();
        for (handle, visitor) in &mut self.visitors {
            visitor.step(now);
            while let Some(event) = visitor.quic.poll_endpoint_events() {
                if let Some(event) = self.quic.handle_event(*handle, event) {
                    visitor.quic.handle_event(event);
                }
            }
            loop {
                self.buffer.clear();
                let Some(transmit) = visitor.quic.poll_transmit(now, SEGMENTS_MAX, &mut self.buffer) else { break };
                let bytes = &self.buffer[..transmit.size];
                self.outgoing.push(bytes, visitor.remote, transmit.segment_size);
                self.udp.send_batch(&mut self.outgoing);
                self.outgoing.clear();
            }
        }
        self.visitors.retain(|_, visitor| !visitor.quic.is_drained());
        Ok(())
    }

    /// Takes what has come; false if that is nothing.
    fn receive(&mut self) -> std::io::Result<bool> {
        let mut is_any = false;
        if self.udp.receive_batch(&mut self.incoming)? > 0 {
            is_any = true;
            let now = Instant::now();
            for received in self.incoming.datagrams() {
                self.buffer.clear();
                let datagram = BytesMut::from(&received.bytes[..]);
                match self.quic.handle(now, received.from, None, None, datagram, &mut self.buffer) {
                    Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                        self.visitors.entry(handle).and_modify(|visitor| visitor.quic.handle_event(event));
                    }
                    Some(DatagramEvent::NewConnection(incoming)) => {
                        let remote = incoming.remote_address();
                        if let Ok((handle, quic)) = self.quic.accept(incoming, now, &mut self.buffer, None) {
                            let visitor = Visitor { quic, remote, request: Vec::new(), wish: None };
                            self.visitors.insert(handle, visitor);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(is_any)
    }
}

impl Visitor {
    fn step(&mut self, now: Instant) {
        if self.quic.poll_timeout().is_some_and(|due| due <= now) {
            self.quic.handle_timeout(now);
        }
        while let Some(event) = self.quic.poll() {
            match event {
                Event::Connected => self.say_settings(),
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    while let Some(id) = self.quic.streams().accept(Dir::Bi) {
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) if id.dir() == Dir::Bi => self.read(id),
                _ => {}
            }
        }
        let mut came = 0;
        while let Some(datagram) = self.quic.datagrams().recv() {
            came += datagram.len() as u64 - 1;
            if matches!(self.wish, Some(Wish::Echo)) {
                let _ = self.quic.datagrams().send(datagram, true);
            }
        }
        match &mut self.wish {
            Some(Wish::Drain { bytes, told }) => {
                *bytes += came;
                if told.elapsed() >= TOLD_EVERY {
                    *told = now;
                    let count = *bytes;
                    let _ = self.quic.datagrams().send(datagram(&count.to_le_bytes()), true);
                }
            }
            Some(Wish::Pour { bytes }) => {
                let content = vec![7; *bytes];
                while self.quic.datagrams().send_buffer_space() > content.len() {
                    if self.quic.datagrams().send(datagram(&content), false).is_err() {
                        break;
                    }
                }
            }
            Some(Wish::Echo) | None => {}
        }
    }

    fn say_settings(&mut self) {
        let (mut settings, mut bytes) = (Settings::default(), Vec::new());
        settings.enable_webtransport(1);
        settings.encode(&mut bytes);
        if let Some(id) = self.quic.streams().open(Dir::Uni) {
            let _ = self.quic.send_stream(id).write(&bytes);
        }
    }

    /// The request: its path is what the page wishes.
    fn read(&mut self, id: StreamId) {
        let mut stream = self.quic.recv_stream(id);
        if let Ok(mut chunks) = stream.read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.request.extend_from_slice(&chunk.bytes);
            }
            let _ = chunks.finalize();
        }
        let Ok(request) = ConnectRequest::decode(&mut &self.request[..]) else { return };
        if self.wish.is_some() {
            return;
        }
        let words: Vec<&str> = request.url.path().split('/').skip(1).collect();
        self.wish = match words[..] {
            ["echo"] => Some(Wish::Echo),
            ["pour", bytes] => bytes.parse().ok().map(|bytes| Wish::Pour { bytes }),
            _ => Some(Wish::Drain { bytes: 0, told: Instant::now() }),
        };
        let mut answer = Vec::new();
        if ConnectResponse::new(StatusCode::OK).encode(&mut answer).is_ok() {
            let _ = self.quic.send_stream(id).write(&answer);
        }
    }
}

/// A datagram of the connection's first stream.
fn datagram(content: &[u8]) -> Bytes {
    let mut all = BytesMut::with_capacity(1 + content.len());
    all.put_u8(0);
    all.put_slice(content);
    all.freeze()
}
