//! Skipstone with default settings: encrypted, plain, over WebSocket, or mixed. The server is stepped by the tick
//! unless another threading is requested; the clients are a pool.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use skipstone::{
    ChannelRule, DeliveryMode, Event, Group, PeerId, Pool, PoolConfig, Redundancy, Scheme, Security, SendError,
    SendRefusal, ServerConfig, Settings, Target, Threading, code,
};

use super::driver::{BenchClients, BenchServer, ClientEvent, ClientSetup, Inbox, OnEvent, ServerSetup};
use crate::bench::setup::Drive;
use crate::bench::transport::BenchTransport;
use crate::bench::variant::LineDelivery;
use crate::workload::{self, LINES};

/// For lines that need not arrive.
const UNRELIABLE: u16 = 1;
/// Channels from this number on are used once and then idle.
const FIRST_IDLE: u16 = 2;

/// The first channel as `serve` has it.
fn settings(channels: u16, redundancy: Redundancy) -> Settings {
    let mut settings = workload::settings(QUEUE_BYTES_MAX, redundancy);
    settings.channels.truncate(1);
    settings.channels.push(ChannelRule::new(UNRELIABLE..=UNRELIABLE, DeliveryMode::Unreliable));
    if channels > 1 {
        let last = FIRST_IDLE + channels - 2;
        settings.channels.push(ChannelRule::new(FIRST_IDLE..=last, DeliveryMode::ReliableOrdered));
    }
    settings
}

pub(super) fn channel(delivery: LineDelivery) -> u16 {
    match delivery {
        LineDelivery::Reliable => LINES,
        LineDelivery::Unreliable => UNRELIABLE,
    }
}

/// The server.
pub(super) struct SkipstoneServer {
    server: skipstone::Server,
    drive: Drive,
    scheme: Scheme,
    /// Indexed by the client's number, which is its position.
    peers: Vec<Option<PeerId>>,
    channel: u16,
}

/// Bytes that may wait for one client.
const QUEUE_BYTES_MAX: u32 = 4 << 20;

impl SkipstoneServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        let (transport, of_all) = (setup.trial.transport, setup.of_all);
        let identity = skipstone::Identity::self_signed().map_err(|error| error.to_string())?;
        let config = ServerConfig {
            settings: settings(setup.trial.variant.channels(), of_all.resilience.redundancy()),
            congestion: of_all.resilience.congestion(),
            threading: if of_all.drive == Drive::Background { Threading::Background } else { Threading::Stepped },
            security: Some(Security::with(identity).allowing_plain()),
            websocket: transport == BenchTransport::SkipstoneMixed || is_websocket(scheme(transport)),
            webtransport: transport == BenchTransport::SkipstoneWebTransport,
            ..ServerConfig::new(setup.listen)
        };
        let server = skipstone::Server::start(config).map_err(|error| error.to_string())?;
        Ok(Self {
            server,
            drive: of_all.drive,
            scheme: scheme(transport),
            peers: Vec::new(),
            channel: channel(setup.trial.variant.delivery()),
        })
    }

    fn take_events(&mut self, inbox: &mut Inbox) {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => drop(self.server.accept(peer)),
                Event::Connected { peer, .. } => {
                    let place = peer.index as usize;
                    self.peers.resize(self.peers.len().max(place + 1), None);
                    self.peers[place] = Some(peer);
                }
                Event::Message { peer, channel, payload, .. } if channel >= FIRST_IDLE => {
                    self.send(peer, channel, &payload);
                }
                Event::Message { peer, payload, .. } => inbox.0.push((peer.index, payload)),
                Event::Closed { peer, .. } => {
                    let place = self.peers.get_mut(peer.index as usize);
                    place.into_iter().for_each(|known| *known = None);
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, peer: PeerId, channel: u16, line: &Bytes) {
        self.send_blocking(|server| server.send(peer, channel, line.clone()).map(drop));
    }

    /// Sends, and waits while a background driver is behind. A client that has left gets nothing.
    fn send_blocking(&mut self, mut send: impl FnMut(&mut skipstone::Server) -> Result<(), SendError>) {
        while send(&mut self.server).is_err_and(|error| error.reason == SendRefusal::DriverBusy) {
            let _ = self.server.flush();
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn step(&mut self, wait_max: Duration) -> Result<(), String> {
        self.server.drive(wait_max).map_err(|error| format!("cannot wait for the sockets: {error}"))
    }
}

impl BenchServer for SkipstoneServer {
    fn url(&self) -> String {
        url(self.scheme, &self.server.url()).expect("a server's own URL is one")
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        if self.drive == Drive::Tick {
            self.step(Duration::ZERO)?;
        }
        self.take_events(inbox);
        self.server.failure().map_or(Ok(()), |failure| Err(format!("the driver gave up: {failure}")))
    }

    fn broadcast(&mut self, line: &Bytes) {
        self.send_blocking(|server| server.broadcast(Group::EVERYONE, LINES, line.clone()).map(drop));
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        let Some(peer) = self.peers.get(client as usize).copied().flatten() else { return };
        self.send(peer, self.channel, &line);
    }

    fn flush(&mut self) -> Result<(), String> {
        self.server.flush().map_err(|error| error.to_string())?;
        if self.drive == Drive::Background { Ok(()) } else { self.step(Duration::ZERO) }
    }

    fn rest(&mut self, until: Instant) -> Result<(), String> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            match self.drive {
                Drive::Ready => self.step(left)?,
                Drive::Tick | Drive::Background => std::thread::sleep(left),
            }
        }
    }

    fn clients(&self) -> usize {
        self.peers.iter().flatten().count()
    }

    fn ip_bytes(&mut self) -> Option<u64> {
        // A stream's segments are the kernel's, which counts them itself.
        if is_websocket(self.scheme) {
            return None;
        }
        let stats = self.server.stats();
        Some(stats.sent.ip_bytes + stats.received.ip_bytes)
    }
}

fn is_websocket(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::WebSocket | Scheme::SecureWebSocket)
}

/// The scheme by which the clients connect, or half of them.
pub(super) fn scheme(transport: BenchTransport) -> Scheme {
    match transport {
        // A page takes the address out of the URL.
        BenchTransport::Skipstone | BenchTransport::SkipstoneWebTransport => Scheme::Encrypted,
        BenchTransport::SkipstoneWebSocket => Scheme::WebSocket,
        BenchTransport::SkipstoneSecureWebSocket => Scheme::SecureWebSocket,
        _ => Scheme::Plain,
    }
}

/// The URL of this scheme for the server that has this `skip://` URL.
pub(super) fn url(scheme: Scheme, encrypted: &str) -> Result<String, String> {
    let own: Target = encrypted.parse().map_err(|error: skipstone::UrlError| error.to_string())?;
    Ok(match scheme {
        Scheme::Encrypted => own.url,
        Scheme::SecureWebSocket => own.url.replacen("skip://", "wss://", 1),
        scheme => Target::new(scheme, &own.host, own.port).url,
    })
}

fn target(scheme: Scheme, address: SocketAddr) -> Target {
    Target::new(scheme, &address.ip().to_string(), address.port())
}

/// The clients.
pub(super) struct SkipstoneClients {
    pool: Pool,
    /// Client n of all processes connects by target n, and so on round.
    targets: Vec<Target>,
    first: usize,
    address: SocketAddr,
    peers: Vec<PeerId>,
    /// Client numbers by place in the pool.
    by_place: Vec<u32>,
    channel: u16,
}

impl SkipstoneClients {
    pub(super) fn new(url: &str, setup: ClientSetup) -> Result<Self, String> {
        let config = PoolConfig {
            congestion: setup.congestion,
            sockets_at_once: workload::SOCKETS_AT_ONCE,
            ..PoolConfig::default()
        };
        let pool = Pool::new(config).map_err(|error| error.to_string())?;
        let own: Target = url.parse().map_err(|error: skipstone::UrlError| error.to_string())?;
        let address = own.resolve().map_err(|error| error.to_string())?;
        let mut targets = vec![own];
        if setup.trial.transport == BenchTransport::SkipstoneMixed {
            targets.push(target(Scheme::WebSocket, address));
        }
        Ok(Self {
            pool,
            targets,
            first: setup.first as usize,
            address,
            peers: Vec::new(),
            by_place: Vec::new(),
            channel: channel(setup.trial.variant.delivery()),
        })
    }
}

impl BenchClients for SkipstoneClients {
    fn connect(&mut self) -> Result<(), String> {
        let target = &self.targets[(self.first + self.peers.len()) % self.targets.len()];
        let peer = self.pool.add(target, self.address, b"bench", None).map_err(|error| error.to_string())?;
        let place = peer.index as usize;
        self.by_place.resize(self.by_place.len().max(place + 1), u32::MAX);
        self.by_place[place] = self.peers.len() as u32;
        self.peers.push(peer);
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        self.pool.send(self.peers[client as usize], self.channel, Bytes::copy_from_slice(line)).is_ok()
    }

    fn flush(&mut self) {
        self.pool.flush();
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.pool.drive(wait_max).map_err(|error| format!("cannot wait for the sockets: {error}"))?;
        while let Some(event) = self.pool.poll_event() {
            let client = self.by_place[event.peer().index as usize];
            match event {
                Event::Message { channel, .. } if channel >= FIRST_IDLE => on_event(ClientEvent::Touched),
                Event::Message { payload, .. } => on_event(ClientEvent::Line { client, line: &payload, at_ns: None }),
                Event::Connected { .. } => on_event(ClientEvent::Connected(client)),
                Event::Closed { close, .. } => {
                    on_event(ClientEvent::Gone {
                        client,
                        reason: format!("{} (code {})", close.reason_text(), close.code),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn touch(&mut self, client: u32, channel: u16) -> bool {
        self.pool.send(self.peers[client as usize], FIRST_IDLE + channel, &b"x"[..]).is_ok()
    }

    fn close(&mut self) {
        self.pool.close_all(code::NONE, "the bench is over", Duration::ZERO);
    }
}
