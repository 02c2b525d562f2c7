//! A server's DTLS sessions with an endpoint behind them, without sockets.

mod a_dtls_client_is_a_player;
mod any_datagram_of_a_handshake_may_be_lost;
mod sessions_cannot_be_hijacked_or_ended_by_others;
mod unproven_clients_cost_little;

use super::*;
use crate::driver::chosen_losses::ChosenLosses;
use crate::security::{DtlsTrust, DtlsVersion, Security, Trust};
use bytes::Bytes;
use skipstone_netsim::{Duplex, LinkConfig};
use skipstone_proto::{Carrier, Close, Config, Event, MessageId, PeerId};

const START: Time = Time::from_micros(1_000_000);
const MILLISECOND: Duration = Duration::from_millis(1);
const VERSIONS: [DtlsVersion; 2] = [DtlsVersion::V1_2, DtlsVersion::V1_3];
/// The server's shared socket.
const SOCKET: u32 = 3;

fn address(number: u32) -> SocketAddr {
    (number.to_be_bytes(), 4_000).into()
}

/// A server: its sessions, and its endpoint, which encrypts and accepts no plain connections unless it was made so.
struct Host {
    guests: DtlsGuests,
    endpoint: Endpoint,
    peer: Option<PeerId>,
    got: Vec<(u16, Bytes)>,
    closes: Vec<Close>,
    /// It refuses every client, with this code.
    refuses: Option<u64>,
    buffer: Vec<u8>,
}

impl Host {
    fn new(config: Config) -> Host {
        Host::made(config, false)
    }

    fn made(config: Config, allows_plain: bool) -> Host {
        let security = Security::self_signed().expect("it is made");
        let config = Config { suites: security.suites(), allows_plain, ..config };
        let endpoint = Endpoint::new(config, [5; 32]).expect("it is good");
        let guests = DtlsGuests::new(security.dtls().expect("it has an identity"));
        Host {
            guests,
            endpoint,
            peer: None,
            got: Vec::new(),
            closes: Vec::new(),
            refuses: None,
            buffer: vec![0; 1 << 16],
        }
    }

    fn take(&mut self, now: Time, from: SocketAddr, bytes: &mut [u8]) {
        if self.guests.is_its_datagram(bytes) {
            let deliver = &mut |endpoint: &mut Endpoint, path: Path, content: &mut [u8]| {
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
        self.end_round(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => match self.refuses {
                    Some(code) => drop(self.endpoint.refuse(now, peer, code, "not you")),
                    None => drop(self.endpoint.accept(now, peer)),
                },
                Event::Connected { peer, .. } => self.peer = Some(peer),
                Event::Message { channel, payload, .. } => self.got.push((channel, payload)),
                Event::Closed { close, .. } => self.closes.push(close),
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
                left.extend(bytes.chunks(transmit.segment_bytes).map(|it| (transmit.path.remote, it.to_vec())));
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
        self.guests.transmit(START, &mut |socket, to, bytes, _| {
            assert_eq!(socket, SOCKET);
            said.push((to.remote, bytes.to_vec()));
        });
        said
    }
}

/// A client with a DTLS session of any implementation.
fn session(version: DtlsVersion, now: Time) -> DtlsSession {
    trust(version).session(now)
}

fn trust(version: DtlsVersion) -> DtlsTrust {
    Trust::DangerouslyAnything.dtls("localhost", version).expect("nothing can be wrong")
}

fn spoken(session: &mut DtlsSession) -> Vec<Vec<u8>> {
    core::iter::from_fn(|| session.poll_datagram()).collect()
}

/// A client's first datagram.
fn hello() -> Vec<u8> {
    spoken(&mut session(DtlsVersion::V1_2, START)).remove(0)
}

/// Gives each side the other's datagrams, `rounds` times.
fn shake_hands(host: &mut Host, now: Time, from: SocketAddr, session: &mut DtlsSession, rounds: usize) {
    for _ in 0..rounds {
        for mut datagram in spoken(session) {
            host.take(now, from, &mut datagram);
        }
        host.end_round(now);
        for (to, datagram) in host.said() {
            assert_eq!(to, from);
            session.handle_datagram(now, &datagram, &mut |_| ());
        }
    }
}

/// A player: an endpoint whose datagrams travel in records.
struct Player {
    session: DtlsSession,
    endpoint: Endpoint,
    address: SocketAddr,
    peer: PeerId,
    is_connected: bool,
    got: Vec<(u16, Bytes)>,
    closes: Vec<Close>,
    buffer: Vec<u8>,
}

fn server_path() -> Path {
    Path { socket: 0, local: None, remote: ([198, 51, 100, 1], 7777).into(), carrier: Carrier::DTLS }
}

impl Player {
    fn new(version: DtlsVersion, number: u32, now: Time) -> Player {
        Player::seeded(version, number, number as u8, now)
    }

    /// One whose random choices follow from `seed`.
    fn seeded(version: DtlsVersion, number: u32, seed: u8, now: Time) -> Player {
        let mut endpoint = Endpoint::new(Config::client(), [seed; 32]).expect("it is good");
        let peer = endpoint.connect(now, server_path(), b"a token").expect("it may");
        endpoint.set_writable(server_path().socket, false);
        Player {
            session: session(version, now),
            endpoint,
            address: address(number),
            peer,
            is_connected: false,
            got: Vec::new(),
            closes: Vec::new(),
            buffer: vec![0; 1 << 16],
        }
    }

    fn take(&mut self, now: Time, bytes: &[u8]) {
        let endpoint = &mut self.endpoint;
        self.session.handle_datagram(now, bytes, &mut |content| endpoint.handle_datagram(now, server_path(), content));
    }

    fn step(&mut self, now: Time) -> Vec<Vec<u8>> {
        if self.session.poll_timeout() <= now {
            self.session.handle_timeout(now);
        }
        if self.session.is_established() {
            self.endpoint.set_writable(server_path().socket, true);
        }
        self.endpoint.handle_timeout(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { channel, payload, .. } => self.got.push((channel, payload)),
                Event::Closed { close, .. } => self.closes.push(close),
                _ => {}
            }
        }
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.buffer) {
            for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                self.session.send(now, datagram);
            }
        }
        spoken(&mut self.session)
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
    fn new(version: DtlsVersion, seed: u64, config: Config, link: LinkConfig) -> World {
        let link = Duplex::symmetric(link, seed).expect("a good link");
        let player = Player::new(version, 0xC000_0201, START);
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
        self.run_for(Duration::from_secs(9));
        assert!(self.player.is_connected && self.host.peer.is_some(), "{:?}", self.player.closes);
    }
}

fn link() -> LinkConfig {
    LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() }
}
