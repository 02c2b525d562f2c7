//! A connection begins with a guess about its path, and sends repairs until the path has proved itself; then it stops.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::DeliveryMode;

/// The client sends a message in each tick; returns how many repairs it sent.
fn play(world: &mut World, ticks: u32, tick_ms: u64) -> u64 {
    for _ in 0..ticks {
        for _ in 0..20 {
            world.clients[0].send(world.now, 1, vec![1; 55]);
        }
        world.run_for(ms(tick_ms));
    }
    world.clients[0].overview().stats.redundancy.repairs_sent
}

#[test]
fn from_the_fourth_second_on_at_any_tick_rate() {
    for tick_ms in [8, 16, 100] {
        let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
        world.connect();
        let early = play(&mut world, 3_000 / tick_ms as u32, tick_ms);
        assert!(early > 0);
        assert_eq!(play(&mut world, 10_000 / tick_ms as u32, tick_ms), early, "ticks of {tick_ms} ms");
    }
}

#[test]
fn an_outage_is_one_loss_and_causes_no_repairs() {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
    world.connect();
    let before = play(&mut world, 1_000, 16);
    world.lose(|_, _| true);
    play(&mut world, 60, 16);
    world.tap = None;
    let after = play(&mut world, 1_000, 16);
    assert!(after - before <= 200, "{} repairs after a second of silence", after - before);
}

#[test]
fn a_path_without_loss_gets_no_repairs_after_a_while() {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.connect();
    let mut play = |ticks: u32| {
        for _ in 0..ticks {
            for _ in 0..20 {
                world.clients[0].send(world.now, 1, vec![1; 55]);
            }
            world.run_for(ms(16));
        }
        world.clients[0].overview().stats
    };
    let early = play(100);
    assert!(early.redundancy.repairs_sent > 50, "{:?}", early.redundancy);
    let proved = play(2_000);
    let late = play(1_000);
    assert_eq!(late.redundancy, proved.redundancy);
    let datagrams = late.sent.datagrams - proved.sent.datagrams;
    assert!((1_000..=1_010).contains(&datagrams), "a burst is one packet again: {datagrams}");
}
