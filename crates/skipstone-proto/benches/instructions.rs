//! Instructions that a server spends, counted by callgrind: `cargo xtask instructions` runs this and compares.
//!
//! Each scenario prepares a server and its clients in memory, then calls [`measured_side`] for everything that the server
//! does in the measured part; the counter looks at nothing else. Without callgrind it runs and prints what it did.
//!
//! ```text
//! instructions channels COUNT TICKS   300 connections whose COUNT channels have carried a message and fallen idle; then
//!                                     one message per connection and tick, each tick on another channel
//! instructions idle CONNECTIONS TICKS connections without any traffic, polled at 60 Hz between two keepalives
//! instructions fanout CLIENTS TICKS   a broadcast of 4 lines of 100 bytes per tick to all clients
//! ```

use bytes::Bytes;
use skipstone_proto::channel::MessageId;
use skipstone_proto::endpoint::{Config, Endpoint, Event, Group, PeerId};
use skipstone_proto::path::{Carrier, Path};
use skipstone_proto::time::{Duration, Time};
use skipstone_proto::wire::settings::{Merging, Settings};
use std::net::SocketAddr;

/// What 240 clients that send one line a second come to.
const LINES_PER_TICK: u64 = 4;
/// Until no repairs are sent any more, and acknowledgements are few.
const WARM_UP_TICKS: usize = 900;
const TICK: Duration = Duration::from_micros(16_667);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
    let (scenario, size, ticks) = (words.first().map(String::as_str), number(1), number(2));
    match (scenario, size, ticks) {
        (Some("channels"), Some(size), Some(ticks)) => channels(size, ticks),
        (Some("idle"), Some(size), Some(ticks)) => idle(size, ticks),
        (Some("fanout"), Some(size), Some(ticks)) => fanout(size, ticks),
        // `cargo bench` runs it without a scenario: a taste of each.
        _ => {
            channels(64, 2);
            idle(100, 60);
            fanout(100, 2);
        }
    }
}

/// A server, its clients, and the datagrams between them, without loss or delay.
struct World {
    now: Time,
    server: Server,
    clients: Vec<Endpoint>,
    peers: Vec<PeerId>,
    buffer: Vec<u8>,
    received: u64,
}

/// The server, of which the counter looks at what it does in the measured part.
struct Server {
    endpoint: Endpoint,
    is_measured: bool,
}

impl Server {
    fn act<T>(&mut self, act: impl FnOnce(&mut Endpoint) -> T) -> T {
        if self.is_measured { measured_side(&mut self.endpoint, act) } else { act(&mut self.endpoint) }
    }
}

/// Everything that the server does in the measured part of a scenario goes through here.
#[inline(never)]
fn measured_side<T>(server: &mut Endpoint, act: impl FnOnce(&mut Endpoint) -> T) -> T {
    act(std::hint::black_box(server))
}

impl World {
    fn new(clients: usize, merging: Merging) -> Self {
        let config = Config { merging: Some(merging), ..Config::server(Settings::default()) };
        let seed = |number: usize| std::array::from_fn(|at| (number >> (8 * (at % 4))) as u8 ^ at as u8);
        let endpoint = |number: usize, config| Endpoint::new(config, seed(number)).expect("a good configuration");
        let mut world = World {
            now: Time::from_micros(1_000_000),
            server: Server { endpoint: endpoint(0, config), is_measured: false },
            clients: (1..=clients).map(|number| endpoint(number, Config::client())).collect(),
            peers: Vec::new(),
            buffer: vec![0; 1 << 16],
            received: 0,
        };
        let path = Path { socket: 0, remote: SocketAddr::from(([192, 0, 2, 1], 7777)), carrier: Carrier::UDP };
        // In groups, since a server answers only so many strangers at once.
        for first in (0..clients).step_by(500) {
            for at in first..clients.min(first + 500) {
                world.clients[at].connect(world.now, path, b"client").expect("there is room");
            }
            while world.peers.len() < clients.min(first + 500) {
                world.step(Duration::from_millis(1));
            }
        }
        // Acknowledgements of the handshake.
        for _ in 0..20 {
            world.step(Duration::from_millis(10));
        }
        world
    }

    fn address(at: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, (at >> 8) as u8, at as u8], 5_000))
    }

    /// Time passes, and everything that follows from it.
    fn step(&mut self, span: Duration) {
        self.now += span;
        self.deliver_to_clients();
        for at in 0..self.clients.len() {
            let now = self.now;
            self.clients[at].handle_timeout(now);
            while let Some(transmit) = self.clients[at].poll_transmit(now, &mut self.buffer) {
                let path = Path { socket: 0, remote: Self::address(at), carrier: Carrier::UDP };
                for datagram in self.buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                    self.server.act(|server| server.handle_datagram(now, path, datagram));
                }
            }
            while self.clients[at].poll_event(now).is_some() {}
        }
        let now = self.now;
        self.server.act(|server| server.handle_timeout(now));
        while let Some(event) = self.server.act(|server| server.poll_event(now)) {
            match event {
                Event::Requested { peer, .. } => drop(self.server.endpoint.accept(now, peer)),
                Event::Connected { peer } => self.peers.push(peer),
                _ => {}
            }
        }
        self.deliver_to_clients();
    }

    fn deliver_to_clients(&mut self) {
        let now = self.now;
        while let Some(transmit) = self.server.act(|server| server.poll_transmit(now, &mut self.buffer)) {
            let SocketAddr::V4(remote) = transmit.path.remote else { continue };
            let [_, _, high, low] = remote.ip().octets();
            let client = &mut self.clients[usize::from(high) << 8 | usize::from(low)];
            let path = Path { socket: 0, remote: SocketAddr::from(([192, 0, 2, 1], 7777)), carrier: Carrier::UDP };
            for datagram in self.buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                client.handle_datagram(now, path, datagram);
            }
            while let Some(event) = client.poll_event(now) {
                self.received += u64::from(matches!(event, Event::Message { .. }));
            }
        }
    }
}

fn channels(count: usize, ticks: usize) {
    let mut world = World::new(300, Merging::Flush);
    let payload = Bytes::from_static(&[7; 50]);
    for peer in world.peers.clone() {
        for channel in 0..count {
            let sent = world.server.endpoint.send(world.now, peer, channel as u16, payload.clone(), MessageId(0));
            sent.expect("the queue has room");
        }
        world.server.endpoint.flush(world.now);
        world.step(Duration::from_millis(5));
    }
    for _ in 0..200 {
        world.step(Duration::from_millis(10));
    }
    let before = world.received;
    assert_eq!(before, 300 * count as u64, "every channel has carried its message");
    world.server.is_measured = true;
    for tick in 0..ticks {
        // A stride that visits every channel once before any twice.
        let channel = (tick * 1_031 % count) as u16;
        let (now, peers) = (world.now, world.peers.clone());
        world.server.act(|server| {
            for peer in peers {
                server.send(now, peer, channel, payload.clone(), MessageId(0)).expect("the queue has room");
            }
            server.flush(now);
        });
        world.step(TICK / 2);
        world.step(TICK / 2);
    }
    println!("channels {count}: {} messages in {ticks} ticks", world.received - before);
}

fn idle(connections: usize, ticks: usize) {
    let mut world = World::new(connections, Merging::Flush);
    // Until the last timer of the handshakes has come up.
    for _ in 0..30 {
        world.step(Duration::from_millis(100));
    }
    let mut woken = 0;
    world.server.is_measured = true;
    for _ in 0..ticks {
        world.now += TICK;
        let now = world.now;
        woken += world.server.act(|server| {
            let mut woken = 0;
            if server.poll_timeout() <= now {
                server.handle_timeout(now);
            }
            while server.poll_transmit(now, &mut world.buffer).is_some() {
                woken += 1;
            }
            woken
        });
    }
    println!("idle {connections}: {woken} datagrams in {ticks} ticks");
}

/// Once the paths have proved themselves.
fn fanout(clients: usize, ticks: usize) {
    let mut world = World::new(clients, Merging::Flush);
    let line = Bytes::from_static(&[7; 100]);
    let lines: Vec<_> = (0..LINES_PER_TICK).map(|at| (0, line.clone(), MessageId(at))).collect();
    let mut before = 0;
    for tick in 0..WARM_UP_TICKS + ticks {
        if tick == WARM_UP_TICKS {
            world.server.is_measured = true;
            before = world.received;
        }
        let now = world.now;
        world.server.act(|server| {
            server.broadcast_all(now, Group::EVERYONE, &lines);
            server.flush(now);
        });
        world.step(TICK / 2);
        world.step(TICK / 2);
    }
    println!("fanout {clients}: {} messages in {ticks} ticks", world.received - before);
}
