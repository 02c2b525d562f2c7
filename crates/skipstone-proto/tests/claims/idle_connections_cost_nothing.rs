//! Ten thousand idle connections: between its keepalives a connection costs no work, whatever the others do.

use crate::simulation::{World, link};
use skipstone_proto::MessageId;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Config, Endpoint, Event, PeerId};
use skipstone_proto::{Duration, Time};
use std::collections::VecDeque;
use std::net::SocketAddr;

const CONNECTIONS: u32 = 10_000;

/// Two endpoints, of which one holds all clients: sockets tell them apart. Datagrams arrive after a millisecond.
struct Crowd {
    now: Time,
    clients: Endpoint,
    server: Endpoint,
    way: VecDeque<(Time, bool, u32, Vec<u8>)>,
    peers: Vec<PeerId>,
    arrived: u64,
    buffer: Vec<u8>,
}

impl Crowd {
    fn new() -> Self {
        let server = Endpoint::new(Config::server(Default::default()), [1; 32]).expect("good");
        let clients = Endpoint::new(Config::client(), [2; 32]).expect("good");
        let now = Time::from_micros(1_000_000);
        let (way, buffer) = (VecDeque::new(), vec![0; 1 << 16]);
        let mut crowd = Crowd { now, clients, server, way, peers: Vec::new(), arrived: 0, buffer };
        for at in 0..CONNECTIONS {
            crowd.peers.push(crowd.clients.connect(crowd.now, to_server(at), b"").expect("there is room"));
            // Clients begin in groups no larger than the queue of stateless answers.
            if at % 500 == 499 {
                crowd.run_for(Duration::from_millis(20));
            }
        }
        crowd
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now <= end {
            self.settle();
            let arrival = self.way.front().map_or(Time::NEVER, |(at, ..)| *at);
            let next = arrival.min(self.clients.poll_timeout()).min(self.server.poll_timeout());
            self.now = next.max(self.now + Duration::from_micros(50));
        }
        self.now = end;
    }

    fn settle(&mut self) {
        while self.way.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, is_up, at, mut bytes)) = self.way.pop_front() else { return };
            match is_up {
                true => self.server.handle_datagram(self.now, to_client(at), &mut bytes),
                false => self.clients.handle_datagram(self.now, to_server(at), &mut bytes),
            }
        }
        self.server.handle_timeout(self.now);
        self.clients.handle_timeout(self.now);
        while let Some(event) = self.server.poll_event(self.now) {
            match event {
                Event::Requested { peer, .. } => drop(self.server.accept(self.now, peer)),
                Event::Message { .. } => self.arrived += 1,
                Event::Closed { .. } => panic!("{event:?}"),
                _ => {}
            }
        }
        while self.clients.poll_event(self.now).is_some() {}
        for is_up in [true, false] {
            let endpoint = if is_up { &mut self.clients } else { &mut self.server };
            while let Some(transmit) = endpoint.poll_transmit(self.now, &mut self.buffer) {
                let at = if is_up { transmit.path.socket } else { u32::from(transmit.path.remote.port()) };
                for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                    self.way.push_back((self.now + Duration::from_millis(1), is_up, at, datagram.to_vec()));
                }
            }
        }
    }
}

fn to_server(at: u32) -> Path {
    Path { socket: at, local: None, remote: SocketAddr::from(([198, 51, 100, 1], 7_777)), carrier: Carrier::UDP }
}

fn to_client(at: u32) -> Path {
    Path { socket: 0, local: None, remote: SocketAddr::from(([192, 0, 2, 1], at as u16)), carrier: Carrier::UDP }
}

#[test]
fn between_keepalives_only_active_connections_are_touched() {
    let mut crowd = Crowd::new();
    crowd.run_for(Duration::from_secs(5));
    assert_eq!(crowd.server.connection_count(), CONNECTIONS as usize);
    let before = [crowd.clients.work(), crowd.server.work()];
    for _ in 0..180 {
        let speaker = crowd.peers[77];
        crowd.clients.send(crowd.now, speaker, 0, vec![1; 50].into(), MessageId(0)).expect("it is connected");
        crowd.run_for(Duration::from_millis(16));
    }
    assert_eq!(crowd.arrived, 180);
    for (before, after) in before.into_iter().zip([crowd.clients.work(), crowd.server.work()]) {
        let touched = (after.timeouts - before.timeouts) + (after.transmits - before.transmits);
        assert!(touched < 180 * 10, "{touched} for 180 messages: {before:?} {after:?}");
        assert!(after.entries - before.entries < 180 * 4, "{before:?} {after:?}");
    }
    // An interval without messages: each connection is touched a few times, for its keepalive.
    let before = [crowd.clients.work(), crowd.server.work()];
    crowd.run_for(Duration::from_secs(10));
    for (before, after) in before.into_iter().zip([crowd.clients.work(), crowd.server.work()]) {
        let touched = (after.timeouts - before.timeouts) + (after.transmits - before.transmits);
        assert!(touched < u64::from(CONNECTIONS) * 8, "{touched}: {before:?} {after:?}");
    }
}

#[test]
fn an_occasionally_busy_connection_has_one_timer() {
    let mut world = World::pair(1, link(10));
    world.connect();
    for _ in 0..2_000 {
        world.clients[0].send(world.now, 0, vec![1; 50]);
        world.run_for(Duration::from_millis(40));
        assert_eq!(timers(&world), [1, 1]);
    }
}

/// A keepalive, a probe timeout and an acknowledgement are due on each side, the last the soonest.
#[test]
fn a_connection_busy_in_both_directions_has_one_timer() {
    for interval in [100, 50, 33, 25, 16].map(Duration::from_millis) {
        let mut world = World::pair(2, link(10));
        world.connect();
        let ticks = 30_000 / interval.as_millis() as u64;
        let entries = |world: &World| world.clients[0].endpoint.work().entries + world.server.endpoint.work().entries;
        let before = entries(&world);
        for _ in 0..ticks {
            world.clients[0].send(world.now, 0, vec![1; 50]);
            world.server.send(world.now, 0, vec![1; 50]);
            world.run_for(interval);
            assert_eq!(timers(&world), [1, 1], "every {interval:?}");
        }
        let woken = entries(&world) - before;
        assert!(woken <= 4 * ticks + 60, "{woken} in {ticks} ticks of {interval:?}");
    }
}

fn timers(world: &World) -> [usize; 2] {
    [world.clients[0].endpoint.work().timers, world.server.endpoint.work().timers]
}
