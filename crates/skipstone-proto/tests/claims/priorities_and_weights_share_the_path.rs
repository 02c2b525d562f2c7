//! The order of sending on a full path: the more urgent first, then equals by weight, or packet by packet where they
//! have different redundancy.

use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, QueueLimit};
use skipstone_proto::RedundancyMode;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, Event};

/// Channels in the order in which their messages arrived.
fn order(rules: Vec<ChannelRule>, messages: &[(u16, usize)]) -> Vec<u16> {
    let slow = LinkConfig { rate_bits_per_second: Some(4_000_000), queue: QueueLimit::Unlimited, ..link(10) };
    let settings = Settings { channels: rules, ..Settings::default() };
    let mut world = World::new(1, Config::server(settings), &[slow]);
    world.connect();
    for (channel, count) in messages {
        for _ in 0..*count {
            world.clients[0].send(world.now, *channel, vec![0; 500]);
        }
    }
    world.run_for(ms(10_000));
    let channel = |event: &Event| match event {
        Event::Message { channel, .. } => Some(*channel),
        _ => None,
    };
    world.server.events.iter().filter_map(|(_, event)| channel(event)).collect()
}

fn rule(channel: u16, priority: u8, weight: u8) -> ChannelRule {
    ChannelRule { priority, weight, ..ChannelRule::new(channel..=channel, DeliveryMode::ReliableUnordered) }
}

#[test]
fn urgent_messages_overtake() {
    let order = order(vec![rule(0, 5, 1), rule(1, 0, 1), rule(2, 2, 1)], &[(0, 100), (2, 100), (1, 100)]);
    assert_eq!(order.len(), 300);
    let last = |channel| order.iter().rposition(|on| *on == channel).expect("it arrived");
    let first = |channel| order.iter().position(|on| *on == channel).expect("it arrived");
    assert!(last(1) < first(0) && first(1) < first(2) && last(1) < last(2) && last(2) < last(0), "{order:?}");
}

#[test]
fn equal_priorities_share_by_weight() {
    let order = order(vec![rule(0, 1, 1), rule(1, 1, 3)], &[(0, 300), (1, 300)]);
    let early = &order[..200];
    let heavy = early.iter().filter(|channel| **channel == 1).count();
    assert!((135..=165).contains(&heavy), "{heavy} of 200 are of the channel with three times the weight");
    assert_eq!(order.len(), 600);
}

#[test]
fn a_full_window_holds_back_reliable_messages_only() {
    let mut settings = Settings { message_bytes_max: 1_000, window_bytes: 2_000, ..Settings::default() };
    settings.channels = vec![rule(0, 0, 1), ChannelRule::new(1..=1, DeliveryMode::Unreliable)];
    let mut world = World::new(1, Config::server(settings), &[link(50)]);
    world.connect();
    for _ in 0..20 {
        world.clients[0].send(world.now, 0, vec![0; 900]);
    }
    world.clients[0].send(world.now, 1, vec![0; 10]);
    world.run_for(ms(60));
    assert_eq!((world.server.messages(0).len(), world.server.messages(1).len()), (1, 1));
    world.run_for(ms(3_000));
    assert_eq!(world.server.messages(0).len(), 20);
}

#[test]
fn classes_of_one_priority_take_turns() {
    let rules = vec![rule(0, 1, 1), rule(1, 1, 1).with_redundancy(RedundancyMode::Off), rule(2, 1, 1)];
    let order = order(rules, &[(0, 200), (1, 200), (2, 200)]);
    let of = |channel| order[..200].iter().filter(|on| **on == channel).count();
    assert!((90..=110).contains(&of(1)), "one packet of the one class for each of the other: {}", of(1));
    assert!(of(0).abs_diff(of(2)) <= 10, "inside a class by weight: {} and {}", of(0), of(2));
    assert_eq!(order.len(), 600);
}

#[test]
fn urgent_messages_overtake_regardless_of_class() {
    let modes = [RedundancyMode::Off, RedundancyMode::Lean, RedundancyMode::Repeat { bursts: 2 }];
    let rules = (0..3).map(|at| rule(at, [5, 0, 2][usize::from(at)], 1).with_redundancy(modes[usize::from(at)]));
    let order = order(rules.collect(), &[(0, 100), (2, 100), (1, 100)]);
    let last = |channel| order.iter().rposition(|on| *on == channel).expect("it arrived");
    assert!(order.len() == 300 && last(1) < last(2) && last(2) < last(0), "{order:?}");
}

#[test]
fn a_class_blocked_by_the_window_does_not_block_others() {
    let mut settings = Settings { message_bytes_max: 1_000, window_bytes: 2_000, ..Settings::default() };
    let unreliable = ChannelRule::new(1..=1, DeliveryMode::Unreliable).with_redundancy(RedundancyMode::Off);
    settings.channels = vec![rule(0, 0, 1), unreliable, rule(2, 1, 1).with_redundancy(RedundancyMode::Lean)];
    let mut world = World::new(1, Config::server(settings), &[link(50)]);
    world.connect();
    for _ in 0..20 {
        world.clients[0].send(world.now, 0, vec![0; 900]);
    }
    world.clients[0].send(world.now, 1, vec![0; 10]);
    world.clients[0].send(world.now, 2, vec![0; 10]);
    world.run_for(ms(60));
    let count = |world: &World| [0, 1, 2].map(|channel| world.server.messages(channel).len());
    assert_eq!(count(&world), [1, 1, 0], "nothing reliable takes the place of what the peer cannot hold yet");
    world.run_for(ms(3_000));
    assert_eq!(count(&world), [20, 1, 1]);
}
