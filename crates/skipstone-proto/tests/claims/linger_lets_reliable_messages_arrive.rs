//! A connection that is closed with time to linger delivers reliable messages first, and ends at once afterwards.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::SendError;
use skipstone_proto::{DeliveryMode, Merging};

#[test]
fn all_messages_arrive_through_loss() {
    for seed in 0..20 {
        let mut config = server_of(DeliveryMode::ReliableOrdered);
        config.settings.merging = [Merging::Immediate, Merging::Flush, Merging::After(ms(500))][seed as usize % 3];
        let mut world = World::new(seed, config, &[LinkConfig { loss: Loss::Random(0.1), ..link(20) }]);
        world.connect();
        for number in 0..100 {
            world.clients[0].send(world.now, 0, vec![number; 1_000]);
        }
        let peer = world.clients[0].peer();
        world.clients[0].endpoint.close(world.now, peer, 9, "done", ms(10_000));
        assert_eq!(world.clients[0].send_to(world.now, peer, 0, vec![0]), Err(SendError::NotConnected));
        world.run_for(ms(9_000));
        assert_eq!(world.server.messages(0).len(), 100, "seed {seed}");
        assert_eq!((world.server.closes()[0].code, world.clients[0].closes()[0].code), (9, 9));
        assert!(world.clients[0].fates().iter().all(|(_, why)| why.is_none()));
    }
}

#[test]
fn the_linger_time_is_not_exceeded() {
    let mut world = World::pair(1, link(20));
    world.connect();
    world.lose(|is_up, _| is_up);
    world.clients[0].send(world.now, 0, vec![1]);
    let (peer, begin) = (world.clients[0].peer(), world.now);
    world.clients[0].endpoint.close(world.now, peer, 9, "done", ms(2_000));
    world.run_for(ms(6_000));
    let ended = world.clients[0].events.last().expect("an event").0.since(begin);
    assert!(ended >= ms(2_000) && ended <= ms(5_000), "{ended:?}");
}

#[test]
fn a_close_without_pending_messages_is_immediate() {
    let mut world = World::pair(1, link(20));
    world.connect();
    let (peer, begin) = (world.clients[0].peer(), world.now);
    world.clients[0].endpoint.close(world.now, peer, 9, "done", ms(2_000));
    world.run_for(ms(1_000));
    let ended = world.clients[0].events.last().expect("an event").0.since(begin);
    assert_eq!(ended, ms(40), "a round trip");
}

#[test]
fn messages_from_the_peer_are_delivered_meanwhile() {
    let mut world = World::pair(1, link(20));
    world.connect();
    world.clients[0].send(world.now, 0, vec![0; 200_000]);
    let peer = world.clients[0].peer();
    world.clients[0].endpoint.close(world.now, peer, 9, "done", ms(5_000));
    world.server.send(world.now, 1, vec![1]);
    world.run_for(ms(3_000));
    assert_eq!((world.server.messages(0).len(), world.clients[0].messages(1).len()), (1, 1));
}
