//! Where nothing has been missing for a while, an acknowledgement waits for further ticks; the first loss is told at once
//! all the same, and nobody grows impatient meanwhile.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::Time;
use skipstone_proto::{Event, Stats};

/// The client sends a message each tick of 16 ms.
fn play(world: &mut World, ticks: u32) -> Stats {
    for _ in 0..ticks {
        world.clients[0].send(world.now, 1, vec![1; 55]);
        world.run_for(ms(16));
    }
    world.clients[0].overview().stats
}

fn quiet_world() -> World {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.connect();
    play(&mut world, 800);
    world
}

#[test]
fn a_steady_stream_is_acknowledged_every_fifth_tick() {
    let mut world = quiet_world();
    let acknowledged = |world: &World| world.sent[0].1;
    let before = acknowledged(&world);
    let stats = play(&mut world, 1_000);
    let datagrams = acknowledged(&world) - before;
    assert!((195..=210).contains(&datagrams), "{datagrams}");
    assert_eq!((stats.probes, stats.resent), (0, 0), "nobody was impatient");
}

#[test]
fn the_first_loss_on_a_quiet_path_is_told_by_the_next_packet() {
    let mut world = quiet_world();
    let mut count = 0;
    world.lose(move |is_up, _| {
        count += u32::from(is_up);
        is_up && count == 3
    });
    play(&mut world, 30);
    world.run_for(ms(200));
    let is_message = |event: &&(Time, Event)| matches!(event.1, Event::Message { .. });
    let arrivals: Vec<u64> =
        world.server.events.iter().filter(is_message).map(|(at, _)| at.as_micros() / 1_000).collect();
    let worst = arrivals.windows(2).map(|pair| pair[1] - pair[0]).max().expect("there were many");
    // From the tick before: two ticks until the gap shows, and a round trip until the copy is here.
    assert!((32 + 38..=32 + 42).contains(&worst), "{worst} ms");
    let acknowledged = world.sent[0].1;
    play(&mut world, 50);
    assert!(world.sent[0].1 - acknowledged >= 49, "after a loss every tick is acknowledged again");
}

#[test]
fn a_lone_message_is_acknowledged_at_once() {
    let mut world = quiet_world();
    world.run_for(ms(1_000));
    let before = world.sent[0].1;
    world.clients[0].send(world.now, 1, vec![1; 55]);
    world.run_for(ms(20 + 3));
    assert_eq!(world.sent[0].1, before + 1);
}
