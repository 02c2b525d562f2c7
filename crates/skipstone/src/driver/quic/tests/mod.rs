//! A server's WebTransport sessions with an endpoint behind them, without sockets.

mod a_page_is_a_player;
mod costs_of_sessions;
mod handshakes_in_many_pieces_are_ended;
mod http_3_is_checked;
mod page;
mod repairs_do_not_share_a_packet;
mod unproven_clients_cost_little;

use super::*;
use crate::driver::chosen_losses::ChosenLosses;
use crate::security::Security;
use page::Page;
use skipstone_netsim::{Duplex, LinkConfig};
use skipstone_proto::{Carrier, Close, Config, Event as Happened, Lateness, MessageId, Path, PeerId};
use std::net::SocketAddr;

const START: Time = Time::from_micros(1_000_000);
const MILLISECOND: Duration = Duration::from_millis(1);
/// The server's shared socket.
const SOCKET: u32 = 3;
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1)), 7777);

fn address(number: u32) -> SocketAddr {
    (number.to_be_bytes(), 4_000).into()
}

/// A server: its sessions, and its endpoint, which encrypts and accepts no plain connections.
struct Host {
    guests: QuicGuests,
    endpoint: Endpoint,
    peer: Option<PeerId>,
    got: Vec<(u16, Bytes)>,
    closes: Vec<Close>,
    buffer: Vec<u8>,
    /// Whether it accepts every client at once.
    accepts: bool,
    /// Datagrams that sessions handed to the protocol.
    delivered: usize,
    /// The time of the last call.
    now: Time,
}

impl Host {
    fn new(config: Config) -> Host {
        Host::for_origins(config, &[])
    }

    fn for_origins(config: Config, origins: &[String]) -> Host {
        let security = Security::self_signed().expect("it is made");
        let config = Config { suites: security.suites(), ..config };
        let idle_timeout = config.settings.idle_timeout;
        let endpoint = Endpoint::new(config, [5; 32]).expect("it is good");
        let server = security.quic().expect("it has an identity");
        let guests = QuicGuests::new(&server, Shard { index: 0, bits: 0 }, idle_timeout, PageRules::new(origins, &[]));
        let (got, closes, buffer) = (Vec::new(), Vec::new(), vec![0; 1 << 16]);
        Host { guests, endpoint, peer: None, got, closes, buffer, accepts: true, delivered: 0, now: START }
    }

    fn take(&mut self, now: Time, from: SocketAddr, bytes: &mut [u8]) {
        self.now = now;
        if self.guests.is_its_datagram(bytes) {
            let delivered = &mut self.delivered;
            let deliver = &mut |endpoint: &mut Endpoint, path: Path, content: &mut [u8]| {
                *delivered += 1;
                endpoint.handle_datagram(now, path, content);
            };
            return self.guests.handle(now, (SOCKET, from.into()), bytes, &mut self.endpoint, deliver);
        }
        self.endpoint.handle_datagram(
            now,
            Path { socket: SOCKET, local: None, remote: from, carrier: Carrier::UDP },
            bytes,
        );
    }

    /// Ends a round: requests that wait for the next one have their turn.
    fn end_round(&mut self, now: Time) {
        self.endpoint.handle_timeout(now);
        self.guests.handle_timeout(now, &mut self.endpoint);
    }

    /// One round of a driver, between two waits. Returns the datagrams that leave.
    fn step(&mut self, now: Time) -> Vec<(SocketAddr, Vec<u8>)> {
        self.now = now;
        self.end_round(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Happened::Requested { peer, .. } if self.accepts => drop(self.endpoint.accept(now, peer)),
                Happened::Connected { peer, .. } => self.peer = Some(peer),
                Happened::Message { channel, payload, .. } => self.got.push((channel, payload)),
                Happened::Closed { close, .. } => self.closes.push(close),
                _ => {}
            }
        }
        let mut left = Vec::new();
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.buffer) {
            let bytes = &self.buffer[..transmit.bytes];
            if self.guests.is_its_socket(transmit.path.socket) {
                let (number, segment) = (transmit.path.socket, transmit.segment_bytes);
                self.guests.send(now, number, bytes, segment, &mut self.endpoint);
            } else {
                left.extend(bytes.chunks(transmit.segment_bytes).map(|bytes| (transmit.path.remote, bytes.to_vec())));
            }
        }
        while let Some(socket) = self.endpoint.poll_released() {
            self.guests.close(now, socket, &mut self.endpoint);
        }
        left.extend(self.said());
        left
    }

    fn said(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut said = Vec::new();
        self.guests.advance(self.now, &mut self.endpoint);
        self.guests.transmit(self.now, &mut |socket, to, bytes, segment| {
            assert_eq!(socket, SOCKET);
            said.extend(bytes.chunks(segment.unwrap_or(bytes.len())).map(|bytes| (to.remote, bytes.to_vec())));
        });
        said
    }
}

/// The instant of a time, for clients.
fn instant(time: Time) -> Instant {
    static BASE: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *BASE.get_or_init(Instant::now) + Duration::from_micros(time.as_micros())
}

/// Gives each side the other's datagrams, `rounds` times.
fn exchange(host: &mut Host, now: Time, from: SocketAddr, page: &mut Page, rounds: usize) {
    for _ in 0..rounds {
        page.handle_timeout(instant(now));
        for mut datagram in page.datagrams(instant(now)) {
            host.take(now, from, &mut datagram);
        }
        for (to, datagram) in host.step(now) {
            if to == from {
                page.handle(instant(now), SERVER, &datagram);
            }
        }
    }
}

/// The same while time passes.
fn exchange_for(host: &mut Host, now: &mut Time, span: Duration, from: SocketAddr, page: &mut Page) {
    let end = *now + span;
    while *now < end {
        *now += Duration::from_millis(5);
        exchange(host, *now, from, page, 1);
    }
}

fn page(now: Time) -> Page {
    Page::new(instant(now), SERVER, None)
}

/// A player in a page.
struct Player {
    page: Page,
    endpoint: Endpoint,
    address: SocketAddr,
    path: Path,
    peer: PeerId,
    is_connected: bool,
    got: Vec<(u16, Bytes)>,
    closes: Vec<Close>,
    buffer: Vec<u8>,
}

impl Player {
    fn new(number: u32, now: Time, carrier: Carrier) -> Player {
        let path = Path { socket: 0, local: None, remote: SERVER, carrier };
        let mut endpoint = Endpoint::new(Config::client(), [number as u8; 32]).expect("it is good");
        let peer = endpoint.connect(now, path, b"a token").expect("it may");
        endpoint.set_writable(path.socket, false);
        Player {
            page: Page::new(instant(now), SERVER, Some("https://game.example")),
            endpoint,
            address: address(number),
            path,
            peer,
            is_connected: false,
            got: Vec::new(),
            closes: Vec::new(),
            buffer: vec![0; 1 << 16],
        }
    }

    fn take(&mut self, now: Time, bytes: &[u8]) {
        self.page.handle(instant(now), SERVER, bytes);
        for content in self.page.got.split_off(0) {
            self.endpoint.handle_datagram(now, self.path, &mut content.to_vec());
        }
    }

    fn step(&mut self, now: Time) -> Vec<Vec<u8>> {
        self.page.handle_timeout(instant(now));
        if self.page.granted == Some(true) {
            self.endpoint.set_writable(self.path.socket, true);
            let beside = if self.path.carrier.lateness != Lateness::NONE { 17 } else { 1 };
            let bytes = self.page.quic.datagrams().max_size().map_or(0, |bytes| bytes - beside);
            self.endpoint.set_packet_bytes_max(self.path.socket, bytes as u16);
        }
        if self.page.lost.is_some() || self.page.is_session_over {
            self.endpoint.handle_carrier_lost(now, self.path.socket, "the session is over");
        }
        self.endpoint.handle_timeout(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Happened::Connected { .. } => self.is_connected = true,
                Happened::Message { channel, payload, .. } => self.got.push((channel, payload)),
                Happened::Closed { close, .. } => self.closes.push(close),
                _ => {}
            }
        }
        let mut left = Vec::new();
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.buffer) {
            for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                match self.path.carrier.lateness != Lateness::NONE {
                    true => self.page.send_on_stream(datagram),
                    false => self.page.send(datagram),
                }
                // Each datagram in its own packet, as in Chromium, if its congestion window and its pacer let it leave.
                left.extend(self.page.datagrams(instant(now)));
            }
        }
        left.extend(self.page.datagrams(instant(now)));
        left
    }
}

/// A server and a player with a network between them.
struct World {
    now: Time,
    host: Host,
    player: Player,
    link: Duplex,
    /// The longest datagram that left.
    longest: usize,
    losses: ChosenLosses,
}

impl World {
    fn new(seed: u64, config: Config, link: LinkConfig) -> World {
        World::with(seed, config, link, Carrier::WEBTRANSPORT_PAGE)
    }

    /// With a player whose datagrams go so.
    fn with(seed: u64, config: Config, link: LinkConfig, carrier: Carrier) -> World {
        let link = Duplex::symmetric(link, seed).expect("a good link");
        let player = Player::new(0xC000_0201, START, carrier);
        World { now: START, host: Host::new(config), player, link, longest: 0, losses: ChosenLosses::default() }
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += MILLISECOND;
            self.step();
        }
    }

    fn step(&mut self) {
        let (now, at, mut bytes) = (self.now, Duration::from_micros(self.now.as_micros()), Vec::new());
        while self.link.up.receive(at, &mut bytes).is_some() {
            self.host.take(now, self.player.address, &mut bytes);
        }
        while self.link.down.receive(at, &mut bytes).is_some() {
            self.player.take(now, &bytes);
        }
        for datagram in self.player.step(now) {
            self.longest = self.longest.max(datagram.len());
            if !self.losses.loses(true) {
                self.link.up.send(at, &datagram, 0);
            }
        }
        for (to, datagram) in self.host.step(now) {
            self.longest = self.longest.max(datagram.len());
            if to == self.player.address && !self.losses.loses(false) {
                self.link.down.send(at, &datagram, 0);
            }
        }
    }

    fn connect(&mut self) {
        self.run_for(Duration::from_secs(3));
        assert!(self.player.is_connected && self.host.peer.is_some(), "{:?}", self.player.closes);
    }
}

fn link() -> LinkConfig {
    LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() }
}
