//! A client and a server (or several clients) in virtual time, joined by a model network. Everything follows from a
//! seed.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod clear;
pub(crate) mod glass;
pub(crate) mod lies;
mod node;
pub(crate) mod stranger;

pub(crate) use node::Node;
use skipstone_netsim::{Duplex, LinkConfig};
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::datagram;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, Event, PeerId};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::net::{IpAddr, SocketAddr};

/// A server and clients, each with its own link.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) server: Node,
    pub(crate) clients: Vec<Node>,
    pub(crate) links: Vec<Duplex>,
    pub(crate) carrier: Carrier,
    /// Every datagram on its way may be looked at or changed: (client, towards the server, bytes).
    pub(crate) tap: Option<Tap>,
    /// The server accepts every client.
    pub(crate) accepts: bool,
    /// Clients that the server refuses, with code 77, while it accepts all others.
    pub(crate) refuses: Vec<usize>,
    /// Clients that are dead: they neither receive, send nor wake.
    pub(crate) killed: Vec<usize>,
    /// The connections that requested to be accepted, with the number of each client.
    pub(crate) asked: Vec<(PeerId, usize)>,
    /// Datagrams that left, by client: towards the server, from the server.
    pub(crate) sent: Vec<(u64, u64)>,
    /// Each client's addresses so far, as the server sees them; the last is the present one.
    addresses: Vec<Vec<SocketAddr>>,
    /// Each client's present socket.
    sockets: Vec<u32>,
    /// Datagrams that the server sent to addresses without a client (any more).
    pub(crate) strays: Vec<(SocketAddr, Vec<u8>)>,
    /// The address of the server that all clients send to, where the server has several.
    pub(crate) server_ip: Option<IpAddr>,
    /// The address from which the server's latest datagram left.
    pub(crate) answered_from: Option<IpAddr>,
    buffer: Vec<u8>,
    arrived: Vec<u8>,
    /// The present millisecond, and how many of its moments were played.
    steps: (u64, u32),
}

/// Looks at a datagram on its way: when, which client's, whether towards the server, its bytes.
pub(crate) type Tap = Box<dyn FnMut(Time, usize, bool, &mut Vec<u8>)>;

const BUFFER_BYTES: usize = 1 << 16;
/// Rounds of one moment, and calls of `poll_transmit` in one round, after which the test fails, because it would never
/// end. A client of a link without delay has its whole handshake in one moment, and a server may send to thousands in
/// one.
const ROUNDS_MAX: usize = 2_000;
const TRANSMITS_MAX: usize = 10_000;
/// The time at which every world begins.
pub(crate) const BEGINNING: Time = Time::from_micros(1_000_000);

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn link(delay_ms: u64) -> LinkConfig {
    LinkConfig { delay: ms(delay_ms), ..LinkConfig::default() }
}

/// Disables repairs and copies, for tests that count other datagrams.
pub(crate) fn no_redundancy() -> Redundancy {
    Redundancy { mode: RedundancyMode::Off, ..Redundancy::default() }
}

/// A server whose channels all have one mode, and receipts.
pub(crate) fn server_of(mode: DeliveryMode) -> Config {
    let rule = ChannelRule { receipts: true, ..ChannelRule::new(0..=u16::MAX, mode) };
    Config::server(Settings { channels: vec![rule], ..Settings::default() })
}

/// The same server without redundancy, so that a lost message stays lost for a while.
pub(crate) fn bare_server_of(mode: DeliveryMode) -> Config {
    let rule = ChannelRule { receipts: true, ..ChannelRule::new(0..=u16::MAX, mode) };
    Config::server(Settings { channels: vec![rule], redundancy: no_redundancy(), ..Settings::default() })
}

/// A server with the simulated suite, without plain connections.
pub(crate) fn encrypted(config: Config, seed: u64) -> Config {
    config.encrypted(std::sync::Arc::new(SimulatedSuites::new(seed)))
}

/// A server whose packets are sealed with a publicly known key.
pub(crate) fn glazed(config: Config, seed: u64) -> Config {
    config.encrypted(std::sync::Arc::new(glass::GlassSuites(SimulatedSuites::new(seed))))
}

/// Gives a datagram that was changed its correct check again, as a deliberate attacker would.
pub(crate) fn check_again(datagram: &mut [u8]) {
    let length = datagram.len() - datagram::CHECK_BYTES;
    datagram::append_check(datagram, length);
}

pub(crate) fn seed_bytes(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    bytes[24..].copy_from_slice(&seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    bytes
}

impl World {
    /// One client, the same link in both directions, default settings.
    pub(crate) fn pair(seed: u64, link: LinkConfig) -> Self {
        World::new(seed, Config::server(Default::default()), &[link])
    }

    /// A client for each link. They have begun to connect.
    pub(crate) fn new(seed: u64, server: Config, links: &[LinkConfig]) -> Self {
        World::on(Carrier::UDP, seed, server, links)
    }

    /// Like `new`, on another carrier.
    pub(crate) fn on(carrier: Carrier, seed: u64, server: Config, links: &[LinkConfig]) -> Self {
        let (timeout, suites, limits) = (server.handshake_timeout, server.suites.clone(), server.limits);
        let (log, follows_server_time) = (server.packet_log.clone(), server.follows_server_time);
        let server = Node::new(server, seed);
        let make = |(at, link): (usize, &LinkConfig)| {
            let duplex = Duplex::symmetric(link.clone(), seed.wrapping_mul(31).wrapping_add(at as u64));
            let config = Config {
                handshake_timeout: timeout,
                suites: suites.clone(),
                limits,
                packet_log: log.clone(),
                follows_server_time,
                ..Config::client()
            };
            (Node::new(config, seed + 1 + at as u64), duplex.expect("a good link"))
        };
        let (clients, duplexes): (Vec<_>, Vec<_>) = links.iter().enumerate().map(make).unzip();
        let mut world = World {
            now: BEGINNING,
            server,
            clients,
            links: duplexes,
            carrier,
            tap: None,
            accepts: true,
            refuses: Vec::new(),
            killed: Vec::new(),
            asked: Vec::new(),
            sent: Vec::new(),
            addresses: (0..links.len()).map(|at| vec![Self::client_address(at)]).collect(),
            sockets: vec![0; links.len()],
            strays: Vec::new(),
            server_ip: None,
            answered_from: None,
            buffer: vec![0; BUFFER_BYTES],
            arrived: Vec::new(),
            steps: (0, 0),
        };
        world.sent = vec![(0, 0); world.clients.len()];
        for at in 0..world.clients.len() {
            let path = world.path_to_server(at);
            world.clients[at].endpoint.connect(world.now, path, b"token").expect("it may connect");
        }
        world
    }

    /// The first address of a client.
    pub(crate) fn client_address(at: usize) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, (at >> 8) as u8], 10_000 + (at & 0xFF) as u16))
    }

    /// The present address of a client.
    pub(crate) fn address(&self, at: usize) -> SocketAddr {
        *self.addresses[at].last().expect("each has one")
    }

    /// Places a client at another address from the beginning. It must not have sent anything yet.
    pub(crate) fn begin_at(&mut self, at: usize, address: SocketAddr) {
        self.addresses[at] = vec![address];
    }

    /// Makes room for `count` moves of each client, in a test that counts memory.
    pub(crate) fn reserve_moves(&mut self, count: usize) {
        self.addresses.iter_mut().for_each(|stays| stays.reserve(count));
    }

    /// A client's NAT forgets its binding and gives it another port. Datagrams on their way to the old one are lost.
    pub(crate) fn rebind(&mut self, at: usize) {
        let mut address = self.address(at);
        address.set_port(address.port().wrapping_add(1_000));
        self.addresses[at].push(address);
    }

    /// A client moves to another network, and does not notice.
    pub(crate) fn wander(&mut self, at: usize) {
        let SocketAddr::V4(mut address) = self.address(at) else { unreachable!("all of them are") };
        let [a, b, c, d] = address.ip().octets();
        address.set_ip([a, b, c.wrapping_add(1), d].into());
        self.addresses[at].push(address.into());
    }

    /// A client returns to an earlier address, the one of its `stay`th stay, and its endpoint is told.
    pub(crate) fn roam_back(&mut self, at: usize, stay: usize) -> bool {
        let address = self.addresses[at][stay];
        self.addresses[at].push(address);
        self.tell_move(at)
    }

    /// A client goes to another network, and its endpoint is told.
    pub(crate) fn roam(&mut self, at: usize) -> bool {
        self.wander(at);
        self.tell_move(at)
    }

    fn tell_move(&mut self, at: usize) -> bool {
        let connected = self.clients[at].events.iter().any(|(_, event)| matches!(event, Event::Connected { .. }));
        if !connected {
            return false;
        }
        let (peer, path) = (self.clients[at].peer(), self.path_to_server(at));
        let path = Path { socket: self.sockets[at] + 1, ..path };
        let is_told = self.clients[at].endpoint.set_path(self.now, peer, path);
        self.sockets[at] += u32::from(is_told);
        is_told
    }

    /// A carrier of one connection has its own socket at the server; datagrams of UDP share one.
    pub(crate) fn path_to_client(&self, at: usize) -> Path {
        let socket = if self.carrier.is_bound { at as u32 } else { 0 };
        Path { socket, local: self.server_ip, remote: self.address(at), carrier: self.carrier }
    }

    pub(crate) fn path_to_server(&self, at: usize) -> Path {
        let _ = at;
        Path { socket: 0, local: None, remote: SocketAddr::from(([198, 51, 100, 1], 7777)), carrier: self.carrier }
    }

    /// The path as a client's endpoint knows it; its socket changes when the client roams.
    fn path_of_client(&mut self, at: usize) -> Path {
        let socket = self.sockets[at];
        Path { socket, ..self.path_to_server(at) }
    }

    /// The client that the server knows as this peer, while the connection lasts.
    pub(crate) fn client_of(&mut self, peer: PeerId) -> Option<usize> {
        let remote = self.server.endpoint.overview(peer)?.path.remote;
        (0..self.clients.len()).find(|at| self.addresses[*at].contains(&remote))
    }

    /// Replaces the links by new ones, because the old ones have grown with their traffic. Datagrams on their way are
    /// lost.
    pub(crate) fn renew_links(&mut self, seed: u64) {
        for (at, duplex) in self.links.iter_mut().enumerate() {
            let config = duplex.up.config().clone();
            *duplex = Duplex::symmetric(config, seed.wrapping_mul(31).wrapping_add(at as u64)).expect("a good link");
        }
    }

    /// Replaces the links by others; datagrams on their way arrive.
    pub(crate) fn relink(&mut self, link: &LinkConfig) {
        for duplex in &mut self.links {
            duplex.up.set_config(link.clone()).expect("a good link");
            duplex.down.set_config(link.clone()).expect("a good link");
        }
    }

    /// From now on, the links carry datagrams of at most `bytes` bytes; datagrams on their way arrive.
    pub(crate) fn limit_datagrams(&mut self, bytes: Option<usize>) {
        for link in self.links.iter_mut().flat_map(|duplex| [&mut duplex.up, &mut duplex.down]) {
            let config = LinkConfig { datagram_bytes_max: bytes, ..link.config().clone() };
            link.set_config(config).expect("a good link");
        }
    }

    /// From now on, datagrams are lost for which this returns true: (towards the server, bytes).
    pub(crate) fn lose(&mut self, mut is_lost: impl FnMut(bool, &[u8]) -> bool + 'static) {
        self.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if is_lost(is_up, bytes) {
                bytes.clear();
            }
        }));
    }

    /// Lets the world run until `end`.
    pub(crate) fn run_until(&mut self, end: Time) {
        loop {
            self.settle();
            let next = self.next_time();
            if next > end {
                self.now = end;
                return;
            }
            self.step_to(next);
        }
    }

    /// Time moves on. It may not crawl: an endpoint that asks to be woken again and again without need would keep a
    /// real processor busy.
    fn step_to(&mut self, next: Time) {
        self.now = self.now.max(next);
        let millisecond = self.now.as_micros() / 1_000;
        self.steps = if self.steps.0 == millisecond { (millisecond, self.steps.1 + 1) } else { (millisecond, 0) };
        if self.steps.1 > 900 {
            let wakes = |node: &Node| node.endpoint.poll_timeout();
            let clients: Vec<Time> = self.clients.iter().map(wakes).collect();
            panic!("time crawls at {:?}: server {:?}, clients {clients:?}", self.now, wakes(&self.server));
        }
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    /// Runs until the condition holds; panics after `span`.
    pub(crate) fn run_until_true(&mut self, span: Duration, mut condition: impl FnMut(&World) -> bool) {
        let end = self.now + span;
        while !condition(self) {
            assert!(self.now < end, "it did not happen within {span:?}");
            self.settle();
            if condition(self) {
                return;
            }
            let next = self.next_time().min(end);
            self.step_to(next);
        }
    }

    /// Runs until every client is connected, and a round trip more.
    pub(crate) fn connect(&mut self) {
        let is_connected = |node: &Node| node.events.iter().any(|event| matches!(event.1, Event::Connected { .. }));
        self.run_until_true(Duration::from_secs(30), |world| world.clients.iter().all(is_connected));
        self.run_for(ms(100));
    }

    fn next_time(&mut self) -> Time {
        let from_link = |duplex: &Duplex| {
            duplex.next_arrival().map_or(Time::NEVER, |at| Time::from_micros(at.as_nanos().div_ceil(1_000) as u64))
        };
        let links = self.links.iter().map(from_link);
        let living = self.clients.iter().enumerate().filter(|(at, _)| !self.killed.contains(at)).map(|(_, node)| node);
        let nodes = living.chain([&self.server]).map(|node| node.endpoint.poll_timeout());
        // A timer wheel may name a moment that turns out to be early; time still moves on.
        links.chain(nodes).min().unwrap_or(Time::NEVER).max(self.now + Duration::from_micros(1))
    }

    /// Handles everything that can happen at this moment, which must end: two sides that keep each other busy without
    /// time advancing would keep real processors busy.
    fn settle(&mut self) {
        for _ in 0..ROUNDS_MAX {
            let mut moved = self.deliver();
            self.server.endpoint.handle_timeout(self.now);
            self.server.poll(self.now);
            self.answer_requests();
            for (at, client) in self.clients.iter_mut().enumerate() {
                if self.killed.contains(&at) {
                    continue;
                }
                client.endpoint.handle_timeout(self.now);
                client.poll(self.now);
            }
            moved |= self.transmit();
            if !moved {
                return;
            }
        }
        panic!("the moment {:?} never ends: {:?} datagrams were sent", self.now, self.sent);
    }

    fn answer_requests(&mut self) {
        if !self.accepts {
            return;
        }
        for at in (0..self.server.events.len()).rev() {
            let (when, event) = &self.server.events[at];
            if *when < self.now {
                return;
            }
            if let Event::Requested { peer, .. } = event {
                let peer = *peer;
                if self.asked.iter().any(|(asked, _)| *asked == peer) {
                    continue;
                }
                // An application that polls late gets events of clients that have left.
                let Some(client) = self.client_of(peer) else { continue };
                self.asked.push((peer, client));
                if self.refuses.contains(&client) {
                    self.server.endpoint.refuse(self.now, peer, 77, "not you");
                } else {
                    self.server.endpoint.accept(self.now, peer);
                }
            }
        }
        self.server.poll(self.now);
    }

    fn deliver(&mut self) -> bool {
        let now = Duration::from_micros(self.now.as_micros());
        let mut moved = false;
        for at in 0..self.links.len() {
            while let Some(arrival) = self.links[at].up.receive(now, &mut self.arrived) {
                moved = true;
                if self.arrived.is_empty() {
                    continue;
                }
                let remote = self.addresses[at][arrival.tag as usize];
                let path = Path { remote, ..self.path_to_client(at) };
                self.server.endpoint.handle_datagram(self.now, path, &mut self.arrived);
            }
            while let Some(arrival) = self.links[at].down.receive(now, &mut self.arrived) {
                moved = true;
                let path = self.path_of_client(at);
                let is_there = arrival.tag + 1 == self.addresses[at].len() as u64;
                if self.killed.contains(&at) || self.arrived.is_empty() || !is_there {
                    continue;
                }
                self.clients[at].endpoint.handle_datagram(self.now, path, &mut self.arrived);
            }
        }
        moved
    }

    fn transmit(&mut self) -> bool {
        let now = Duration::from_micros(self.now.as_micros());
        let mut moved = false;
        let mut calls = 0;
        while let Some(transmit) = self.server.endpoint.poll_transmit(self.now, &mut self.buffer) {
            (moved, calls) = (true, calls + 1);
            assert!(calls < TRANSMITS_MAX, "the server sends without end at {:?}", self.now);
            self.answered_from = transmit.path.local;
            let datagrams = self.buffer[..transmit.bytes].chunks(transmit.segment_bytes);
            let was_there = |at: &usize| self.addresses[*at].contains(&transmit.path.remote);
            let known = (0..self.clients.len()).find(was_there);
            let Some(at) = known else {
                self.strays.extend(datagrams.map(|bytes| (transmit.path.remote, bytes.to_vec())));
                continue;
            };
            let stays = &self.addresses[at];
            let tag = stays.iter().rposition(|address| *address == transmit.path.remote).unwrap_or(0) as u64;
            for datagram in datagrams {
                let mut datagram = datagram.to_vec();
                if let Some(tap) = &mut self.tap {
                    tap(self.now, at, false, &mut datagram);
                }
                self.sent[at].1 += 1;
                self.links[at].down.send(now, &datagram, tag);
            }
        }
        for at in 0..self.clients.len() {
            let mut calls = 0;
            while !self.killed.contains(&at)
                && let Some(transmit) = self.clients[at].endpoint.poll_transmit(self.now, &mut self.buffer)
            {
                (moved, calls) = (true, calls + 1);
                assert!(calls < TRANSMITS_MAX, "client {at} sends without end at {:?}", self.now);
                for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                    let mut datagram = datagram.to_vec();
                    if let Some(tap) = &mut self.tap {
                        tap(self.now, at, true, &mut datagram);
                    }
                    self.sent[at].0 += 1;
                    let tag = self.addresses[at].len() as u64 - 1;
                    self.links[at].up.send(now, &datagram, tag);
                }
            }
        }
        moved
    }
}
