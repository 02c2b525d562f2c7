//! A host that has not proven its address, or has no connection, gets few resources and not for long.

use super::*;
use quinn_proto::Dir;
use std::num::Wrapping;

fn host() -> Host {
    Host::new(Config::server(Default::default()))
}

/// A client's first datagrams, each time of another client.
fn hello() -> Vec<Vec<u8>> {
    page(START).datagrams(instant(START))
}

/// Numbers that look like chance (xorshift).
struct Noise(Wrapping<u64>);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.0
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}

#[test]
fn a_flood_begins_32_handshakes_and_all_others_must_prove_their_address() {
    let (mut host, brought) = (host(), hello().iter().map(Vec::len).sum::<usize>());
    for number in 0..1_000 {
        for datagram in &hello() {
            host.take(START, address(number), &mut datagram.clone());
            let bytes: usize = host.said().iter().map(|(_, answer)| answer.len()).sum();
            assert!(bytes <= 3 * datagram.len(), "{number}: {bytes}");
            assert!((number as usize) < LIMITS.strangers || bytes < datagram.len() / 4, "{number}: {bytes}");
        }
        host.end_round(START);
    }
    let stats = host.guests.stats();
    assert_eq!((stats.begun, stats.open), (LIMITS.strangers as u64, LIMITS.strangers as u64));
    assert!(stats.retries >= 1_000 - LIMITS.strangers as u64);
    assert_eq!(stats.displaced, 0, "whoever has a place keeps it");
    // They are not notified repeatedly, and leave no state.
    let mut told = 0;
    for millisecond in 0..12_000 {
        told +=
            host.step(START + Duration::from_millis(millisecond)).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    }
    assert!(told <= 3 * brought * LIMITS.strangers, "{told}");
    assert_eq!((host.guests.stats().open, host.guests.poll_timeout()), (0, Time::NEVER));
    assert!(host.guests.by_handle.is_empty() && host.guests.quic.open_connections() == 0);
}

#[test]
fn a_page_joins_during_a_flood_by_proving_its_address() {
    let (mut host, mut now, mut client) = (host(), START, page(START));
    for round in 0..200_u32 {
        now += Duration::from_millis(5);
        (0..10).for_each(|number| host.take(now, address(round * 10 + number), &mut hello()[0]));
        exchange(&mut host, now, address(0xC000_0201), &mut client, 1);
    }
    assert_eq!(client.granted, Some(true), "{:?}", client.lost);
}

#[test]
fn one_network_may_have_64_sessions_without_a_connection() {
    let (mut host, mut clients) = (host(), Vec::new());
    for number in 0..80 {
        // Few per second, so that the budget of handshakes does not limit them.
        let now = START + Duration::from_millis(40) * number;
        let (from, mut client) = (address(0xC000_0200 + number), page(now));
        exchange(&mut host, now, from, &mut client, 8);
        clients.push(client);
    }
    let granted = clients.iter().filter(|client| client.granted == Some(true)).count();
    assert_eq!(granted, LIMITS.network as usize);
    assert_eq!(host.guests.stats().displaced, 80 - u64::from(LIMITS.network));
    let (now, mut other) = (START + Duration::from_millis(3_300), page(START + Duration::from_millis(3_300)));
    exchange(&mut host, now, address(0x0A00_0001), &mut other, 8);
    assert_eq!(other.granted, Some(true));
}

#[test]
fn handshakes_are_charged_to_their_network() {
    let (mut host, mut granted) = (host(), 0);
    // One address begins handshakes that fail, as fast as it can. Beyond the places for unproven addresses, each has to
    // prove itself.
    for number in 0..400_u32 {
        let from = SocketAddr::from(([192, 0, 2, 1], 1_000 + number as u16));
        let mut client = page(START);
        exchange(&mut host, START, from, &mut client, 8);
        granted += usize::from(client.granted == Some(true));
        client.abort(instant(START));
        exchange(&mut host, START, from, &mut client, 2);
    }
    // Clients that need no proof have their own limit: a burst of 32.
    assert!((32..=48).contains(&granted), "{granted}");
    assert_eq!(host.guests.stats().open, 0);
}

#[test]
fn garbage_with_any_first_byte_is_dropped_and_answered_with_less() {
    let (mut host, mut noise) = (host(), Noise(Wrapping(0x5EED)));
    let mut now = START;
    for first in 64..=255_u8 {
        for length in [1, 2, 8, 20, 21, 40, 64, 300, 1_199, 1_200, 1_252, 1_472, 9_000] {
            now += Duration::from_millis(1);
            let mut datagram = noise.bytes(length);
            datagram[0] = first;
            for version in [None, Some([0, 0, 0, 1]), Some([0, 0, 0, 0]), Some([0x1A, 0x2A, 0x3A, 0x4A])] {
                if let (Some(version), Some(place)) = (version, datagram.get_mut(1..5)) {
                    place.copy_from_slice(&version);
                    datagram.get_mut(5..6).into_iter().for_each(|length| length[0] = 8);
                }
                host.take(now, address(7), &mut datagram.clone());
                let bytes: usize = host.said().iter().map(|(_, answer)| answer.len()).sum();
                assert!(bytes <= length, "{first} {length}: {bytes}");
            }
        }
    }
    assert_eq!((host.guests.stats().open, host.guests.stats().begun), (0, 0));
    assert!(host.guests.stats().dropped > 1_000);
}

#[test]
fn damaged_and_duplicated_copies_of_a_players_datagrams_block_no_client() {
    let mut noise = Noise(Wrapping(0xBAD));
    let mut world = World::new(1, Config::server(Default::default()), link());
    for step in 0..3_000 {
        world.now += MILLISECOND;
        let now = world.now;
        let at = Duration::from_micros(now.as_micros());
        let mut bytes = Vec::new();
        while world.link.up.receive(at, &mut bytes).is_some() {
            // An attacker on the path sends a damaged copy first, from the same address.
            let mut damaged = bytes.clone();
            for _ in 0..1 + noise.next() % 3 {
                let place = noise.next() as usize % damaged.len();
                damaged[place] ^= 1 << (noise.next() % 8);
            }
            damaged.truncate(damaged.len() - noise.next() as usize % 3 * damaged.len() / 4);
            // The first byte tells carriers apart; other carriers are not tested here.
            damaged[0] |= 0x40;
            // The keys of the first datagram of a connection are public: a host that changes the datagram keeps the
            // client out.
            if step > 30 {
                world.host.take(now, world.player.address, &mut damaged);
            }
            world.host.take(now, world.player.address, &mut bytes.clone());
            world.host.take(now, world.player.address, &mut bytes);
        }
        world.step();
    }
    assert!(world.player.is_connected && world.host.closes.is_empty(), "{:?}", world.player.closes);
    assert_eq!(world.host.guests.stats().open, 1);
}

#[test]
fn a_session_without_a_connection_ends_after_five_seconds() {
    let (mut host, mut client, mut now) = (host(), page(START), START);
    exchange(&mut host, now, address(1), &mut client, 8);
    assert_eq!(client.granted, Some(true));
    for _ in 0..48 {
        // Content of any kind that is not an OPEN.
        client.send(b"hello?");
        exchange_for(&mut host, &mut now, Duration::from_millis(100), address(1), &mut client);
    }
    assert_eq!((host.guests.stats().open, client.is_session_over), (1, false));
    exchange_for(&mut host, &mut now, Duration::from_millis(400), address(1), &mut client);
    assert!(client.is_session_over);
    assert_eq!((host.guests.stats().open, host.guests.poll_timeout()), (0, Time::NEVER));
}

#[test]
fn a_client_that_requests_nothing_or_stalls_is_forgotten_after_ten_seconds() {
    let (mut host, mut now) = (host(), START);
    let mut silent = Page::saying(instant(now), SERVER, Vec::new(), Vec::new());
    exchange_for(&mut host, &mut now, HANDSHAKE_LIFE - Duration::from_secs(1), address(1), &mut silent);
    assert_eq!(host.guests.stats().open, 1);
    exchange_for(&mut host, &mut now, Duration::from_secs(2), address(1), &mut silent);
    assert_eq!((host.guests.stats().open, host.guests.poll_timeout()), (0, Time::NEVER));
    assert!(silent.lost.is_some(), "it was told");
    let mut late = page(now);
    for mut datagram in late.datagrams(instant(now)) {
        host.take(now, address(1), &mut datagram);
    }
    let end = now + HANDSHAKE_LIFE;
    while host.guests.poll_timeout() < Time::NEVER {
        now = host.guests.poll_timeout();
        host.step(now);
    }
    assert!(now >= end && now < end + MILLISECOND && host.guests.stats().open == 0);
}

#[test]
fn a_client_may_change_its_port_and_stays_the_same_player() {
    let mut world = World::new(1, Config::server(Default::default()), link());
    world.connect();
    world.player.address = (0xC000_0201_u32.to_be_bytes(), 5_999).into();
    let (now, peer) = (world.now, world.player.peer);
    world.player.endpoint.send(now, peer, 0, Bytes::from_static(b"I moved"), MessageId(0)).expect("room");
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.host.got, [(0, Bytes::from_static(b"I moved"))]);
    let (now, peer) = (world.now, world.host.peer.expect("it is there"));
    world.host.endpoint.send(now, peer, 0, Bytes::from_static(b"I see"), MessageId(0)).expect("room");
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.player.got, [(0, Bytes::from_static(b"I see"))]);
    assert!(world.player.closes.is_empty() && world.host.closes.is_empty());
}

#[test]
fn a_draining_server_begins_no_handshake_and_ends_none() {
    let (mut host, now) = (Host::new(Config::server(Default::default())), START);
    let mut first = page(now);
    exchange(&mut host, now, address(1), &mut first, 8);
    host.guests.stop_inviting();
    let mut second = page(now);
    exchange(&mut host, now, address(2), &mut second, 8);
    assert_eq!((first.granted, second.granted), (Some(true), None));
    assert_eq!((host.guests.stats().begun, host.guests.stats().open), (1, 1));
    assert!(host.guests.stats().dropped > 0);
}

/// Bytes held by the sessions of a host.
fn held_bytes(host: &Host) -> usize {
    host.guests.guests.values().map(|guest| guest.session.held_bytes()).sum()
}

/// Streams whose first byte never comes, and then one byte in each datagram.
#[test]
fn streams_without_their_first_byte_hold_little_and_are_refused() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    let before = held_bytes(&host);
    let mut most = 0;
    for _ in 0..9 {
        let Some(id) = client.open(Dir::Uni, &[0]) else { break };
        // The datagram with the first byte is lost, and nothing is acknowledged after that.
        drop(client.datagrams(instant(START)));
        for at in 1..200_u8 {
            client.quic.send_stream(id).write(&[at]).expect("room");
            for mut datagram in client.datagrams(instant(START)) {
                host.take(START, address(1), &mut datagram);
                most = most.max(held_bytes(&host) - before);
            }
        }
    }
    assert!((3_000..40_000).contains(&most), "{most} held");
    host.step(START);
    assert!(host.guests.stats().refused >= 2, "{:?}", host.guests.stats());
    assert_eq!(held_bytes(&host), before, "they are given up");
}

#[test]
fn a_stream_without_a_type_is_refused_in_time() {
    let (mut host, mut now, mut client) = (host(), START, page(START));
    exchange_for(&mut host, &mut now, Duration::from_millis(100), address(1), &mut client);
    let id = client.open(Dir::Uni, &[0x40]).expect("it may");
    exchange_for(&mut host, &mut now, Duration::from_millis(2_800), address(1), &mut client);
    assert_eq!(client.stopped, []);
    exchange_for(&mut host, &mut now, Duration::from_millis(400), address(1), &mut client);
    assert_eq!(client.stopped, [(id, u64::from(EXCESSIVE_LOAD))]);
}

/// A client may cost a tenth of a core, and an unproven one a hundredth; datagrams beyond that are dropped.
#[test]
fn a_session_is_limited_to_a_tenth_of_a_core_and_its_other_datagrams_are_dropped() {
    let (mut host, mut now, mut client) = (host(), START, page(START));
    exchange(&mut host, now, address(1), &mut client, 8);
    for _ in 0..10_000 {
        client.send(&[7; 30]);
        exchange(&mut host, now, address(1), &mut client, 1);
    }
    let at_once = host.delivered;
    assert!((3_000..7_000).contains(&at_once), "{at_once}");
    assert!(host.guests.stats().dropped > 100, "{:?}", host.guests.stats());
    // Another client is not affected, and this one gets answers again.
    let mut other = page(now);
    exchange(&mut host, now, address(2), &mut other, 8);
    assert_eq!(other.granted, Some(true));
    exchange_for(&mut host, &mut now, Duration::from_millis(500), address(1), &mut client);
    let before = host.delivered;
    for _ in 0..100 {
        client.send(&[7; 30]);
        exchange_for(&mut host, &mut now, Duration::from_millis(5), address(1), &mut client);
    }
    assert!(host.delivered >= before + 100, "{}", host.delivered - before);
}

/// Pages that have proven their addresses and arrive at one time are accepted over many rounds.
#[test]
fn a_round_begins_few_handshakes_and_the_rest_wait() {
    let mut host = host();
    let mut clients: Vec<Page> = (0..60).map(|_| page(START)).collect();
    let from = |at: usize| address(0x0A00_0000 + (at as u32) * 256);
    // The first flights: 32 begin at once, because nothing is known of them; the others are asked for a proof.
    let mut begun = Vec::new();
    for _ in 0..20 {
        let before = host.guests.stats().begun;
        for (at, client) in clients.iter_mut().enumerate() {
            client.handle_timeout(instant(START));
            client.datagrams(instant(START)).iter_mut().for_each(|datagram| host.take(START, from(at), datagram));
        }
        host.endpoint.handle_timeout(START);
        for (to, datagram) in host.step(START) {
            let at = (0..clients.len()).find(|at| from(*at) == to).expect("it is one of them");
            clients[at].handle(instant(START), SERVER, &datagram);
        }
        begun.push(host.guests.stats().begun - before);
    }
    assert!(begun[1..].iter().all(|count| *count <= 16), "{begun:?}");
    assert!(clients.iter().all(|client| client.granted == Some(true)), "{begun:?}");
}

/// Whether the streams of the one client have the limits of a player.
fn has_players_limits(host: &Host) -> bool {
    host.guests.guests.values().all(|guest| guest.session.is_player)
}

#[test]
fn streams_of_a_client_have_the_limits_of_a_player_once_the_server_accepts_it() {
    let mut world = World::new(1, Config::server(Default::default()), link());
    world.host.accepts = false;
    world.run_for(Duration::from_secs(2));
    let number = *world.host.guests.guests.keys().next().expect("it is there");
    let peer = world.host.endpoint.peer_of_stream(number).expect("it asks");
    assert!(!world.host.endpoint.is_player(peer) && !has_players_limits(&world.host));
    assert!(world.host.endpoint.accept(world.now, peer));
    world.run_for(Duration::from_secs(1));
    assert!(world.player.is_connected && has_players_limits(&world.host));
}
