//! Holding acknowledgements back assumes that no packet is lost. The first loss ends that, until thousands of packets
//! have arrived: a rare loss is found as soon as on a lossy path.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::DeliveryMode;

fn play(world: &mut World, ticks: u32) {
    for _ in 0..ticks {
        let text = world.now.as_micros().to_string();
        world.clients[0].send(world.now, 1, text);
        world.run_for(ms(16));
    }
}

/// The next packet towards the server is lost.
fn lose_one(world: &mut World) {
    let mut count = 0;
    world.lose(move |is_up, _| {
        count += u32::from(is_up);
        is_up && count == 1
    });
}

#[test]
fn they_are_delayed_again_after_thousands_of_packets() {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
    world.connect();
    play(&mut world, 400);
    lose_one(&mut world);
    play(&mut world, 3_000);
    let rare = world.sent[0].1;
    play(&mut world, 500);
    assert!(world.sent[0].1 - rare >= 490, "each tick is acknowledged");
    play(&mut world, 4_000);
    let before = world.sent[0].1;
    play(&mut world, 500);
    assert!(world.sent[0].1 - before <= 110, "each fifth is: {}", world.sent[0].1 - before);
}
