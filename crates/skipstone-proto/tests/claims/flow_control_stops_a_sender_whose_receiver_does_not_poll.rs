//! A receiver that does not take its messages is not sent more than its window, and gets the rest when it takes them.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::Carrier;
use skipstone_proto::rng::Rng;
use skipstone_proto::{ChannelRule, DeliveryMode};
use skipstone_proto::{Config, DropReason};

fn config() -> Config {
    let mut config = server_of(DeliveryMode::ReliableOrdered);
    config.settings.message_bytes_max = 10_000;
    config.settings.window_bytes = 100_000;
    config.settings.channels[0].last = 8;
    config.settings.channels.push(ChannelRule::new(9..=9, DeliveryMode::Unreliable));
    config
}

fn stalled(carrier: Carrier, length: usize, count: usize) -> World {
    let mut world = World::on(carrier, 1, config(), &[link(10)]);
    world.connect();
    world.server.polls = false;
    for _ in 0..count {
        world.clients[0].send(world.now, 0, vec![7; length]);
    }
    world.run_for(ms(5_000));
    world
}

#[test]
fn the_sender_resumes_when_the_receiver_polls() {
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET] {
        for length in [50, 1_000, 10_000] {
            let count = 1_000_000 / (length + 64);
            let mut world = stalled(carrier, length, count);
            let waiting = world.server.endpoint.event_count();
            assert!(waiting * length <= 200_000 && waiting * (length + 80) >= 80_000, "{waiting} of {length}");
            assert_eq!(world.server.drops(DropReason::WindowExceeded), 0, "nothing was sent in vain");
            assert_eq!(world.clients[0].closes().len(), 0);
            world.server.polls = true;
            world.run_for(ms(5_000));
            assert_eq!(world.server.messages(0).len(), count, "{carrier:?} {length}");
        }
    }
}

#[test]
fn a_lost_window_update_is_repeated() {
    for lost in 1..6 {
        let mut world = stalled(Carrier::UDP, 1_000, 500);
        let mut left = lost;
        world.lose(move |is_up, _| {
            let is_lost = !is_up && left > 0;
            left -= u32::from(is_lost);
            is_lost
        });
        world.server.polls = true;
        world.run_for(ms(4_000));
        assert_eq!(world.server.messages(0).len(), 500, "the first {lost} were lost");
    }
}

#[test]
fn an_older_ack_after_a_lost_window_update_does_not_stop_it() {
    let mut world = stalled(Carrier::UDP, 1_000, 500);
    world.clients[0].send(world.now, 9, vec![1]);
    world.run_for(ms(11));
    // It carries an acknowledgement that is older than the report.
    world.server.send(world.now, 9, vec![1]);
    world.run_for(ms(1));
    let until = world.now + ms(15);
    world.tap = Some(Box::new(move |now, _, is_up, bytes| {
        if !is_up && now < until {
            bytes.clear();
        }
    }));
    world.server.polls = true;
    world.run_for(ms(4_000));
    assert_eq!(world.server.messages(0).len(), 500);
}

#[test]
fn a_slow_reader_does_not_cause_an_update_per_message() {
    // All of them have arrived, and fill most of the receiver's window.
    let mut world = stalled(Carrier::UDP, 50, 1_500);
    assert_eq!(world.server.endpoint.event_count(), 1_500);
    let before = world.sent[0].1;
    for _ in 0..1_000 {
        world.server.endpoint.poll_event(world.now).expect("more wait");
        world.run_for(ms(1));
    }
    let news = world.sent[0].1 - before;
    assert!((1..=6).contains(&news), "{news} datagrams for 1,000 messages");
}

#[test]
fn unpolled_unreliable_messages_are_dropped_and_the_rest_arrives() {
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET] {
        let mut world = World::on(carrier, 1, config(), &[link(10)]);
        world.connect();
        world.server.polls = false;
        for round in 0..600 {
            world.clients[0].send(world.now, 9, vec![9; 1_000]);
            if round % 20 == 0 {
                world.clients[0].send(world.now, 0, vec![7; 500]);
            }
            world.run_for(ms(5));
        }
        assert!(world.server.endpoint.event_count() < 350);
        assert!(world.server.drops(DropReason::WindowExceeded) > 10);
        world.server.polls = true;
        world.run_for(ms(3_000));
        assert_eq!(world.server.messages(0).len(), 30, "{carrier:?}");
        assert_eq!(world.clients[0].overview().bytes_in_flight, 0, "{carrier:?}");
    }
}

#[test]
fn a_close_reaches_an_application_that_does_not_poll() {
    let mut world = World::on(Carrier::UDP, 1, config(), &[link(10)]);
    world.connect();
    world.server.polls = false;
    for _ in 0..600 {
        world.clients[0].send(world.now, 9, vec![9; 1_000]);
        world.run_for(ms(5));
    }
    let peer = world.clients[0].peer();
    world.clients[0].endpoint.close(world.now, peer, 5, "bye", ms(0));
    let asked_at = world.now;
    world.run_for(ms(100));
    let closed = world.clients[0].events.last().expect("an event");
    assert!(closed.0.since(asked_at) <= ms(30), "{closed:?}");
    world.server.polls = true;
    world.run_for(ms(10));
    assert_eq!(world.server.closes()[0].code, 5);
}

#[test]
fn a_small_window_on_a_stream_carries_one_window_per_round_trip() {
    for window_bytes in [3_000, 10_000, 40_000] {
        let mut config = server_of(DeliveryMode::ReliableOrdered);
        (config.settings.message_bytes_max, config.settings.window_bytes) = (2_000, window_bytes);
        let mut world = World::on(Carrier::WEBSOCKET, 1, config, &[link(10)]);
        world.connect();
        for _ in 0..400 {
            world.clients[0].send(world.now, 0, vec![7; 2_000]);
        }
        // A message takes 2,189 bytes of the window; the round trip is 20 ms.
        let round_trips = 400 / (window_bytes / 2_189) + 2;
        world.run_for(ms(u64::from(round_trips) * 20 + 100));
        assert_eq!(world.server.messages(0).len(), 400, "{window_bytes}");
    }
}

#[test]
fn unpolled_unreliable_messages_on_a_stream_leave_room_for_reliable_ones() {
    for seed in 0..50 {
        let mut urgent = config();
        urgent.settings.channels[1].priority = 0;
        let mut world = World::on(Carrier::WEBSOCKET, seed, urgent, &[link(10)]);
        world.connect();
        world.server.polls = false;
        let mut rng = Rng::new(seed);
        // The unreliable ones leave first, and the others before the server can report how full its window is.
        for (channel, count) in [(9, 60), (0, 120)] {
            for _ in 0..count {
                world.clients[0].send(world.now, channel, vec![7; rng.below(10_000) as usize]);
            }
        }
        world.run_for(ms(2_000));
        assert!(world.server.closes().is_empty() && world.clients[0].closes().is_empty(), "seed {seed}");
        world.server.polls = true;
        world.run_for(ms(2_000));
        assert_eq!(world.server.messages(0).len(), 120, "seed {seed}");
    }
}
