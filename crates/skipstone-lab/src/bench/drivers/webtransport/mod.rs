//! Skipstone's clients as pages are: the protocol in WebTransport's datagrams. One endpoint of the protocol and one of QUIC for all of
//! them, and a socket for each.

mod session;
mod tls;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use mio::Token;
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, EndpointConfig};
use skipstone::net::udp::{ReceiveBatch, SendBatch, UdpOptions, UdpSocket};
use skipstone::{Carrier, Event, Path, PeerId, Target, code};
use skipstone_proto::{Config, Endpoint, MessageId, Time};

use self::session::Session;
use super::driver::{BenchClients, ClientEvent, ClientSetup, OnEvent};
use super::error::text;
use super::listeners;
use super::skipstone::channel;
use super::watch::Watch;

/// The clients.
pub(super) struct WebTransportClients {
    watch: Watch,
    server: SocketAddr,
    channel: u16,
    began: Instant,
    quic: quinn_proto::Endpoint,
    config: ClientConfig,
    endpoint: Endpoint,
    clients: Vec<Page>,
    /// Client numbers by place in the endpoint.
    by_place: Vec<u32>,
    /// Clients that were asked for and have not begun: the server lets few of one network begin at once.
    waiting: VecDeque<()>,
    beginning: usize,
    /// When to look at QUIC's timers.
    timers_due: Instant,
    incoming: ReceiveBatch,
    outgoing: SendBatch,
    buffer: Vec<u8>,
}

/// One client: its socket, its QUIC connection, the session in it.
struct Page {
    udp: UdpSocket,
    handle: ConnectionHandle,
    quic: Connection,
    session: Session,
    peer: PeerId,
    is_dirty: bool,
    is_connected: bool,
}

/// Handshakes at once: the server has places for 64 of a network.
const BEGINNING_MAX: usize = 24;
/// QUIC's own timers are of 25 ms and more.
const TIMERS_SPAN: Duration = Duration::from_millis(4);
const SEGMENTS_MAX: usize = 16;

impl WebTransportClients {
    pub(super) fn new(url: &str, setup: ClientSetup) -> Result<Self, String> {
        let own: Target = url.parse().map_err(|error: skipstone::UrlError| error.to_string())?;
        let server = own.resolve().map_err(|error| error.to_string())?;
        let config = Config { congestion: setup.congestion, ..Config::client() };
        let seed = [setup.first.to_le_bytes(); 8].concat().try_into().expect("32 bytes");
        Ok(WebTransportClients {
            watch: Watch::new()?,
            server,
            channel: channel(setup.trial.variant.delivery()),
            began: Instant::now(),
            quic: quinn_proto::Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None),
            config: ClientConfig::new(Arc::new(tls::crypto())),
            endpoint: Endpoint::new(config, seed).map_err(|error| error.to_string())?,
            clients: Vec::new(),
            by_place: Vec::new(),
            waiting: VecDeque::new(),
            beginning: 0,
            timers_due: Instant::now(),
            incoming: ReceiveBatch::new(),
            outgoing: SendBatch::new(),
            buffer: Vec::new(),
        })
    }

    fn now(&self) -> Time {
        Time::from_micros(1 + self.began.elapsed().as_micros() as u64)
    }

    fn path(&self, client: usize) -> Path {
        Path { socket: client as u32, remote: self.server, carrier: Carrier::WEBTRANSPORT }
    }

    fn begin(&mut self) -> Result<(), String> {
        let (number, now) = (self.clients.len(), self.now());
        let mut udp =
            UdpSocket::bind(listeners::any(self.server), &UdpOptions::client()).map_err(text("open a socket"))?;
        udp.register(self.watch.registry(), Token(number)).map_err(text("open a socket"))?;
        let connected = self.quic.connect(Instant::now(), self.config.clone(), self.server, "localhost");
        let (handle, quic) = connected.map_err(|error| format!("cannot connect a client: {error}"))?;
        let connected = self.endpoint.connect(now, self.path(number), b"bench");
        let peer = connected.map_err(|error| format!("cannot connect a client: {error:?}"))?;
        self.endpoint.set_writable(number as u32, false);
        let place = peer.index as usize;
        self.by_place.resize(self.by_place.len().max(place + 1), u32::MAX);
        self.by_place[place] = number as u32;
        let session = Session::default();
        self.clients.push(Page { udp, handle, quic, session, peer, is_dirty: true, is_connected: false });
        self.beginning += 1;
        Ok(())
    }

    /// Takes what has come for one client.
    fn receive(&mut self, number: usize) -> Result<(), String> {
        let (now, path) = (self.now(), self.path(number));
        let page = &mut self.clients[number];
        while page.udp.receive_batch(&mut self.incoming).map_err(text("receive"))? > 0 {
            let instant = Instant::now();
            for received in self.incoming.datagrams() {
                self.buffer.clear();
                let datagram = BytesMut::from(&received.bytes[..]);
                let event = self.quic.handle(instant, self.server, None, None, datagram, &mut self.buffer);
                if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                    page.quic.handle_event(event);
                }
            }
            page.is_dirty = true;
            let was_open = page.session.is_open();
            page.session.handle_events(&mut page.quic);
            if page.session.is_open() && !was_open {
                self.endpoint.set_writable(path.socket, true);
            }
            while let Some(content) = page.session.receive(&mut page.quic) {
                // The datagram's own memory, unless it shares a packet with others.
                let mut content = content.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
                self.endpoint.handle_datagram(now, path, &mut content);
            }
            if let Some(reason) = page.session.end() {
                self.endpoint.handle_carrier_lost(now, path.socket, reason);
            }
        }
        Ok(())
    }

    fn handle_timers(&mut self) {
        let instant = Instant::now();
        if instant < self.timers_due {
            return;
        }
        self.timers_due = instant + TIMERS_SPAN;
        for page in &mut self.clients {
            if page.quic.poll_timeout().is_some_and(|due| due <= instant) {
                page.quic.handle_timeout(instant);
                page.is_dirty = true;
            }
        }
    }

    /// Gives what the protocol has to send to QUIC, and sends what QUIC has.
    fn transmit(&mut self) {
        let (now, instant) = (self.now(), Instant::now());
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(1 << 16, 0);
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            let page = &mut self.clients[transmit.path.socket as usize];
            for content in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                page.session.send(&mut page.quic, content);
            }
            page.is_dirty = true;
        }
        self.buffer = buffer;
        for page in self.clients.iter_mut().filter(|page| page.is_dirty) {
            page.is_dirty = false;
            while let Some(event) = page.quic.poll_endpoint_events() {
                if let Some(event) = self.quic.handle_event(page.handle, event) {
                    page.quic.handle_event(event);
                }
            }
            loop {
                self.buffer.clear();
                let Some(transmit) = page.quic.poll_transmit(instant, SEGMENTS_MAX, &mut self.buffer) else { break };
                self.outgoing.push(&self.buffer[..transmit.size], self.server, transmit.segment_size);
                page.udp.send_batch(&mut self.outgoing);
                self.outgoing.clear();
            }
        }
    }

    fn take_events(&mut self, on_event: &mut OnEvent<'_>) {
        let now = self.now();
        while let Some(event) = self.endpoint.poll_event(now) {
            let client = self.by_place[event.peer().index as usize];
            match event {
                Event::Message { payload, .. } => on_event(ClientEvent::Line { client, line: &payload, at_ns: None }),
                Event::Connected { .. } => {
                    self.clients[client as usize].is_connected = true;
                    self.beginning -= 1;
                    on_event(ClientEvent::Connected(client));
                }
                Event::Closed { close, .. } => {
                    if !self.clients[client as usize].is_connected {
                        self.beginning -= 1;
                    }
                    let reason = format!("{} (code {})", close.reason_text(), close.code);
                    on_event(ClientEvent::Gone { client, reason });
                }
                _ => {}
            }
        }
    }
}

impl BenchClients for WebTransportClients {
    fn connect(&mut self) -> Result<(), String> {
        self.waiting.push_back(());
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        let (now, peer) = (self.now(), self.clients[client as usize].peer);
        self.endpoint.send(now, peer, self.channel, Bytes::copy_from_slice(line), MessageId(0)).is_ok()
    }

    fn flush(&mut self) {
        let now = self.now();
        self.endpoint.flush(now);
        self.transmit();
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        while self.beginning < BEGINNING_MAX && self.waiting.pop_front().is_some() {
            self.begin()?;
        }
        let now = self.now();
        let until = Duration::from_micros(self.endpoint.poll_timeout().as_micros().saturating_sub(now.as_micros()));
        self.watch.wait(wait_max.min(until).min(TIMERS_SPAN))?;
        let ready: Vec<usize> = self.watch.ready().collect();
        for number in ready {
            self.receive(number)?;
        }
        let now = self.now();
        self.endpoint.handle_timeout(now);
        self.handle_timers();
        self.take_events(on_event);
        self.transmit();
        Ok(())
    }

    fn close(&mut self) {
        let now = self.now();
        self.endpoint.close_all(now, code::NONE, "the bench is over", Duration::ZERO);
        self.transmit();
    }
}
