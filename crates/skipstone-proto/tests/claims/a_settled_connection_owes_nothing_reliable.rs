//! `Settled` says that no reliable message waits for an acknowledgement, and comes once for each time that it was asked
//! for.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::{DeliveryMode, Event};

fn settled(world: &World) -> usize {
    world.clients[0].events.iter().filter(|(_, event)| matches!(event, Event::Settled { .. })).count()
}

#[test]
fn it_comes_when_the_last_reliable_message_is_acknowledged() {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
    world.connect();
    let mut left = 3;
    // The first three packets of the message are lost.
    world.lose(move |is_up, _| {
        left -= i32::from(is_up && left > 0);
        is_up && left > 0
    });
    world.clients[0].send(world.now, 0, vec![1; 5_000]);
    let peer = world.clients[0].peer();
    world.clients[0].endpoint.settle(world.now, peer);
    world.run_for(ms(15));
    assert_eq!(settled(&world), 0, "the message is on its way");
    world.run_for(ms(2_000));
    assert_eq!((settled(&world), world.server.messages(0).len()), (1, 1));
    world.run_for(ms(2_000));
    assert_eq!(settled(&world), 1, "once");
    // With nothing to wait for, at once.
    world.clients[0].endpoint.settle(world.now, peer);
    world.run_for(ms(1));
    assert_eq!(settled(&world), 2);
}

#[test]
fn unreliable_messages_delay_nothing() {
    let mut world = World::new(1, server_of(DeliveryMode::Unreliable), &[link(10)]);
    world.connect();
    world.clients[0].send(world.now, 0, vec![1; 10]);
    let peer = world.clients[0].peer();
    world.clients[0].endpoint.settle(world.now, peer);
    world.run_for(ms(1));
    assert_eq!(settled(&world), 1);
}
