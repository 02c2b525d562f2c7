//! Real sockets: a server with several shards is one server to its application and to its clients, wherever the kernel
//! lets them arrive, and wherever they move.
#![cfg(target_os = "linux")]

use skipstone::{
    DropReason, Event, Group, PeerId, Pool, PoolConfig, Security, Server, ServerConfig, ShardsError, StartError,
    Target, Threading, code,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const CHANNEL: u16 = 1;
const ODD: Group = Group(7);

/// A server that accepts every client, and its clients.
struct Table {
    server: Server,
    pool: Pool,
    /// The peers that are connected, by the server's ids.
    guests: BTreeSet<PeerId>,
    /// The messages that the server received, and from which peer.
    heard: Vec<(PeerId, u32)>,
    moves: usize,
    closed_there: usize,
    /// The messages that each client received.
    lines: BTreeMap<PeerId, Vec<u32>>,
    connected: BTreeSet<PeerId>,
    refused: Vec<u64>,
    end: Instant,
}

fn config(shards: u32) -> ServerConfig {
    let security = Security::self_signed().expect("it is made").allowing_plain();
    let listen = "127.0.0.1:0".parse().expect("an address");
    ServerConfig { shards, security: Some(security), ..ServerConfig::new(listen) }
}

impl Table {
    fn new(config: ServerConfig) -> Table {
        Table {
            server: Server::start(config).expect("a port is free"),
            pool: Pool::new(PoolConfig::default()).expect("it is made"),
            guests: BTreeSet::new(),
            heard: Vec::new(),
            moves: 0,
            closed_there: 0,
            lines: BTreeMap::new(),
            connected: BTreeSet::new(),
            refused: Vec::new(),
            end: Instant::now() + Duration::from_secs(60),
        }
    }

    /// A client by this scheme.
    fn seat(&mut self, scheme: &str) -> PeerId {
        let own = format!("{scheme}://{}", self.server.local_addr());
        let url = match scheme {
            "skip" => self.server.url(),
            "skip+dtls" => self.server.url().replace("skip://", "skip+dtls://"),
            _ => own,
        };
        let target: Target = url.parse().expect("a URL");
        self.pool.add(&target, self.server.local_addr(), b"", None).expect("a socket")
    }

    /// Lets time pass for both sides.
    fn step(&mut self) {
        assert!(Instant::now() < self.end, "{} guests, {} moves, {:?}", self.guests.len(), self.moves, self.lines);
        self.pool.drive(Duration::from_micros(500)).expect("it drives");
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => self.server.accept(peer).expect("it waits"),
                Event::Connected { peer, .. } => assert!(self.guests.insert(peer), "{peer} twice"),
                Event::Message { peer, payload, .. } => self.heard.push((peer, number(&payload))),
                Event::PathChanged { .. } => self.moves += 1,
                Event::Closed { peer, .. } => self.closed_there += usize::from(self.guests.remove(&peer)),
                _ => {}
            }
        }
        while let Some(event) = self.pool.poll_event() {
            match event {
                Event::Connected { peer, .. } => assert!(self.connected.insert(peer)),
                Event::Message { peer, payload, .. } => self.lines.entry(peer).or_default().push(number(&payload)),
                Event::Closed { peer, close } => {
                    self.connected.remove(&peer);
                    self.refused.push(close.code);
                }
                _ => {}
            }
        }
    }

    fn step_until(&mut self, mut is_so: impl FnMut(&mut Table) -> bool) {
        while !is_so(self) {
            self.step();
        }
    }

    /// Datagrams that went from shard to shard, once the latest ones are counted.
    fn handed_on(&mut self) -> u64 {
        std::thread::sleep(Duration::from_millis(120));
        self.server.driver_stats().misrouted.handed_on
    }
}

fn number(payload: &[u8]) -> u32 {
    u32::from_be_bytes(payload.try_into().expect("four bytes"))
}

fn bytes(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

#[test]
fn players_of_all_shards_reach_each_other() {
    // A number that is not a power of two: some ids name shards that do not exist.
    let mut table = Table::new(config(3));
    let by_dtls = if cfg!(feature = "dtls") { "skip+dtls" } else { "skip" };
    let schemes = ["skip+plain", by_dtls, "skip", "ws"];
    let seats: Vec<PeerId> = (0..72).map(|seat| table.seat(schemes[seat % schemes.len()])).collect();
    table.step_until(|table| table.guests.len() == seats.len() && table.connected.len() == seats.len());
    let seen = || table.server.shards().iter().map(|shard| shard.clients).sum::<usize>();
    assert!(crate::eventually(|| seen() == seats.len()), "{} of {}", seen(), seats.len());
    let shards = table.server.shards();
    let clients: Vec<usize> = shards.iter().map(|shard| shard.clients).collect();
    assert!(clients.len() == 3 && clients.iter().all(|clients| *clients > 0), "{clients:?}");
    // The kernel's hash distributes the 18 streams.
    let with_streams = shards.iter().filter(|shard| shard.driver.sockets.websockets > 0).count();
    assert!(with_streams >= 2, "streams are shared out too");
    assert_eq!(clients.iter().sum::<usize>(), seats.len());
    let indices: BTreeSet<u32> = table.guests.iter().map(|peer| peer.index).collect();
    assert_eq!(indices.len(), seats.len(), "no two have one place");
    let biggest = clients.iter().max().expect("three") * 3;
    assert!(indices.iter().all(|index| (*index as usize) < biggest + 3), "places are dense: {indices:?}");
    let seen = || table.server.overviews().iter().map(|(peer, _)| *peer).collect::<BTreeSet<_>>();
    assert!(crate::eventually(|| seen() == table.guests), "{:?}", seen());

    // Each sends its number, and the server forwards it to all.
    for (seat, peer) in seats.iter().enumerate() {
        table.pool.send(*peer, CHANNEL, bytes(seat as u32)).expect("it stands");
    }
    table.step_until(|table| table.heard.len() == seats.len());
    let who: BTreeMap<u32, PeerId> = table.heard.iter().map(|(peer, number)| (*number, *peer)).collect();
    for (_, number) in core::mem::take(&mut table.heard) {
        table.server.broadcast(Group::EVERYONE, CHANNEL, bytes(number)).expect("room");
    }
    table.server.flush().expect("it runs");
    table.step_until(|table| table.lines.values().map(Vec::len).sum::<usize>() == seats.len() * seats.len());
    for lines in table.lines.values_mut() {
        lines.sort_unstable();
        assert!(lines.iter().copied().eq(0..seats.len() as u32), "each line once: {lines:?}");
        lines.clear();
    }

    // A group has members in all shards; a message to one peer reaches only that peer.
    for (seat, peer) in who.iter().filter(|(seat, _)| **seat % 2 == 1) {
        table.server.join(*peer, ODD).expect("it stands");
        if *seat == 1 {
            table.server.leave(*peer, ODD).expect("it stands");
        }
    }
    table.server.broadcast(ODD, CHANNEL, bytes(1_000)).expect("room");
    for (seat, peer) in &who {
        table.server.send(*peer, CHANNEL, bytes(2_000 + seat)).expect("room");
        assert!(table.server.overview(*peer).is_some());
    }
    table.server.flush().expect("it runs");
    table.step_until(|table| table.lines.values().filter(|lines| !lines.is_empty()).count() == seats.len());
    for (seat, peer) in seats.iter().enumerate() {
        let own = 2_000 + seat as u32;
        let expected = if seat % 2 == 1 && seat != 1 { vec![1_000, own] } else { vec![own] };
        assert_eq!(table.lines[peer], expected, "seat {seat}");
    }
    let seen = || table.server.stats().received.messages;
    assert!(crate::eventually(|| seen() == seats.len() as u64), "{} messages", seen());
    let stats = table.server.stats();
    assert_eq!(stats.drops.of(DropReason::UnknownConnection), 0, "whoever came is known there");
    assert_eq!(table.handed_on(), 0, "nobody moved");

    // Every client gets the end, and one gets a message before.
    table.server.close(who[&5], code::KICKED, "out", Duration::ZERO).expect("it stands");
    table.step_until(|table| table.closed_there == 1 && table.refused == [code::KICKED]);
    let Table { server, mut pool, .. } = table;
    let goodbye = std::thread::spawn(move || server.shutdown(code::SHUTDOWN, "over", Duration::ZERO));
    let (mut told, end) = (0, Instant::now() + Duration::from_secs(20));
    while told < seats.len() - 1 {
        assert!(Instant::now() < end, "{told} were told");
        pool.drive(Duration::from_millis(1)).expect("it drives");
        while let Some(event) = pool.poll_event() {
            if let Event::Closed { close, .. } = event {
                assert_eq!((close.code, close.reason_text().as_ref()), (code::SHUTDOWN, "over"));
                told += 1;
            }
        }
    }
    goodbye.join().expect("it ends");
}

#[test]
fn a_client_whose_new_port_maps_to_another_shard_stays_connected() {
    for scheme in ["skip", "skip+plain"] {
        let mut table = Table::new(config(2));
        let client = table.seat(scheme);
        table.step_until(|table| table.guests.len() == 1 && table.connected.len() == 1);
        let guest = *table.guests.first().expect("one");
        let (mut sent, mut strayed, mut stayed) = (0, 0, 0);
        while strayed < 3 || stayed < 3 {
            assert!(strayed + stayed < 64, "{strayed} of its ports led to the other shard, {stayed} to its own");
            let (moves, handed_on) = (table.moves, table.handed_on());
            assert!(table.pool.rebind(client).expect("a socket"), "it stands");
            // Both talk while neither side knows yet.
            for _ in 0..20 {
                table.pool.send(client, CHANNEL, bytes(sent)).expect("it stands");
                table.server.send(guest, CHANNEL, bytes(sent)).expect("room");
                sent += 1;
            }
            table.server.flush().expect("it runs");
            let heard = |table: &Table| table.lines.get(&client).map_or(0, Vec::len);
            table.step_until(|table| {
                table.moves > moves && table.heard.len() == sent as usize && heard(table) == sent as usize
            });
            let has_strayed = table.handed_on() > handed_on;
            *if has_strayed { &mut strayed } else { &mut stayed } += 1;
        }
        assert!(table.heard.iter().copied().eq((0..sent).map(|number| (guest, number))), "in order, each once");
        assert!(table.lines[&client].iter().copied().eq(0..sent), "in order, each once");
        assert_eq!((table.closed_there, table.refused.len(), table.guests.len()), (0, 0, 1));
        let moves = || table.server.stats().paths_changed as usize;
        assert!(crate::eventually(|| moves() == table.moves), "{} of {}", moves(), table.moves);
        assert_eq!(table.server.driver_stats().misrouted.dropped, 0);
    }
}

#[test]
fn the_client_limit_applies_to_all_shards_together() {
    let mut table = Table::new(ServerConfig { connections_max: 10, ..config(2) });
    for seat in 1..=30 {
        table.seat(if seat % 3 == 0 { "ws" } else { "skip+plain" });
        table.step_until(|table| table.connected.len() + table.refused.len() == seat);
        assert_eq!(table.connected.len(), seat.min(10));
    }
    assert_eq!(table.refused, vec![code::FULL; 20]);
    let seen = || table.server.shards().iter().map(|shard| shard.clients).sum::<usize>();
    assert!(crate::eventually(|| seen() == 10), "{}", seen());
    // A client that leaves makes room, whichever shard the next one comes to.
    for _ in 0..2 {
        let (leaver, closed) = (*table.guests.first().expect("ten"), table.closed_there);
        table.server.close(leaver, code::NONE, "", Duration::ZERO).expect("it stands");
        table.step_until(|table| table.closed_there > closed && table.connected.len() == 9);
        // A server keeps the place of a client that left until it has received the CLOSE.
        while table.connected.len() < 10 {
            let refused = table.refused.len();
            table.seat("skip+plain");
            table.step_until(|table| table.connected.len() == 10 || table.refused.len() > refused);
        }
    }
}

#[test]
fn shards_do_not_take_another_servers_port() {
    let first = Server::start(config(2)).expect("a port is free");
    for shards in [1, 2] {
        let again = Server::start(ServerConfig { listen: Some(first.local_addr()), ..config(shards) });
        let sentence = again.expect_err("it is taken").to_string();
        assert!(sentence.contains("the port is in use"), "{sentence}");
    }
}

#[test]
fn impossible_shard_settings_are_refused_with_a_remedy() {
    let start = |shards, threading| match Server::start(ServerConfig { threading, ..config(shards) }) {
        Err(StartError::Shards(error)) => Some(error),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    };
    assert_eq!(start(2, Threading::Stepped), Some(ShardsError::Stepped));
    assert_eq!(start(0, Threading::Background), Some(ShardsError::Count(0)));
    assert_eq!(start(257, Threading::Background), Some(ShardsError::Count(257)));
    assert_eq!(start(1, Threading::Stepped), None);
    assert!(ShardsError::Stepped.to_string().contains("use 1 shard"));
}
