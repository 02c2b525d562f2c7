//! A peer whose repairs are wrong, though authentic: the invalid results are detected, dropped and counted, and every
//! message arrives as it was sent.

use crate::simulation::clear::Eavesdropper;
use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::DropReason;
use skipstone_proto::rng::Rng;

#[test]
fn an_invalid_repair_corrupts_nothing() {
    for seed in 0..10 {
        let mut world = World::new(seed, server_of(DeliveryMode::ReliableUnordered), &[link(10)]);
        let (mut eavesdropper, mut rng) = (Eavesdropper::default(), Rng::new(seed));
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            let seen = eavesdropper.see(bytes);
            if !is_up {
                return;
            }
            if seen.is_some_and(|seen| seen.messages > 0) && rng.chance(0.1) {
                bytes.clear();
            } else if rng.chance(0.5) {
                eavesdropper.lie(bytes, rng.below(1_500) as usize, 1 + rng.below(255) as u8);
            }
        }));
        world.connect();
        let mut expected = Vec::new();
        for burst in 0..200_u64 {
            for number in 0..10_u64 {
                let mut rng = Rng::new(burst << 8 | number);
                let payload: Vec<u8> = (0..20 + rng.below(200)).map(|_| rng.next_u64() as u8).collect();
                expected.push(payload.clone());
                world.clients[0].send(world.now, 1, payload);
            }
            world.run_for(ms(16));
        }
        world.run_for(ms(2_000));
        let mut got: Vec<Vec<u8>> = world.server.messages(1).iter().map(|payload| payload.to_vec()).collect();
        got.sort_unstable();
        expected.sort_unstable();
        assert!(got == expected, "seed {seed}: {} of {} messages, or others", got.len(), expected.len());
        assert!(world.server.drops(DropReason::BadRepair) > 10, "seed {seed}: the lies were noticed");
        assert!(world.server.overview().stats.redundancy.packets_recovered > 10, "seed {seed}: others were of use");
    }
}
