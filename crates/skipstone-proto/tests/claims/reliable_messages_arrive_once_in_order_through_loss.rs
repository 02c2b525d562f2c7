//! Reliable ordered channels deliver everything once and in order, on any link.

use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};

fn numbers(count: u32) -> impl Iterator<Item = Vec<u8>> {
    (0..count).map(|number| number.to_be_bytes().to_vec())
}

#[test]
fn despite_loss_jitter_reordering_duplication_and_damage() {
    for seed in 0..10 {
        let bad = LinkConfig {
            loss: Loss::Random(0.1),
            jitter: ms(5),
            reorder: 0.05,
            duplicate: 0.05,
            corrupt: 0.05,
            ..link(10)
        };
        let mut world = World::pair(seed, bad);
        world.connect();
        for message in numbers(2_000) {
            world.clients[0].send(world.now, 3, message.clone());
            world.server.send(world.now, 4, message);
            world.run_for(ms(1));
        }
        world.run_for(ms(5_000));
        assert_eq!(world.server.messages(3), numbers(2_000).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(world.clients[0].messages(4), numbers(2_000).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn a_mebibyte_among_small_messages_arrives_unchanged() {
    let mut world = World::pair(1, LinkConfig { loss: Loss::Random(0.05), ..link(10) });
    world.connect();
    let large: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for part in [b"before".to_vec(), large, b"after".to_vec()] {
        world.clients[0].send(world.now, 0, part);
    }
    world.run_for(ms(60_000));
    let arrived = world.server.messages(0);
    assert_eq!(arrived.iter().map(|message| message.len()).collect::<Vec<_>>(), [6, 1 << 20, 5]);
    assert!(
        arrived[1].iter().enumerate().all(|(at, byte)| *byte == ((at as u32).wrapping_mul(2_654_435_761) >> 24) as u8)
    );
}
