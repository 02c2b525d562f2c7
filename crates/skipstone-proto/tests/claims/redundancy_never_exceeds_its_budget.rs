//! Bytes of repairs and copies never exceed their share of the bytes of the packets that they stand in for: at any
//! moment, in any mode, with any losses.

use crate::simulation::clear::Eavesdropper;
use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Config;
use skipstone_proto::rng::Rng;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::cell::Cell;
use std::rc::Rc;

const IP_BYTES: u64 = 28;

#[test]
fn redundancy_never_exceeds_its_budget() {
    let modes = [
        RedundancyMode::Off,
        RedundancyMode::Lean,
        RedundancyMode::Adaptive,
        RedundancyMode::Fixed { sources: 1, repairs: 3 },
        RedundancyMode::Fixed { sources: 10, repairs: 3 },
        RedundancyMode::Repeat { bursts: 8 },
    ];
    for (seed, mode) in (0..).zip(modes) {
        for budget in [0, 20, 100] {
            for loss in [0.0, 0.03, 0.3] {
                let budget = budget.max(mode.budget_percent_min());
                let spent = spends_no_more(seed, Redundancy { mode, budget_percent: budget }, loss);
                assert!(budget > 0 && mode != RedundancyMode::Off || spent == 0, "{mode:?}, {budget}%: {spent}");
            }
        }
    }
}

fn spends_no_more(seed: u64, redundancy: Redundancy, loss: f64) -> u64 {
    let channels = vec![ChannelRule::new(0..=9, DeliveryMode::ReliableUnordered)];
    let settings = Settings { channels, redundancy, ..Settings::default() };
    let link = LinkConfig { loss: Loss::Random(loss), ..link(15) };
    let mut world = World::new(seed, Config::server(settings), &[link]);
    let sources = Rc::new(Cell::new(0_u64));
    let (mut eavesdropper, sum) = (Eavesdropper::default(), sources.clone());
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        let seen = eavesdropper.see(bytes).unwrap_or_default();
        // A packet with retransmissions stands in for lost packets, so its bytes do not count.
        if is_up && seen.messages > 0 && !seen.is_late {
            sum.set(sum.get() + bytes.len() as u64 + IP_BYTES);
        }
    }));
    world.connect();
    let mut rng = Rng::new(seed);
    let mut spent = 0;
    for step in 0..1_000 {
        if step % 16 == 0 && step % 400 < 300 {
            for _ in 0..rng.below(20) {
                let length = [20, 60, 300, 2_000][rng.below(4) as usize];
                world.clients[0].send(world.now, 1, vec![1; length]);
            }
        }
        world.run_for(ms(1));
        spent = world.clients[0].overview().stats.redundancy.bytes_sent;
        let earned = sources.get() * u64::from(redundancy.budget_percent);
        assert!(spent * 100 <= earned, "{redundancy:?}, loss {loss}, {step} ms: {spent} of {earned} / 100");
    }
    spent
}
