//! Clients as web pages run them: the protocol in WebTransport datagrams. All of them share one endpoint of the
//! protocol and one QUIC endpoint; each has its own socket.

mod session;
mod tls;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use mio::{Events, Poll, Token};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, EndpointConfig};
use skipstone::net::udp::{ReceiveBatch, SendBatch, UdpOptions, UdpSocket};
use skipstone::{Carrier, Event, Path, PeerId, Stats, code};
use skipstone_proto::{Config, Endpoint, MessageId, Time};

use self::session::Session;
use crate::socket_error::text;

/// The clients. They are numbered from 0, in the order in which they are connected.
pub(crate) struct Pages {
    poll: Poll,
    events: Events,
    server: SocketAddr,
    greeting: &'static [u8],
    began: Instant,
    quic: quinn_proto::Endpoint,
    config: ClientConfig,
    endpoint: Endpoint,
    pages: Vec<Page>,
    /// Numbers by place in the endpoint.
    by_place: Vec<u32>,
    /// Clients that were asked for and have not begun: the server lets few of one network begin at once.
    waiting: usize,
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
const EVENTS_MAX: usize = 1_024;

impl Pages {
    /// Of this server, which gets the greeting as a token from each. The seed makes the protocol's random choices.
    pub(crate) fn new(
        server: SocketAddr,
        config: Config,
        seed: [u8; 32],
        greeting: &'static [u8],
    ) -> Result<Self, String> {
        Ok(Pages {
            poll: Poll::new().map_err(text("make a poll"))?,
            events: Events::with_capacity(EVENTS_MAX),
            server,
            greeting,
            began: Instant::now(),
            quic: quinn_proto::Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None),
            config: ClientConfig::new(Arc::new(tls::crypto())),
            endpoint: Endpoint::new(config, seed).map_err(|error| error.to_string())?,
            pages: Vec::new(),
            by_place: Vec::new(),
            waiting: 0,
            beginning: 0,
            timers_due: Instant::now(),
            incoming: ReceiveBatch::new(),
            outgoing: SendBatch::new(),
            buffer: Vec::new(),
        })
    }

    /// Asks for one more client, which begins as soon as it may.
    pub(crate) fn connect(&mut self) {
        self.waiting += 1;
    }

    /// Queues a message. False if the queue is full: it was refused.
    pub(crate) fn send(&mut self, page: u32, channel: u16, payload: Bytes) -> bool {
        let (now, peer) = (self.now(), self.pages[page as usize].peer);
        self.endpoint.send(now, peer, channel, payload, MessageId(0)).is_ok()
    }

    /// Sends what is queued.
    pub(crate) fn flush(&mut self) {
        let now = self.now();
        self.endpoint.flush(now);
        self.transmit();
    }

    /// Waits for data or the end of the time, and receives it. Answers are sent by [`Pages::transmit`], after
    /// [`Pages::poll_event`].
    pub(crate) fn receive(&mut self, wait_max: Duration) -> Result<(), String> {
        while self.beginning < BEGINNING_MAX && self.waiting > 0 {
            self.waiting -= 1;
            self.begin()?;
        }
        let until = self.endpoint.poll_timeout().since(self.now());
        let wait_max = wait_max.min(until).min(TIMERS_SPAN);
        let waited = skipstone::net::wait::wait(&mut self.poll, &mut self.events, Some(wait_max));
        waited.map_err(text("wait for sockets"))?;
        let ready: Vec<usize> = self.events.iter().map(|event| event.token().0).collect();
        for page in ready {
            self.receive_of(page)?;
        }
        let now = self.now();
        self.endpoint.handle_timeout(now);
        self.handle_timers();
        Ok(())
    }

    /// The next event, and whose it is.
    pub(crate) fn poll_event(&mut self) -> Option<(u32, Event)> {
        let now = self.now();
        let event = self.endpoint.poll_event(now)?;
        let number = self.by_place[event.peer().index as usize];
        let page = &mut self.pages[number as usize];
        match event {
            Event::Connected { .. } => {
                page.is_connected = true;
                self.beginning -= 1;
            }
            Event::Closed { .. } if !page.is_connected => self.beginning -= 1,
            _ => {}
        }
        Some((number, event))
    }

    /// Passes the protocol's datagrams to QUIC, and sends QUIC's packets.
    pub(crate) fn transmit(&mut self) {
        let (now, instant) = (self.now(), Instant::now());
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(1 << 16, 0);
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            let page = &mut self.pages[transmit.path.socket as usize];
            for content in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                page.session.send(&mut page.quic, content);
            }
            page.is_dirty = true;
        }
        self.buffer = buffer;
        for page in self.pages.iter_mut().filter(|page| page.is_dirty) {
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

    /// The protocol's counters, of all clients.
    pub(crate) fn totals(&mut self) -> Stats {
        self.endpoint.totals()
    }

    /// Closes all connections, for this reason.
    pub(crate) fn close(&mut self, reason: &str) {
        let now = self.now();
        self.endpoint.close_all(now, code::NONE, reason, Duration::ZERO);
        self.transmit();
    }

    fn now(&self) -> Time {
        Time::from_micros(1 + self.began.elapsed().as_micros() as u64)
    }

    fn path(&self, page: usize) -> Path {
        Path { socket: page as u32, local: None, remote: self.server, carrier: Carrier::WEBTRANSPORT }
    }

    fn begin(&mut self) -> Result<(), String> {
        let (number, now) = (self.pages.len(), self.now());
        let any: SocketAddr = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let mut udp = UdpSocket::bind(any, &UdpOptions::client()).map_err(text("open a socket"))?;
        udp.register(self.poll.registry(), Token(number)).map_err(text("open a socket"))?;
        let connected = self.quic.connect(Instant::now(), self.config.clone(), self.server, "localhost");
        let (handle, quic) = connected.map_err(|error| format!("cannot connect a client: {error}"))?;
        let connected = self.endpoint.connect(now, self.path(number), self.greeting);
        let peer = connected.map_err(|error| format!("cannot connect a client: {error:?}"))?;
        self.endpoint.set_writable(number as u32, false);
        let place = peer.index as usize;
        self.by_place.resize(self.by_place.len().max(place + 1), u32::MAX);
        self.by_place[place] = number as u32;
        let session = Session::default();
        self.pages.push(Page { udp, handle, quic, session, peer, is_dirty: true, is_connected: false });
        self.beginning += 1;
        Ok(())
    }

    /// Takes what has come for one client.
    fn receive_of(&mut self, number: usize) -> Result<(), String> {
        let (now, path) = (self.now(), self.path(number));
        let page = &mut self.pages[number];
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
        for page in &mut self.pages {
            if page.quic.poll_timeout().is_some_and(|due| due <= instant) {
                page.quic.handle_timeout(instant);
                page.is_dirty = true;
            }
        }
    }
}
