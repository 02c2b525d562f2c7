//! A host floods a server with handshakes that it never completes: new clients are still accepted, even from the same
//! network.

use crate::simulation::{World, check_again, encrypted, link, ms, seed_bytes, server_of};
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::datagram;
use skipstone_proto::{Carrier, Config, Cost, DeliveryMode, DropReason, Endpoint, Event, Path, Time};
use std::net::SocketAddr;
use std::sync::Arc;

/// OPENs in each millisecond: 100,000 per second.
const PER_MS: usize = 100;
const NEWCOMERS: usize = 20;

/// The datagrams of the flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flood {
    /// One good OPEN, again and again.
    Replayed,
    /// Its cookie, followed by garbage.
    Garbage,
    /// A different cookie for each, obtained by HELLO, and a handshake that begins correctly.
    Cookies,
    /// Like `Garbage`, but from all addresses of the network.
    Network,
}

struct Flooder {
    flood: Flood,
    remote: SocketAddr,
    /// The OPENs of the flood.
    opens: Vec<(SocketAddr, Vec<u8>)>,
    next: usize,
}

/// The OPEN of a client at this address, once the server has challenged it.
fn open_of(server: &mut Endpoint, now: Time, remote: SocketAddr, seed: u64) -> Vec<u8> {
    let mut client = Endpoint::new(encrypted(Config::client(), 3), seed_bytes(seed)).expect("a good configuration");
    let home = Path { socket: 0, local: None, remote, carrier: Carrier::UDP };
    client.connect(now, home, b"").expect("it may");
    let mut buffer = vec![0; 2_000];
    let hello = client.poll_transmit(now, &mut buffer).expect("a HELLO").bytes;
    server.handle_datagram(now, home, &mut buffer[..hello].to_vec());
    while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
        if transmit.path.remote == remote
            && matches!(datagram::decode(&buffer[..transmit.bytes]), Ok(datagram::Datagram::Challenge(_)))
        {
            client.handle_datagram(now, home, &mut buffer[..transmit.bytes].to_vec());
        }
    }
    let open = client.poll_transmit(now, &mut buffer).expect("an OPEN").bytes;
    buffer[..open].to_vec()
}

impl Flooder {
    fn new(flood: Flood, remote: SocketAddr, world: &mut World) -> Self {
        let hosts = if flood == Flood::Network { 64 } else { 1 };
        let SocketAddr::V4(first) = remote else { unreachable!("it is one") };
        let address = |host: u8| {
            let [a, b, c, d] = first.ip().octets();
            SocketAddr::from(([a, b, c, d.wrapping_add(host)], first.port()))
        };
        let opens =
            (0..hosts).map(|host| (address(host), open_of(&mut world.server.endpoint, world.now, address(host), 77)));
        Flooder { flood, remote, opens: opens.collect(), next: 0 }
    }

    fn play_ms(&mut self, world: &mut World) {
        if self.flood == Flood::Cookies {
            // The flood begins six thousand handshakes per second; the rest of its datagrams are repetitions.
            for _ in 0..6 {
                self.next += 1;
                let remote = SocketAddr::new(self.remote.ip(), 1_024 + (self.next % 60_000) as u16);
                let open = open_of(&mut world.server.endpoint, world.now, remote, 1_000 + self.next as u64);
                self.opens.push((remote, open));
            }
            let many = self.opens.len().saturating_sub(1_000);
            self.opens.drain(..many);
        }
        for _ in 0..PER_MS {
            self.next += 1;
            let (remote, open) = &self.opens[self.next % self.opens.len()];
            let path = Path { socket: 0, local: None, remote: *remote, carrier: Carrier::UDP };
            let mut bytes = open.clone();
            if matches!(self.flood, Flood::Garbage | Flood::Network) {
                let header = match datagram::decode(open) {
                    Ok(datagram::Datagram::Open(open)) => open.header_bytes(),
                    other => panic!("an OPEN: {other:?}"),
                };
                bytes[header..].iter_mut().for_each(|byte| *byte ^= self.next as u8 | 1);
                check_again(&mut bytes);
            }
            world.server.endpoint.handle_datagram(world.now, path, &mut bytes);
        }
    }
}

/// How long new clients took that joined during the flood.
fn newcomers_beside(flood: Flood, remote: SocketAddr) -> Vec<u64> {
    let server = encrypted(server_of(DeliveryMode::ReliableOrdered), 3);
    let mut world = World::new(5, server, &vec![link(20); NEWCOMERS]);
    world.killed = (0..NEWCOMERS).collect();
    let mut flooder = Flooder::new(flood, remote, &mut world);
    for round in 0..3_000 {
        flooder.play_ms(&mut world);
        if round == 1_000 {
            world.killed.clear();
        }
        world.run_for(ms(1));
    }
    let began = Time::from_micros(2_000_000);
    let joined = |at: usize| {
        let connected = |event: &&(Time, Event)| matches!(event.1, Event::Connected { .. });
        world.clients[at]
            .events
            .iter()
            .find(connected)
            .map_or(u64::MAX, |(when, _)| when.since(began).as_millis() as u64)
    };
    let took = (0..NEWCOMERS).map(joined).collect();
    let refused = world.server.drops(DropReason::TooManyHandshakes);
    assert!(flood == Flood::Replayed || refused > 100_000, "{flood:?}: {refused} were not even begun");
    took
}

#[test]
fn from_any_network_and_by_any_kind_of_open() {
    // The newcomers come from 192.0.2.0, with one port each.
    for remote in [SocketAddr::from(([203, 0, 113, 1], 6_000)), SocketAddr::from(([192, 0, 2, 200], 6_000))] {
        for flood in [Flood::Replayed, Flood::Garbage, Flood::Cookies] {
            let took = newcomers_beside(flood, remote);
            assert!(took.iter().all(|ms| *ms < 2_000), "{flood:?} from {remote}: {took:?} ms");
        }
    }
    let took = newcomers_beside(Flood::Network, SocketAddr::from(([203, 0, 113, 1], 6_000)));
    assert!(took.iter().all(|ms| *ms < 2_000), "of a whole network: {took:?} ms");
}

/// A server whose certificate has an RSA key of 4,096 bits.
fn dear() -> Endpoint {
    let suites = SimulatedSuites::new(3).costing(Cost::micros(5_500));
    let config = server_of(DeliveryMode::ReliableOrdered).encrypted(Arc::new(suites));
    Endpoint::new(config, seed_bytes(1)).expect("a good configuration")
}

/// Whether the server begins the handshake of a client at this address.
fn is_begun(server: &mut Endpoint, now: Time, remote: SocketAddr, seed: u64) -> bool {
    let path = Path { socket: 0, local: None, remote, carrier: Carrier::UDP };
    let (mut open, before) =
        (open_of(server, now, remote, seed), server.totals().drops.of(DropReason::TooManyHandshakes));
    server.handle_datagram(now, path, &mut open);
    while server.poll_timeout() <= now {
        while server.poll_transmit(now, &mut [0; 2_000]).is_some() {}
        server.handle_timeout(now);
    }
    server.totals().drops.of(DropReason::TooManyHandshakes) == before
}

#[test]
fn a_flood_of_costly_handshakes_from_sixty_networks_blocks_no_client() {
    let (mut server, mut newcomers, mut begun) = (dear(), Vec::new(), 0);
    for ms in 0..6_000_u64 {
        let now = Time::from_micros(1_000_000 + ms * 1_000);
        // 333 per second; the server has time for 136.
        if ms % 3 == 0 {
            let remote = ([203, 0, (ms / 3 % 60) as u8, (ms % 200) as u8], 1_024 + ms as u16).into();
            begun += u64::from(is_begun(&mut server, now, remote, 100_000 + ms));
        }
        if ms >= 3_000 && ms % 100 == 0 {
            newcomers.push(is_begun(&mut server, now, ([198, 51, (ms / 100) as u8, 1], 5_000).into(), 50_000 + ms));
        }
    }
    assert!(newcomers.iter().all(|is_begun| *is_begun), "each at its first try: {newcomers:?}");
    assert!((500..1_000).contains(&begun), "{begun} of the flood");
}

/// Handshakes that arrive at one moment begin over many rounds, after the players' datagrams: four handshakes of 5.5 ms
/// take 11 rounds of 2 ms.
#[test]
fn a_round_admits_few_handshakes_and_the_rest_wait() {
    let (mut server, now) = (dear(), Time::from_micros(1_000_000));
    let remote = |at: u8| SocketAddr::from(([198, 51, at, 1], 5_000));
    let opens: Vec<Vec<u8>> = (0..40).map(|at| open_of(&mut server, now, remote(at), u64::from(at))).collect();
    for (at, mut open) in (0..).zip(opens) {
        let path = Path { socket: 0, local: None, remote: remote(at), carrier: Carrier::UDP };
        server.handle_datagram(now, path, &mut open);
    }
    for round in 0..=108 {
        let (begun, expected) = (server.connection_count(), 1 + round * 4 / 11);
        assert!(begun.abs_diff(expected) <= 1, "{begun} after {round} rounds");
        assert!(begun == 40 || server.poll_timeout() == Time::ZERO, "the next round begins at once");
        while server.poll_transmit(now, &mut [0; 2_000]).is_some() {}
        server.handle_timeout(now);
    }
    assert_eq!((server.connection_count(), server.totals().drops.of(DropReason::TooManyHandshakes)), (40, 0));
}
