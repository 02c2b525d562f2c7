//! A connection begins with a guess about its path, and pays for repairs until the path has proved itself; then no more.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::DeliveryMode;

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
