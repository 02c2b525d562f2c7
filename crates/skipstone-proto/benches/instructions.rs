//! Instructions of the hot paths, counted by callgrind: `cargo xtask instructions` runs this and compares with
//! `instructions.toml`.
//!
//! Each scenario prepares what it needs in memory, then does what is measured within [`measured_side`]; the counter
//! looks at nothing else. It prints how many units of work that was. Without callgrind it runs and prints that.
//!
//! ```text
//! instructions channels COUNT TICKS    20 connections with COUNT idle channels that have carried messages; then one
//!                                      message per connection and tick, each tick on another channel
//! instructions idle CONNECTIONS TICKS  connections without any traffic, polled at 60 Hz between two keepalives
//! instructions timers CONNECTIONS S    the same for S seconds: the cost of their timers
//! instructions fanout CLIENTS TICKS N  N lines of 100 bytes per tick to all clients, like those of 60 N clients that
//!                                      send one a second: the cost of the server
//! instructions streams CLIENTS TICKS N the same over WebSocket: the server, with the clients' datagrams
//! instructions acks CLIENTS TICKS N    the same: the clients' datagrams at the server
//! instructions receive CLIENTS TICKS N the same: the clients
//! instructions resets CONNECTIONS N    N RESETs of unknown clients to a server that has stopped listening
//! instructions opens PENDING N         N refused OPENs of an address with 384 pending handshakes, with PENDING others
//! instructions rates CHANNELS          a message on each of CHANNELS channels with an inbound rate
//! instructions seal BYTES COUNT        packets of this length, sealed with the plain suite and opened
//! instructions mul-add KERNEL KB       the erasure code's inner loop with this kernel of the machine
//! instructions encode BYTES COUNT      repairs over 20 packets of this length
//! instructions decode BYTES COUNT      windows of 20 packets, of which 2 are recovered from 2 repairs
//! ```

use bytes::Bytes;
use skipstone_proto::MessageId;
use skipstone_proto::Plain;
use skipstone_proto::redundancy::fec::{Decoder, Encoder};
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram;
use skipstone_proto::wire::frame::{Frame, Frames};
use skipstone_proto::{BroadcastMessage, Config, DropReason, Endpoint, Event, Group, PeerId};
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{InboundRule, Merging, MessageRate, Settings};
use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

const TICK: Duration = Duration::from_micros(16_667);
/// Until no repairs are sent any more, and acknowledgements are few: messages, and ticks of them.
const SETTLED: usize = 4_096;
const WARM_UP_TICKS: usize = 900;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
    let (scenario, size, count, lines) = (words.first().copied(), number(1), number(2), number(3));
    let units = match scenario {
        Some("channels") => channels(size, count),
        Some("idle") => idle(size, count),
        Some("timers") => timers(size, count),
        Some("fanout") => fanout(Carrier::UDP, Measured::Server, size, count, lines),
        Some("streams") => fanout(Carrier::WEBSOCKET, Measured::Server, size, count, lines),
        Some("acks") => fanout(Carrier::UDP, Measured::Acks, size, count, lines),
        Some("receive") => fanout(Carrier::UDP, Measured::Clients, size, count, lines),
        Some("resets") => resets(size, count),
        Some("opens") => opens(size, count),
        Some("rates") => rates(size),
        Some("seal") => seal(size, count),
        Some("mul-add") => mul_add(words.get(1).copied().unwrap_or_default(), count),
        Some("encode") => encode(size, count),
        Some("decode") => decode(size, count),
        // `cargo bench` runs it without a scenario: a taste of each.
        _ => {
            let server = channels(64, 2) + idle(100, 60) + timers(10, 30);
            let sides = [Measured::Server, Measured::Acks, Measured::Clients];
            let sides: u64 = sides.into_iter().map(|side| fanout(Carrier::UDP, side, 100, 2, 4)).sum();
            let server = server + fanout(Carrier::WEBSOCKET, Measured::Server, 100, 2, 4);
            let hostile = resets(10, 2) + opens(1, 2) + rates(100);
            server + sides + hostile + seal(100, 2) + mul_add("portable", 2) + encode(100, 2) + decode(100, 2)
        }
    };
    println!("units {units}");
}

/// Whose instructions count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measured {
    Nobody,
    Server,
    /// The server, while it takes datagrams.
    Acks,
    /// The server's timers.
    Timers,
    Clients,
}

/// A server, its clients, and the datagrams between them, without loss or delay.
struct World {
    now: Time,
    carrier: Carrier,
    server: Endpoint,
    measured: Measured,
    clients: Vec<Endpoint>,
    peers: Vec<PeerId>,
    buffer: Vec<u8>,
    /// Messages at the clients.
    received: u64,
}

/// Everything that is measured goes through here.
#[inline(never)]
fn measured_side<S, T>(side: S, act: impl FnOnce(S) -> T) -> T {
    act(black_box(side))
}

/// Does something, and measures it if its part is the one that is.
fn act<S, T>(is_measured: bool, side: S, act: impl FnOnce(S) -> T) -> T {
    if is_measured { measured_side(side, act) } else { act(side) }
}

impl World {
    fn new(carrier: Carrier, clients: usize, merging: Merging) -> Self {
        let config = Config { merging: Some(merging), ..Config::server(Settings::default()) };
        let seed = |number: usize| std::array::from_fn(|at| (number >> (8 * (at % 4))) as u8 ^ at as u8);
        let endpoint = |number: usize, config| Endpoint::new(config, seed(number)).expect("a good configuration");
        let mut world = World {
            now: Time::from_micros(1_000_000),
            carrier,
            server: endpoint(0, config),
            measured: Measured::Nobody,
            clients: (1..=clients).map(|number| endpoint(number, Config::client())).collect(),
            peers: Vec::new(),
            buffer: vec![0; 1 << 16],
            received: 0,
        };
        let path = world.path_to_server();
        // In groups, because a server limits its stateless answers.
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

    /// The server's path to a client. A stream has its own socket.
    fn path_to(&self, client: usize) -> Path {
        let remote = SocketAddr::from(([10, 0, (client >> 8) as u8, client as u8], 5_000));
        Path {
            socket: if self.carrier.is_bound { client as u32 } else { 0 },
            local: None,
            remote,
            carrier: self.carrier,
        }
    }

    fn path_to_server(&self) -> Path {
        Path { socket: 0, local: None, remote: SocketAddr::from(([192, 0, 2, 1], 7777)), carrier: self.carrier }
    }

    /// Time passes, and everything that follows from it.
    fn step(&mut self, span: Duration) {
        self.now += span;
        let (now, measured) = (self.now, self.measured);
        self.deliver_to_clients();
        for at in 0..self.clients.len() {
            let path = self.path_to(at);
            let (client, is_measured) = (&mut self.clients[at], measured == Measured::Clients);
            act(is_measured, &mut *client, |client| client.handle_timeout(now));
            while let Some(transmit) =
                act(is_measured, &mut *client, |client| client.poll_transmit(now, &mut self.buffer))
            {
                for datagram in self.buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                    let is_measured = matches!(measured, Measured::Server | Measured::Acks);
                    act(is_measured, &mut self.server, |server| server.handle_datagram(now, path, datagram));
                }
            }
            while client.poll_event(now).is_some() {}
        }
        let is_measured = matches!(measured, Measured::Server | Measured::Timers);
        act(is_measured, &mut self.server, |server| server.handle_timeout(now));
        while let Some(event) = act(measured == Measured::Server, &mut self.server, |server| server.poll_event(now)) {
            match event {
                Event::Requested { peer, .. } => drop(self.server.accept(now, peer)),
                Event::Connected { peer, .. } => self.peers.push(peer),
                _ => {}
            }
        }
        self.deliver_to_clients();
    }

    fn deliver_to_clients(&mut self) {
        let (now, measured) = (self.now, self.measured);
        let is_measured = matches!(measured, Measured::Server | Measured::Timers);
        let (clients_are, path) = (measured == Measured::Clients, self.path_to_server());
        while let Some(transmit) =
            act(is_measured, &mut self.server, |server| server.poll_transmit(now, &mut self.buffer))
        {
            let SocketAddr::V4(remote) = transmit.path.remote else { continue };
            let [_, _, high, low] = remote.ip().octets();
            let client = &mut self.clients[usize::from(high) << 8 | usize::from(low)];
            for datagram in self.buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                act(clients_are, &mut *client, |client| client.handle_datagram(now, path, datagram));
            }
            while let Some(event) = act(clients_are, &mut *client, |client| client.poll_event(now)) {
                self.received += u64::from(matches!(event, Event::Message { .. }));
            }
        }
    }
}

/// Messages of the measured part.
fn channels(count: usize, ticks: usize) -> u64 {
    const CONNECTIONS: usize = 20;
    let mut world = World::new(Carrier::UDP, CONNECTIONS, Merging::Flush);
    let payload = Bytes::from_static(&[7; 50]);
    for peer in world.peers.clone() {
        for channel in (0..count).cycle().take(SETTLED) {
            let sent = world.server.send(world.now, peer, channel as u16, payload.clone(), MessageId(0));
            sent.expect("the queue has room");
        }
        world.server.flush(world.now);
        world.step(Duration::from_millis(5));
    }
    for _ in 0..200 {
        world.step(Duration::from_millis(10));
    }
    let mut before = world.received;
    assert_eq!(before, (CONNECTIONS * SETTLED) as u64, "every channel has carried its messages");
    for tick in 0..WARM_UP_TICKS + ticks {
        if tick == WARM_UP_TICKS {
            world.measured = Measured::Server;
            before = world.received;
        }
        // A stride that visits every channel once before any twice.
        let channel = (tick * 1_031 % count) as u16;
        let (now, peers, is_measured) = (world.now, &world.peers, world.measured == Measured::Server);
        act(is_measured, &mut world.server, |server| {
            for peer in peers {
                server.send(now, *peer, channel, payload.clone(), MessageId(0)).expect("the queue has room");
            }
            server.flush(now);
        });
        world.step(TICK / 2);
        world.step(TICK / 2);
    }
    world.received - before
}

/// Ticks.
fn idle(connections: usize, ticks: usize) -> u64 {
    let mut world = World::new(Carrier::UDP, connections, Merging::Flush);
    // Until the last timer of the handshakes has come up.
    for _ in 0..30 {
        world.step(Duration::from_millis(100));
    }
    for _ in 0..ticks {
        world.now += TICK;
        let now = world.now;
        act(true, &mut world.server, |server| {
            if server.poll_timeout() <= now {
                server.handle_timeout(now);
            }
            while server.poll_transmit(now, &mut world.buffer).is_some() {}
        });
    }
    ticks as u64
}

/// Connections times seconds.
fn timers(connections: usize, seconds: usize) -> u64 {
    let mut world = World::new(Carrier::UDP, connections, Merging::Flush);
    for _ in 0..30 {
        world.step(Duration::from_millis(100));
    }
    world.measured = Measured::Timers;
    for _ in 0..seconds * 2 {
        world.step(Duration::from_millis(500));
    }
    (connections * seconds) as u64
}

/// Messages at the clients.
fn fanout(carrier: Carrier, measured: Measured, clients: usize, ticks: usize, lines: usize) -> u64 {
    let mut world = World::new(carrier, clients, Merging::Flush);
    let line = Bytes::from_static(&[7; 100]);
    let lines: Vec<_> = (0..lines as u64).map(|at| BroadcastMessage::new(0, line.clone(), MessageId(at))).collect();
    let mut before = 0;
    for tick in 0..WARM_UP_TICKS + ticks {
        if tick == WARM_UP_TICKS {
            before = world.received;
            world.measured = measured;
        }
        let (now, is_measured) = (world.now, world.measured == Measured::Server);
        act(is_measured, &mut world.server, |server| {
            server.broadcast_all(now, Group::EVERYONE, &lines);
            server.flush(now);
        });
        world.step(TICK / 2);
        world.step(TICK / 2);
    }
    world.received - before
}

/// RESETs.
fn resets(connections: usize, count: usize) -> u64 {
    let mut world = World::new(Carrier::UDP, connections, Merging::Flush);
    world.server.stop_listening();
    let path =
        Path { socket: 0, local: None, remote: SocketAddr::from(([203, 0, 113, 1], 5_000)), carrier: Carrier::UDP };
    let mut datagram = vec![0; datagram::RESET_BYTES];
    datagram::encode_reset(&mut Writer::new(&mut datagram), 77);
    let now = world.now;
    for _ in 0..count {
        measured_side(&mut world.server, |server| server.handle_datagram(now, path, &mut datagram));
    }
    assert_eq!(world.server.totals().drops.of(DropReason::UnknownConnection), count as u64);
    count as u64
}

/// OPENs.
fn opens(others: usize, count: usize) -> u64 {
    const OF_ADDRESS_MAX: usize = 384;
    let config = |config: Config| config.encrypted(Arc::new(SimulatedSuites::new(1)));
    let mut server = Endpoint::new(config(Config::server(Settings::default())), [1; 32]).expect("good");
    let mut now = Time::from_micros(1_000_000);
    let mut buffer = vec![0; 1 << 16];
    // The client's answer to the server's challenge at this address.
    let mut open = |server: &mut Endpoint, now: Time, path: Path| {
        let IpAddr::V4(ip) = path.remote.ip() else { unreachable!("all of them are") };
        let seed = std::array::from_fn(|at| ip.octets()[at % 4] ^ path.remote.port().to_be_bytes()[at % 2]);
        let mut client = Endpoint::new(config(Config::client()), seed).expect("good");
        client.connect(now, path, b"").expect("there is room");
        let hello = client.poll_transmit(now, &mut buffer).expect("its HELLO").bytes;
        server.handle_datagram(now, path, &mut buffer[..hello]);
        while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
            if transmit.path == path {
                client.handle_datagram(now, path, &mut buffer[..transmit.bytes]);
            }
        }
        let open = client.poll_transmit(now, &mut buffer).expect("its OPEN").bytes;
        buffer[..open].to_vec()
    };
    let path = |ip: [u8; 4], port: usize| Path {
        socket: 0,
        local: None,
        remote: (ip, 5_000 + port as u16).into(),
        carrier: Carrier::UDP,
    };
    let elsewhere = (0..others).map(|at| path([198, 18, at as u8, 1], at));
    for path in elsewhere.chain((0..=OF_ADDRESS_MAX).map(|at| path([203, 0, 113, 1], at))) {
        now += Duration::from_millis(2);
        let mut bytes = open(&mut server, now, path);
        server.handle_timeout(now);
        server.handle_datagram(now, path, &mut bytes);
    }
    server.handle_timeout(now);
    assert_eq!(server.connection_count(), others + OF_ADDRESS_MAX);
    let path = path([203, 0, 113, 1], 9_000);
    let bytes = open(&mut server, now, path);
    let before = server.totals().drops.of(DropReason::TooManyHandshakes);
    for _ in 0..count {
        let mut bytes = bytes.clone();
        measured_side(&mut server, |server| server.handle_datagram(now, path, &mut bytes));
    }
    assert_eq!(server.totals().drops.of(DropReason::TooManyHandshakes), before + count as u64);
    count as u64
}

/// Messages.
fn rates(channels: usize) -> u64 {
    let rate = Some(MessageRate { per_second: 2, burst: 3 });
    let rule = InboundRule { rate, ..InboundRule::new(0..=u16::MAX) };
    let mut server = Endpoint::new(Config { inbound: [rule].into(), ..Config::server(Settings::default()) }, [1; 32]);
    let (server, mut now) = (server.as_mut().expect("good"), Time::from_micros(1_000_000));
    let mut client = Endpoint::new(Config::client(), [2; 32]).expect("good");
    let path = Path { socket: 0, local: None, remote: SocketAddr::from(([10, 0, 0, 1], 5_000)), carrier: Carrier::UDP };
    let peer = client.connect(now, path, b"").expect("there is room");
    let (mut buffer, mut messages) = (vec![0; 1 << 16], 0);
    for channel in 0..channels + 10 {
        now += Duration::from_millis(5);
        // The first message after the handshake, on the next channel.
        if channel >= 10 {
            client.send(now, peer, channel as u16, Bytes::new(), MessageId(0)).expect("the queue has room");
        }
        while let Some(transmit) = client.poll_transmit(now, &mut buffer) {
            for datagram in buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                act(channel >= 10, &mut *server, |server| server.handle_datagram(now, path, datagram));
            }
        }
        while let Some(event) = server.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => drop(server.accept(now, peer)),
                Event::Message { .. } => messages += 1,
                _ => {}
            }
        }
        server.handle_timeout(now);
        while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
            for datagram in buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                client.handle_datagram(now, path, datagram);
            }
        }
        client.handle_timeout(now);
        while client.poll_event(now).is_some() {}
    }
    assert_eq!(messages, channels as u64);
    messages
}

/// Packets.
fn seal(bytes: usize, count: usize) -> u64 {
    const HEADER_BYTES: usize = 4;
    let (ours, theirs) = (Plain::with_key(&[7; 16]), Plain::with_key(&[7; 16]));
    let mut datagram = vec![0; HEADER_BYTES + bytes + ours.overhead()];
    for number in 0..count {
        // A truncated number of 14 bits.
        datagram[HEADER_BYTES..HEADER_BYTES + 2].copy_from_slice(&(0x8000 | number as u16 & 0x3FFF).to_be_bytes());
        let number = number as u64;
        let opened = measured_side(&mut datagram, |datagram| {
            let length = ours.seal(datagram, HEADER_BYTES..HEADER_BYTES + bytes, number);
            theirs.open(&datagram[..length], HEADER_BYTES, number)
        });
        assert_eq!(opened.map(|range| range.len()), Some(bytes));
    }
    count as u64
}

/// KB; none if the machine has no such kernel.
fn mul_add(kernel: &str, kilobytes: usize) -> u64 {
    let Some(kernel) = skipstone_gf256::Kernel::all().into_iter().find(|other| other.name() == kernel) else {
        return 0;
    };
    let (mut target, source) = (vec![1; 1_024], vec![9; 1_024]);
    for factor in (2..=255).cycle().take(kilobytes) {
        measured_side(&mut target, |target| kernel.mul_add(target, &source, factor));
    }
    black_box(target);
    kilobytes as u64
}

/// Packets of a window, and repairs for it.
const SOURCES: u64 = 20;
const REPAIRS: u64 = 2;

/// Writes a window from this number on: its packets, and the repairs after them, which only the encoder can compute.
fn window(encoder: &mut Encoder, first: u64, content: &[u8], is_measured: bool) -> Vec<(u64, Vec<u8>)> {
    encoder.begin_block();
    let mut buffer = vec![0; content.len() + 200];
    act(is_measured, &mut *encoder, |encoder| {
        (first..first + SOURCES).for_each(|number| encoder.on_source(number, content));
    });
    let repairs = (first + SOURCES..first + SOURCES + REPAIRS).map(|number| {
        let mut writer = Writer::new(&mut buffer);
        let is_written = act(is_measured, &mut *encoder, |encoder| encoder.write_repair(number, &mut writer));
        assert!(is_written, "there is something to repair");
        (number, writer.written().to_vec())
    });
    repairs.collect()
}

/// Repairs.
fn encode(bytes: usize, count: usize) -> u64 {
    let (mut encoder, content) = (Encoder::default(), vec![7; bytes]);
    let windows = count as u64 / REPAIRS;
    (0..windows).for_each(|at| drop(window(&mut encoder, 1 + at * (SOURCES + REPAIRS), &content, true)));
    windows * REPAIRS
}

/// Windows.
fn decode(bytes: usize, count: usize) -> u64 {
    let (mut encoder, mut decoder, content) = (Encoder::default(), Decoder::default(), vec![7; bytes]);
    for at in 0..1 + count as u64 {
        let first = 1 + at * (SOURCES + REPAIRS);
        let repairs = window(&mut encoder, first, &content, false);
        let is_lost = |number: u64| number - first == 3 || number - first == 11;
        // The first one makes the decoder keep packets.
        let again = act(at > 0, &mut decoder, |decoder| {
            let numbers = (first..first + SOURCES).filter(|number| !is_lost(*number));
            numbers.for_each(|number| decoder.on_source(number, &content));
            for (number, bytes) in &repairs {
                let Some(Ok(Frame::Repair(repair))) = Frames::new(bytes).next() else { panic!("not a repair") };
                let covers = repair.covers(*number).expect("above 0");
                decoder.on_repair(repair.index, covers, repair.symbol, |number| {
                    number < first + SOURCES && !is_lost(number)
                });
            }
            std::iter::from_fn(|| decoder.poll_recovered()).count()
        });
        assert!(at == 0 || again == 2, "window {at}: {again} packets were recovered");
    }
    count as u64
}
