//! Merging: messages that leave at once, that wait for others and for how long, and that wait for a flush.

use crate::simulation::{World, link, ms, no_redundancy};
use skipstone_proto::Config;
use skipstone_proto::Duration;
use skipstone_proto::{Merging, Settings};

fn world(merging: Merging) -> World {
    let mut world = World::new(
        1,
        Config::server(Settings { merging, redundancy: no_redundancy(), ..Settings::default() }),
        &[link(10)],
    );
    world.connect();
    world.run_for(ms(1_000));
    world
}

/// Datagrams towards the server since the last time.
fn datagrams(world: &World, before: &mut u64) -> u64 {
    let sent = world.sent[0].0;
    core::mem::replace(before, sent).abs_diff(sent)
}

#[test]
fn immediate_merging_sends_one_packet_per_poll() {
    let mut world = world(Merging::Immediate);
    let mut before = world.sent[0].0;
    for channel in 0..50 {
        world.clients[0].send(world.now, channel, vec![0; 12]);
    }
    world.run_for(ms(5));
    assert_eq!(datagrams(&world, &mut before), 1);
    world.run_for(ms(10));
    assert_eq!((0..50).map(|channel| world.server.messages(channel).len()).sum::<usize>(), 50);
}

#[test]
fn delayed_merging_sends_after_its_delay_every_time() {
    let mut world = world(Merging::After(ms(5)));
    let mut before = world.sent[0].0;
    for round in 1..=5 {
        for _ in 0..4 {
            world.clients[0].send(world.now, 0, vec![0; 12]);
            world.run_for(ms(1));
        }
        assert_eq!(datagrams(&world, &mut before), 0, "round {round}: too early");
        world.run_for(Duration::from_micros(1_200));
        assert_eq!(datagrams(&world, &mut before), 1, "round {round}");
        world.run_for(ms(500));
        assert_eq!(world.server.messages(0).len(), round * 4);
        before = world.sent[0].0;
    }
}

#[test]
fn a_full_datagram_is_sent_before_the_delay() {
    let mut world = world(Merging::After(ms(1_000)));
    for _ in 0..9 {
        world.clients[0].send(world.now, 0, vec![0; 130]);
    }
    world.run_for(ms(20));
    assert_eq!(world.server.messages(0).len(), 0);
    world.clients[0].send(world.now, 0, vec![0; 130]);
    world.run_for(ms(20));
    assert_eq!(world.server.messages(0).len(), 10);
}

#[test]
fn flush_merging_sends_only_at_the_next_flush() {
    let mut world = world(Merging::Flush);
    for round in 1..=3 {
        world.clients[0].endpoint.flush(world.now);
        world.clients[0].send(world.now, 0, vec![0; 12]);
        world.clients[0].send(world.now, 1, vec![0; 12]);
        world.run_for(ms(500));
        assert_eq!(world.server.messages(0).len(), round - 1, "it waits");
        world.clients[0].endpoint.flush(world.now);
        world.run_for(ms(500));
        assert_eq!((world.server.messages(0).len(), world.server.messages(1).len()), (round, round));
    }
}

#[test]
fn messages_blocked_by_the_window_do_not_keep_the_driver_awake() {
    let mut world = world(Merging::After(Duration::from_micros(200)));
    world.relink(&link(1_000));
    for _ in 0..400 {
        world.clients[0].send(world.now, 0, vec![0; 1_000]);
    }
    world.run_for(ms(100));
    assert!(world.clients[0].overview().depth.messages > 300, "the path is full");
    assert!(world.clients[0].endpoint.poll_timeout() > world.now);
    let before = world.clients[0].endpoint.work();
    world.run_for(ms(500));
    let after = world.clients[0].endpoint.work();
    assert!(after.transmits - before.transmits < 20, "{before:?} {after:?}");
    world.run_for(ms(60_000));
    assert_eq!(world.server.messages(0).len(), 400);
}

#[test]
fn a_blocked_stream_does_not_keep_the_driver_awake() {
    let carrier = skipstone_proto::Carrier::WEBSOCKET;
    let mut world = World::on(carrier, 1, Config::server(Settings::default()), &[link(10)]);
    world.connect();
    world.server.endpoint.set_writable(0, false);
    world.server.send(world.now, 0, vec![0; 12]);
    world.clients[0].send(world.now, 0, vec![0; 12]);
    world.run_for(ms(200));
    assert!(world.server.endpoint.poll_timeout() > world.now);
    let before = world.server.endpoint.work();
    world.run_for(ms(1_000));
    let after = world.server.endpoint.work();
    assert!(after.transmits - before.transmits <= 52, "{before:?} {after:?}");
    assert_eq!(world.clients[0].messages(0).len(), 0);
    world.server.endpoint.set_writable(0, true);
    world.run_for(ms(100));
    assert_eq!(world.clients[0].messages(0).len(), 1);
}

#[test]
fn a_stream_that_carried_full_packets_is_polled_once_per_packet() {
    let carrier = skipstone_proto::Carrier::WEBSOCKET;
    let mut world = World::on(carrier, 1, Config::server(Settings::default()), &[link(10)]);
    world.connect();
    for _ in 0..100 {
        world.server.send(world.now, 0, vec![0; 130]);
    }
    world.run_for(ms(1_000));
    let before = world.server.endpoint.work();
    for _ in 0..10 {
        world.server.send(world.now, 0, vec![0; 12]);
        world.run_for(ms(500));
    }
    let after = world.server.endpoint.work();
    assert_eq!(world.clients[0].messages(0).len(), 110);
    // Once for the packet, and once when its acknowledgement came.
    assert!(after.transmits - before.transmits <= 20, "{before:?} {after:?}");
}

#[test]
fn a_message_that_fits_a_datagram_is_not_fragmented() {
    let mut world = world(Merging::Immediate);
    for _ in 0..5 {
        world.clients[0].send(world.now, 0, vec![0; 700]);
        world.clients[0].send(world.now, 0, vec![0; 1_150]);
    }
    let before = world.sent[0].0;
    world.run_for(ms(5));
    assert_eq!(world.sent[0].0 - before, 11, "each has a datagram of its own, and one probes the path");
}
