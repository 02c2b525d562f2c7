//! An endpoint has a limit of connections, and says so to whoever comes after.

use crate::simulation::{World, link, ms, seed_bytes};
use skipstone_proto::Time;
use skipstone_proto::{ClosedBy, Config, ConnectError, DropReason, Endpoint, Event, code};

#[test]
fn and_has_room_again_when_somebody_leaves() {
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
fn as_does_one_whose_ids_are_used_up() {
    let shard = skipstone_proto::Shard { index: 3, bits: 8 };
    let mut endpoint = Endpoint::new(Config { shard, ..Config::client() }, seed_bytes(1)).expect("good");
    let path = World::pair(1, link(1)).path_to_server(0);
    let outcomes: Vec<_> = (0..40_000).map(|_| endpoint.connect(Time::ZERO, path, b"")).collect();
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1 << 15);
    assert_eq!(outcomes.last(), Some(&Err(ConnectError::Full)));
}

/// A server with one place, and clients that begin to connect when the test says so.
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
fn a_client_that_is_refused_again_and_again_takes_no_place() {
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
fn a_client_that_is_accepted_after_the_last_place_is_taken_hears_that_the_server_is_full() {
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
