//! An endpoint has a limit of connections, and says so to whoever comes after.

use crate::simulation::{World, link, ms, seed_bytes};
use skipstone_proto::Time;
use skipstone_proto::{ClosedBy, Config, ConnectError, DropReason, Endpoint, code};

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
