//! Many QUIC clients at the WebTransport port; one thread drives them. None requests an HTTP/3 session.

mod forged;

use crate::attack::{Origin, QuicWay};
use crate::bucket::Bucket;
use crate::sent::Sent;
use crate::trust;
use bytes::BytesMut;
use forged::{Forger, Frames};
use quinn_proto::congestion::NewRenoConfig;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, TransportConfig,
};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// All of them.
pub(crate) struct Quic {
    way: QuicWay,
    to: SocketAddr,
    origin: Origin,
    tls: Arc<QuicClientConfig>,
    transport: Arc<TransportConfig>,
    places: Vec<Place>,
    /// Attackers that came so far.
    comings: usize,
}

struct Place {
    client: Option<Client>,
    /// When the next client may begin, or one that only begins leaves.
    due: Instant,
}

impl Quic {
    pub(crate) fn new(way: QuicWay, to: SocketAddr, origin: Origin, crowd: usize, now: Instant) -> Quic {
        let mut tls = trust::client();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let tls = Arc::new(QuicClientConfig::try_from(tls).expect("ring has the suite of the first packets"));
        let places =
            (0..crowd).map(|number| Place { client: None, due: now + way.stay() * number as u32 / crowd as u32 });
        Quic { way, to, origin, tls, transport: Arc::new(transport()), places: places.collect(), comings: 0 }
    }

    /// Each client gets a turn. False if none could act.
    pub(crate) fn step(&mut self, now: Instant, bucket: &mut Bucket, sent: &mut Sent) -> bool {
        let mut moved = false;
        for place in &mut self.places {
            if place.client.is_none() && place.due <= now {
                let from = SocketAddr::new(self.origin.address(self.comings), 0);
                place.client = Client::new(now, from, self.to, self.tls.clone(), self.transport.clone());
                place.due = now + self.way.stay();
                self.comings += 1;
                sent.openings += 1;
            }
            let Some(client) = &mut place.client else { continue };
            let before = sent.bytes;
            client.step(now, self.way, bucket, sent);
            moved |= sent.bytes > before;
            let leaves = matches!(self.way, QuicWay::FirstFlights(_)) && place.due <= now;
            if client.is_over {
                sent.closes += 1;
            }
            if client.is_over || leaves {
                place.client = None;
                place.due = place.due.max(now);
            }
        }
        moved
    }
}

/// One connection.
struct Client {
    socket: UdpSocket,
    server: SocketAddr,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    quic: Connection,
    frames: Arc<Frames>,
    is_connected: bool,
    is_over: bool,
    buffer: Vec<u8>,
}

impl Client {
    fn new(
        now: Instant,
        from: SocketAddr,
        server: SocketAddr,
        tls: Arc<QuicClientConfig>,
        transport: Arc<TransportConfig>,
    ) -> Option<Client> {
        let socket = UdpSocket::bind(from).ok()?;
        socket.set_nonblocking(true).ok()?;
        let frames = Arc::new(Frames::default());
        let mut config = ClientConfig::new(Arc::new(Forger { tls, frames: frames.clone() }));
        config.transport_config(transport);
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let (handle, quic) = endpoint.connect(now, config, server, "localhost").ok()?;
        let (is_connected, is_over, buffer) = (false, false, Vec::new());
        Some(Client { socket, server, endpoint, handle, quic, frames, is_connected, is_over, buffer })
    }

    fn step(&mut self, now: Instant, way: QuicWay, bucket: &mut Bucket, sent: &mut Sent) {
        self.receive(now, way);
        if self.quic.poll_timeout().is_some_and(|due| due <= now) {
            self.quic.handle_timeout(now);
        }
        while let Some(event) = self.quic.poll() {
            self.is_connected |= matches!(event, Event::Connected);
            self.is_over |= matches!(event, Event::ConnectionLost { .. });
        }
        self.transmit(now, bucket, sent);
        let frames_max = match way {
            QuicWay::FirstFlights(_) => 0,
            QuicWay::PartialStreams => Frames::COUNT,
            QuicWay::RepeatedFrames => usize::MAX,
        };
        while self.is_connected
            && self.frames.sent.load(Ordering::Relaxed) < frames_max
            && bucket.room(now) >= DATAGRAM_BYTES
            && self.quic.datagrams().max_size().is_some_and(|max| max >= CONTENT_BYTES)
        {
            self.frames.is_forging.store(true, Ordering::Relaxed);
            let queued = self.quic.datagrams().send(vec![0; CONTENT_BYTES].into(), true).is_ok();
            let left = self.transmit(now, bucket, sent);
            self.frames.is_forging.store(false, Ordering::Relaxed);
            if !queued || left == 0 {
                break;
            }
        }
    }

    fn receive(&mut self, now: Instant, way: QuicWay) {
        let mut buffer = [0; 2_048];
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            let datagram = &buffer[..length];
            // An attacker that only begins does not continue; but proof of its address is requested first (RFC 9000,
            // section 17.2.5).
            if matches!(way, QuicWay::FirstFlights(_)) && !is_retry(datagram) {
                continue;
            }
            let handled = self.endpoint.handle(now, from, None, None, BytesMut::from(datagram), &mut Vec::new());
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = handled {
                self.quic.handle_event(event);
            }
        }
    }

    /// Sends what there is; returns how many datagrams left.
    fn transmit(&mut self, now: Instant, bucket: &mut Bucket, sent: &mut Sent) -> usize {
        while let Some(event) = self.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.quic.handle_event(event);
            }
        }
        let mut left = 0;
        loop {
            self.buffer.clear();
            let Some(transmit) = self.quic.poll_transmit(now, 1, &mut self.buffer) else { return left };
            // A full socket buffer loses it, as any path may.
            let _ = self.socket.send_to(&self.buffer[..transmit.size], self.server);
            bucket.take(transmit.size);
            sent.bytes += transmit.size as u64;
            left += 1;
        }
    }
}

/// A Retry packet of QUIC version 1 (RFC 9000, section 17.2.5).
fn is_retry(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| first & 0xF0 == 0xF0)
}

impl QuicWay {
    /// How long a client that only begins a handshake stays.
    fn stay(self) -> Duration {
        match self {
            QuicWay::FirstFlights(stay) => stay,
            QuicWay::PartialStreams | QuicWay::RepeatedFrames => AGAIN,
        }
    }
}

/// Nothing slows an attacker down.
fn transport() -> TransportConfig {
    let mut congestion = NewRenoConfig::default();
    congestion.initial_window(1 << 30);
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(congestion));
    transport.keep_alive_interval(Some(Duration::from_secs(2)));
    transport.mtu_discovery_config(None);
    transport
}

/// The size of the content that a forged packet replaces.
const CONTENT_BYTES: usize = 1_100;
const DATAGRAM_BYTES: usize = 1_200;
/// Between a connection that ended and the next at its place.
const AGAIN: Duration = Duration::from_millis(50);
