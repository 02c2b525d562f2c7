//! On channels with receipts every message has one fate: acknowledged, or given up and why.

use crate::simulation::{World, bare_server_of, link, ms, server_of};
use skipstone_proto::GivenUp;
use skipstone_proto::{DeliveryMode, Overflow};

fn world(mode: DeliveryMode) -> World {
    let mut world = World::new(1, server_of(mode), &[link(10)]);
    world.connect();
    world
}

#[test]
fn acknowledged_when_the_peer_has_received_it() {
    for mode in 0..5 {
        let mut world = world(mode.try_into().expect("a mode"));
        let small = world.clients[0].send(world.now, 0, vec![1; 10]);
        world.run_for(ms(15));
        assert_eq!(world.clients[0].fates(), [], "not before the acknowledgement is back");
        world.run_for(ms(15));
        let large = world.clients[0].send(world.now, 0, vec![1; 10_000]);
        world.run_for(ms(100));
        assert_eq!(world.clients[0].fates(), [(small, None), (large, None)], "mode {mode}");
    }
}

#[test]
fn lost_when_an_unreliable_message_is_lost() {
    for mode in [DeliveryMode::Unreliable, DeliveryMode::UnreliableSequenced] {
        for length in [10, 5_000] {
            let mut world = World::new(1, bare_server_of(mode), &[link(10)]);
            world.connect();
            let mut count = 0;
            world.lose(move |is_up, _| {
                count += u32::from(is_up);
                is_up && count == 1
            });
            let lost = world.clients[0].send(world.now, 0, vec![1; length]);
            world.run_for(ms(1));
            let next = world.clients[0].send(world.now, 0, vec![2; 10]);
            world.run_for(ms(1_000));
            let mut fates = world.clients[0].fates();
            fates.sort_by_key(|(id, _)| *id);
            assert_eq!(fates, [(lost, Some(GivenUp::Lost)), (next, None)], "{mode:?} {length}");
        }
    }
}

#[test]
fn suspicion_is_not_loss() {
    let mut world = world(DeliveryMode::Unreliable);
    for _ in 0..20 {
        world.clients[0].send(world.now, 0, vec![1]);
        world.run_for(ms(20));
    }
    world.relink(&link(300));
    let late = world.clients[0].send(world.now, 0, vec![2]);
    world.run_for(ms(2_000));
    assert!(world.clients[0].overview().stats.probes > 0, "it was suspected");
    assert!(world.clients[0].fates().contains(&(late, None)));
}

#[test]
fn superseded_dropped_or_closed() {
    let mut config = server_of(DeliveryMode::ReliableSequenced);
    let mut dropping = config.settings.channels[0].clone();
    (dropping.first, dropping.last, dropping.mode) = (1, 1, DeliveryMode::ReliableOrdered);
    (dropping.overflow, dropping.queue_messages_max) = (Overflow::DropOldest, 2);
    (config.settings.channels[0].first, config.settings.channels[0].last) = (0, 0);
    config.settings.channels.push(dropping);
    let mut world = World::new(1, config, &[link(10)]);
    world.connect();
    let older = world.clients[0].send(world.now, 0, vec![1]);
    let newer = world.clients[0].send(world.now, 0, vec![2]);
    let ids: Vec<_> = (0..4).map(|number| world.clients[0].send(world.now, 1, vec![number])).collect();
    let peer = world.clients[0].peer();
    world.clients[0].endpoint.close(world.now, peer, 0, "", ms(0));
    world.run_for(ms(100));
    let mut fates = world.clients[0].fates();
    fates.sort_by_key(|(id, _)| *id);
    let expected = [
        (older, Some(GivenUp::Superseded)),
        (newer, Some(GivenUp::Closed)),
        (ids[0], Some(GivenUp::Dropped)),
        (ids[1], Some(GivenUp::Dropped)),
        (ids[2], Some(GivenUp::Closed)),
        (ids[3], Some(GivenUp::Closed)),
    ];
    assert_eq!(fates, expected);
}

#[test]
fn a_closing_side_acknowledges_nothing() {
    let mut world = world(DeliveryMode::ReliableUnordered);
    let mut count = 0;
    world.lose(move |is_up, _| {
        count += u32::from(!is_up);
        !is_up && count < 3
    });
    let peer = world.server.peer();
    world.server.endpoint.close(world.now, peer, 0, "", ms(0));
    let id = world.clients[0].send(world.now, 0, vec![1]);
    world.run_for(ms(5_000));
    assert_eq!(world.server.messages(0).len(), 0);
    assert_eq!(world.clients[0].fates(), [(id, Some(GivenUp::Closed))]);
}

#[test]
fn messages_with_the_last_ack_of_a_lingering_side_are_delivered() {
    let mut world = world(DeliveryMode::ReliableUnordered);
    world.server.send(world.now, 0, vec![1]);
    let peer = world.server.peer();
    world.server.endpoint.close(world.now, peer, 0, "", ms(1_000));
    // The acknowledgement waits for another packet, and leaves with it.
    world.run_for(ms(11));
    let id = world.clients[0].send(world.now, 0, vec![2]);
    world.run_for(ms(3_000));
    let delivered = world.server.messages(0).len();
    let acknowledged = world.clients[0].fates() == [(id, None)];
    assert_eq!((delivered, acknowledged), (1, true));
}
