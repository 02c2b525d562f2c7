//! Once connections are established and their queues have their size, a message to all clients allocates no memory,
//! neither at the server nor at a client.
//!
//! A process of its own: the counter of allocations is the global allocator of its program.

use allocation_counter::measure;
use bytes::Bytes;
use skipstone_proto::MessageId;
use skipstone_proto::{BroadcastMessage, Config, Endpoint, Event, Group, PeerId};
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Merging, Settings};
use std::net::SocketAddr;
use std::ops::Range;

const TICKS_PER_SECOND: usize = 60;
const TICK: Duration = Duration::from_micros(16_667);

/// From this second on all queues have their size. The packets that are kept for repairs take longest: a peer that
/// sends little fills that store slowly.
const SETTLED: usize = 35;
/// Allocations per delivery before that, while queues and the packets kept for repairs grow.
const SERVER_MAX: f64 = 0.10;
const CLIENT_MAX: f64 = 0.20;

/// The work of one side.
#[derive(Debug, Default)]
struct Account {
    allocations: u64,
    bytes: u64,
    deliveries: u64,
}

impl Account {
    /// Does something, and counts what it allocates.
    fn of<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let mut done = None;
        let info = measure(|| done = Some(act()));
        self.allocations += info.count_total;
        self.bytes += info.bytes_total;
        done.expect("it was done")
    }

    fn per_delivery(&self) -> f64 {
        self.allocations as f64 / self.deliveries as f64
    }
}

/// A server and clients that send messages to all, joined without loss; a datagram takes half a tick.
struct World {
    now: Time,
    server: Endpoint,
    clients: Vec<Endpoint>,
    /// The server, as each client knows it.
    peers: Vec<PeerId>,
    connected: usize,
    buffer: Vec<u8>,
    /// Messages that the server has received, on their way to all clients.
    lines: Vec<BroadcastMessage>,
    at_server: Account,
    at_clients: Account,
}

fn seed(number: usize) -> [u8; 32] {
    std::array::from_fn(|at| (number >> (8 * (at % 4))) as u8 ^ at as u8)
}

fn path(remote: ([u8; 4], u16)) -> Path {
    Path { socket: 0, local: None, remote: SocketAddr::from(remote), carrier: Carrier::UDP }
}

const SERVER: ([u8; 4], u16) = ([192, 0, 2, 1], 7777);

impl World {
    fn new(clients: usize) -> World {
        let config = Config { merging: Some(Merging::Flush), ..Config::server(Settings::default()) };
        let endpoint = |number: usize, config| Endpoint::new(config, seed(number)).expect("a good configuration");
        let mut world = World {
            now: Time::from_micros(1_000_000),
            server: endpoint(0, config),
            clients: (1..=clients).map(|number| endpoint(number, Config::client())).collect(),
            peers: Vec::new(),
            connected: 0,
            buffer: vec![0; 1 << 16],
            lines: Vec::with_capacity(100),
            at_server: Account::default(),
            at_clients: Account::default(),
        };
        for client in &mut world.clients {
            world.peers.push(client.connect(world.now, path(SERVER), b"client").expect("there is room"));
        }
        while world.connected < clients {
            world.half_tick();
        }
        world
    }

    /// Datagrams that left before arrive, events are taken, messages go to all clients, and due datagrams leave.
    fn half_tick(&mut self) {
        self.now += TICK / 2;
        let now = self.now;
        for (at, client) in self.clients.iter_mut().enumerate() {
            self.at_clients.of(|| client.handle_timeout(now));
            while let Some(sent) = self.at_clients.of(|| client.poll_transmit(now, &mut self.buffer)) {
                for datagram in self.buffer[..sent.bytes].chunks_mut(sent.segment_bytes) {
                    let from = path(([10, 0, 0, at as u8], 5_000));
                    self.at_server.of(|| self.server.handle_datagram(now, from, datagram));
                }
            }
        }
        let server = &mut self.server;
        self.at_server.of(|| server.handle_timeout(now));
        while let Some(event) = self.at_server.of(|| server.poll_event(now)) {
            match event {
                Event::Requested { peer, .. } => drop(server.accept(now, peer)),
                Event::Connected { .. } => self.connected += 1,
                Event::Message { payload, .. } => self.lines.push(BroadcastMessage::new(0, payload, MessageId(0))),
                _ => {}
            }
        }
        self.at_server.of(|| {
            server.broadcast_all(now, Group::EVERYONE, &self.lines);
            server.flush(now);
        });
        self.lines.clear();
        while let Some(sent) = self.at_server.of(|| self.server.poll_transmit(now, &mut self.buffer)) {
            let SocketAddr::V4(remote) = sent.path.remote else { continue };
            let client = &mut self.clients[usize::from(remote.ip().octets()[3])];
            for datagram in self.buffer[..sent.bytes].chunks_mut(sent.segment_bytes) {
                self.at_clients.of(|| client.handle_datagram(now, path(SERVER), datagram));
            }
            while let Some(event) = self.at_clients.of(|| client.poll_event(now)) {
                let count = u64::from(matches!(event, Event::Message { .. }));
                self.at_clients.of(|| drop(event));
                self.at_server.deliveries += count;
                self.at_clients.deliveries += count;
            }
        }
    }

    /// Each client sends `lines` messages in this second, one after the other.
    fn second(&mut self, lines: usize) {
        let all = lines * self.clients.len();
        let line = Bytes::from_static(&[7; 100]);
        for tick in 0..TICKS_PER_SECOND {
            for turn in all * tick / TICKS_PER_SECOND..all * (tick + 1) / TICKS_PER_SECOND {
                let at = turn % self.clients.len();
                let (client, peer, now) = (&mut self.clients[at], self.peers[at], self.now);
                self.at_clients.of(|| {
                    client.send(now, peer, 0, line.clone(), MessageId(0)).expect("the queue has room");
                    client.flush(now);
                });
            }
            self.half_tick();
            self.half_tick();
        }
    }
}

/// Allocations in these seconds: at the server, and at the clients.
fn fanout(clients: usize, lines: usize, seconds: Range<usize>) -> (Account, Account) {
    let mut world = World::new(clients);
    (0..seconds.start).for_each(|_| world.second(lines));
    (world.at_server, world.at_clients) = (Account::default(), Account::default());
    seconds.clone().for_each(|_| world.second(lines));
    let (server, client) = (world.at_server, world.at_clients);
    println!("{clients} clients, {lines} lines/s each, seconds {seconds:?}: server {server:?}, clients {client:?}");
    let most = (clients * clients * lines * seconds.len()) as u64;
    assert!(server.deliveries > most * 9 / 10, "{} of about {most} lines came", server.deliveries);
    (server, client)
}

#[test]
fn broadcasts_to_all_players_allocate_nothing() {
    for (clients, lines) in [(10, 6), (40, 4)] {
        let (server, client) = fanout(clients, lines, SETTLED..SETTLED + 30);
        assert_eq!((server.allocations, client.allocations), (0, 0), "{clients} clients: {server:?} {client:?}");
    }
}

#[test]
fn allocations_are_few_from_the_first_second_on() {
    for (clients, lines) in [(10, 6), (60, 1), (40, 4)] {
        let (server, client) = fanout(clients, lines, 1..5);
        for (side, account, most) in [("the server", server, SERVER_MAX), ("a client", client, CLIENT_MAX)] {
            let count = account.per_delivery();
            assert!(count <= most, "{clients} clients: {side} allocates {count:.4} times a delivery");
        }
    }
}
