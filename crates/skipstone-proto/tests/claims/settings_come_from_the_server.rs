//! A client knows none of the server's settings beforehand and keeps to all of them.

use crate::simulation::{World, link, ms};
use skipstone_proto::MessageId;
use skipstone_proto::{ChannelRule, DeliveryMode, Merging, Settings};
use skipstone_proto::{Config, SendError};

fn settings() -> Settings {
    Settings {
        idle_timeout: ms(7_000),
        keepalive: ms(1_234),
        message_bytes_max: 500,
        datagram_bytes_max: 300,
        merging: Merging::Flush,
        channels: vec![ChannelRule { weight: 9, ..ChannelRule::new(5..=6, DeliveryMode::ReliableUnordered) }],
        ..Settings::default()
    }
}

#[test]
fn the_client_applies_them() {
    let mut world = World::new(1, Config::server(settings()), &[link(10)]);
    world.connect();
    let peer = world.clients[0].peer();
    assert_eq!(*world.clients[0].endpoint.settings(peer).expect("it is connected"), settings());
    let now = world.now;
    let mut send =
        |channel, length| world.clients[0].endpoint.send(now, peer, channel, vec![0; length].into(), MessageId(0));
    assert_eq!(send(5, 501), Err(SendError::TooLong { bytes_max: 500 }));
    assert_eq!(send(7, 1), Err(SendError::NoSuchChannel));
    assert_eq!(send(5, 500), Ok(()));
    world.run_for(ms(1_000));
    assert_eq!(world.server.messages(5).len(), 0, "the client merges until a flush");
    world.clients[0].endpoint.flush(world.now);
    world.run_for(ms(1_000));
    assert_eq!(world.server.messages(5).len(), 1);
}

#[test]
fn a_clients_own_merging_is_not_overridden() {
    let mut world = World::new(1, Config::server(settings()), &[link(10)]);
    let peer = skipstone_proto::PeerId { index: 0, generation: 0 };
    world.clients[0].endpoint.set_merging(peer, Merging::Immediate);
    world.connect();
    world.clients[0].send(world.now, 5, b"now".to_vec());
    world.run_for(ms(50));
    assert_eq!(world.server.messages(5).len(), 1);
}

#[test]
fn changing_the_merging_sends_waiting_messages() {
    for merging in [Merging::Immediate, Merging::After(ms(5)), Merging::Flush] {
        let mut world = World::new(1, Config::server(settings()), &[link(10)]);
        world.connect();
        world.clients[0].send(world.now, 5, b"waits".to_vec());
        let peer = world.clients[0].peer();
        world.clients[0].endpoint.set_merging(peer, merging);
        world.run_for(ms(50));
        assert_eq!(world.server.messages(5).len(), 1, "{merging:?}");
    }
}
