//! An endpoint has a limit of connections, and refuses further clients with a reason.

use crate::simulation::{World, link, ms, seed_bytes};
use core::net::{IpAddr, SocketAddr};
use skipstone_proto::Time;
use skipstone_proto::{ClosedBy, Config, ConnectError, DropReason, Endpoint, Event, code};

#[test]
fn a_full_server_has_room_again_after_a_player_leaves() {
    let config = Config { connections_max: 1, ..Config::server(Default::default()) };
    let mut world = World::new(1, config, &[link(10), link(10)]);
    world.run_for(ms(1_000));
    let (inside, outside) = if world.clients[0].closes().is_empty() { (0, 1) } else { (1, 0) };
    let close = world.clients[outside].closes()[0].clone();
    assert_eq!((close.by, close.code), (ClosedBy::Peer, code::FULL));
    assert_eq!(close.reason_text(), "the server is full");
    assert!(world.server.drops(DropReason::Full) >= 1);
    let peer = world.clients[inside].peer();
    world.clients[inside].endpoint.close(world.now, peer, 0, "", ms(0));
    world.run_for(ms(1_000));
    let path = world.path_to_server(outside);
    world.clients[outside].endpoint.connect(world.now, path, b"").expect("it may try again");
    world.run_for(ms(1_000));
    world.clients[outside].peer();
}

#[test]
fn a_server_without_free_ids_is_full_too() {
    let shard = skipstone_proto::Shard { index: 3, bits: 8 };
    let mut endpoint = Endpoint::new(Config { shard, ..Config::client() }, seed_bytes(1)).expect("good");
    let path = World::pair(1, link(1)).path_to_server(0);
    let outcomes: Vec<_> = (0..40_000).map(|_| endpoint.connect(Time::ZERO, path, b"")).collect();
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1 << 15);
    assert_eq!(outcomes.last(), Some(&Err(ConnectError::Full)));
}

/// A server with one place, and clients that begin to connect at the test's call.
fn one_place(clients: usize, delay_ms: u64) -> World {
    let config = Config { connections_max: 1, ..Config::server(Default::default()) };
    let mut world = World::new(1, config, &vec![link(delay_ms); clients]);
    world.killed = (0..clients).collect();
    world
}

fn is_in(world: &World, at: usize) -> bool {
    world.clients[at].events.iter().any(|(_, event)| matches!(event, Event::Connected { .. }))
}

#[test]
fn a_place_is_free_as_soon_as_its_player_is_closed() {
    for (delay, is_kicked) in [1, 10, 50, 150].into_iter().flat_map(|delay| [(delay, false), (delay, true)]) {
        let mut world = one_place(2, delay);
        world.killed = vec![1];
        world.run_until_true(ms(2_000), |world| is_in(world, 0));
        world.run_for(ms(500));
        let now = world.now;
        if is_kicked {
            let peer = world.server.peer();
            world.server.endpoint.close(now, peer, 7, "time is up", ms(0));
        } else {
            let peer = world.clients[0].peer();
            world.clients[0].endpoint.close(now, peer, 0, "", ms(0));
            world.run_until_true(ms(1_000), |world| !world.server.closes().is_empty());
        }
        world.killed.clear();
        world.run_for(ms(6 * delay + 50));
        assert!(is_in(&world, 1), "{delay} ms, kicked {is_kicked}: {:?}", world.clients[1].closes());
    }
}

#[test]
fn a_closing_connection_takes_no_place() {
    let mut world = one_place(1, 150);
    world.killed.clear();
    world.run_until_true(ms(2_000), |world| is_in(world, 0));
    let (now, peer, path) = (world.now, world.server.peer(), world.path_to_server(0));
    let server = &mut world.server.endpoint;
    assert_eq!(server.connect(now, path, b""), Err(ConnectError::Full));
    server.close(now, peer, 7, "time is up", ms(0));
    server.connect(now, path, b"").expect("the place is free");
    assert_eq!((server.connection_count(), server.player_count()), (2, 1));
    assert_eq!(server.connect(now, path, b""), Err(ConnectError::Full));
    assert!(server.is_population_balanced());
}

#[test]
fn a_repeatedly_refused_client_takes_no_place() {
    for phase in 0..8 {
        let mut world = one_place(2, 50);
        (world.killed, world.refuses) = (vec![1], vec![0]);
        for half_second in 0..8 {
            world.run_for(ms(60 * phase));
            if half_second == 4 {
                world.killed.clear();
            }
            world.run_for(ms(500 - 60 * phase));
            let (now, path) = (world.now, world.path_to_server(0));
            world.clients[0].endpoint.connect(now, path, b"wrong").expect("it may try again");
        }
        let refusals = world.clients[0].closes().iter().filter(|close| close.code == 77).count();
        assert!(refusals > 3, "{refusals}");
        assert!(is_in(&world, 1), "phase {phase}: {:?}", world.clients[1].closes());
    }
}

#[test]
fn a_client_accepted_after_the_last_place_is_told_that_the_server_is_full() {
    let mut world = one_place(3, 10);
    world.killed.clear();
    world.run_for(ms(1_000));
    let outside: Vec<_> = (0..3).filter(|at| !is_in(&world, *at)).collect();
    assert_eq!(outside.len(), 2);
    for at in outside {
        let closes = world.clients[at].closes();
        assert_eq!((closes[0].code, closes[0].reason_text().as_ref()), (code::FULL, "the server is full"));
    }
    assert!(world.server.closes().iter().all(|close| close.by == ClosedBy::Local && close.code == code::FULL));
}

/// A server with as many places as `config` has, clients of `crowd` that have tried to get in, and then one client from
/// each of `others`.
fn crowded(config: Config, crowd: &[IpAddr], others: &[&str]) -> World {
    let mut world = World::new(1, config, &vec![link(1); crowd.len() + others.len()]);
    let others = others.iter().map(|ip| ip.parse().expect("an address"));
    for (at, ip) in crowd.iter().copied().chain(others).enumerate() {
        world.begin_at(at, SocketAddr::new(ip, 5_000 + at as u16));
    }
    world.killed = (crowd.len()..world.clients.len()).collect();
    world.run_for(ms(1_000));
    world.killed.clear();
    world.run_for(ms(1_000));
    world
}

/// Hosts of one network: this one and the following ones.
fn hosts(first: [u8; 4], count: u8) -> Vec<IpAddr> {
    let [a, b, c, d] = first;
    (0..count).map(|host| IpAddr::from([a, b, c, d + host])).collect()
}

fn places(connections_max: u32, players_of_network_max: Option<u32>) -> Config {
    Config { connections_max, players_of_network_max, ..Config::server(Default::default()) }
}

fn count_in(world: &World, among: core::ops::Range<usize>) -> usize {
    among.filter(|at| is_in(world, *at)).count()
}

#[test]
fn one_network_leaves_a_quarter_of_the_places_to_others() {
    let mut world =
        crowded(places(40, None), &hosts([203, 0, 113, 1], 60), &["198.51.100.1", "192.0.2.9", "2001:db8::1"]);
    assert_eq!((count_in(&world, 0..60), count_in(&world, 60..63)), (30, 3));
    let refused = (0..60).find(|at| !is_in(&world, *at)).expect("30 are not in");
    let close = world.clients[refused].closes()[0].clone();
    let reason = "the server has no more places for players of your network";
    assert_eq!((close.code, close.reason_text().as_ref()), (code::FULL, reason));
    assert_eq!((world.server.drops(DropReason::NetworkFull), world.server.drops(DropReason::Full)), (30, 0));
    assert!(world.server.endpoint.is_population_balanced());
}

#[test]
fn several_greedy_networks_leave_places_to_others() {
    for networks in [2, 3, 8] {
        let crowd: Vec<IpAddr> =
            (0..60).flat_map(|host| (0..networks).map(move |net| [203, 0, net, 1 + host].into())).collect();
        let world = crowded(places(100, None), &crowd, &["198.51.100.1", "192.0.2.9"]);
        let taken = count_in(&world, 0..crowd.len());
        assert!((70..98).contains(&taken), "{networks} networks take {taken}");
        assert_eq!(count_in(&world, crowd.len()..crowd.len() + 2), 2, "beside {networks} networks");
    }
}

#[test]
fn eight_players_of_one_network_fill_a_server_of_eight_places() {
    let world = crowded(places(8, None), &hosts([203, 0, 113, 7], 8), &[]);
    assert_eq!(count_in(&world, 0..8), 8);
}

#[test]
fn players_with_local_addresses_may_take_all_places() {
    for first in ["127.0.0.1", "10.0.0.7", "192.168.1.9", "fd00::7", "::1"] {
        let crowd = vec![first.parse().expect("an address"); 40];
        assert_eq!(count_in(&crowded(places(40, None), &crowd, &[]), 0..40), 40, "{first}");
    }
}

#[test]
fn a_configured_limit_per_network_applies_to_each_including_local_ones() {
    for first in ["203.0.113.1", "127.0.0.1"] {
        let crowd = vec![first.parse().expect("an address"); 10];
        let mut world = crowded(places(40, Some(3)), &crowd, &["198.51.100.1"]);
        assert_eq!((count_in(&world, 0..10), count_in(&world, 10..11)), (3, 1), "{first}");
        let (leaver, refused) = ((0..10).find(|at| is_in(&world, *at)), (0..10).find(|at| !is_in(&world, *at)));
        let (leaver, refused) = (leaver.expect("3 are in"), refused.expect("7 are not"));
        let peer = world.clients[leaver].peer();
        world.clients[leaver].endpoint.close(world.now, peer, 0, "", ms(0));
        world.run_for(ms(100));
        let path = world.path_to_server(refused);
        world.clients[refused].endpoint.connect(world.now, path, b"").expect("it may try again");
        world.run_for(ms(1_000));
        assert!(is_in(&world, refused), "there is room again");
    }
}

#[test]
fn clients_accepted_after_their_networks_last_place_is_taken_are_told_so() {
    let mut world = World::new(1, places(40, Some(2)), &vec![link(10); 5]);
    world.accepts = false;
    world.run_for(ms(500));
    world.accepts = true;
    let now = world.now;
    let asked: Vec<_> =
        world.server.events.iter().filter(|(_, event)| matches!(event, Event::Requested { .. })).collect();
    let asked: Vec<_> = asked.into_iter().map(|(_, event)| event.peer()).collect();
    let accepted: Vec<bool> = asked.iter().map(|peer| world.server.endpoint.accept(now, *peer)).collect();
    assert_eq!(accepted, [true, true, false, false, false]);
    world.run_for(ms(500));
    assert_eq!((count_in(&world, 0..5), world.server.drops(DropReason::NetworkFull)), (2, 3));
}
