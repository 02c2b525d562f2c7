//! A refused client learns the reason: from the application, and from an endpoint that is full.

use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::{ClosedBy, Config, Event};

#[test]
fn even_through_loss() {
    for seed in 0..20 {
        let bad = LinkConfig { loss: Loss::Random(0.2), ..link(20) };
        let mut world = World::new(seed, Config::server(Default::default()), &[bad.clone(), bad]);
        world.refuses = vec![1];
        world.run_for(ms(9_000));
        let close = world.clients[1].closes()[0].clone();
        assert_eq!((close.by, close.code, &*close.reason_text()), (ClosedBy::Peer, 77, "not you"), "seed {seed}");
        let is_connected = |event: &Event| matches!(event, Event::Connected { .. });
        assert!(!world.clients[1].events.iter().any(|(_, event)| is_connected(event)));
        assert_eq!(world.server.closes()[0].code, 77);
        assert_eq!(world.clients[0].closes().len(), 0, "the other stays");
        assert_eq!(world.server.endpoint.connection_count(), 1);
    }
}

#[test]
fn a_reason_of_any_length_is_truncated_at_a_character() {
    let mut world = World::pair(1, link(10));
    world.accepts = false;
    world.run_for(ms(200));
    let Event::Requested { peer, .. } = world.server.events[0].1 else { panic!("it asks") };
    let reason = "€".repeat(1_000);
    world.server.endpoint.refuse(world.now, peer, 78, &reason);
    world.run_for(ms(200));
    assert_eq!(world.clients[0].closes()[0].reason_text(), "€".repeat(170));
}

#[test]
fn an_accepted_client_cannot_be_accepted_again() {
    let mut world = World::pair(1, link(10));
    world.connect();
    let peer = world.server.peer();
    assert!(!world.server.endpoint.accept(world.now, peer));
}
