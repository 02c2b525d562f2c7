//! A radio link occasionally loses everything for a moment. That reveals nothing about the rate that the path carries:
//! the window stays, and long messages arrive as fast as with random loss of that rate.

use crate::simulation::{World, link, ms, no_redundancy};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::{Config, Duration, Settings};

/// How long eight messages of 1 MiB take, one after the other, with a round trip of 60 ms.
fn eight_mebibytes(seed: u64, loss: Loss) -> Duration {
    let settings = Settings { redundancy: no_redundancy(), ..Settings::default() };
    let mut world = World::new(seed, Config::server(settings), &[LinkConfig { loss, ..link(30) }]);
    world.connect();
    let from = world.now;
    for count in 1..=8 {
        world.clients[0].send(world.now, 3, vec![7; 1 << 20]);
        world.run_until_true(ms(60_000), |world| world.server.messages(3).len() == count);
    }
    world.now.since(from)
}

#[test]
fn long_messages_cross_fades_like_random_loss() {
    for (rate, mean_length) in [(0.08, ms(20)), (0.05, ms(50)), (0.11, ms(19))] {
        for seed in 0..5 {
            let random = eight_mebibytes(seed, Loss::Random(rate));
            let fades = eight_mebibytes(seed, Loss::Fade { rate, mean_length });
            assert!(fades < random * 3 / 2, "{rate} for {mean_length:?}, seed {seed}: {fades:?}, at random {random:?}");
        }
    }
}
