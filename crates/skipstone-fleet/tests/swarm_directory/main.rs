//! The directory over seeds: nodes that pause, restart, are cut off and have clocks of their own, and a store that stops,
//! loses answers, and does writes late; changes of the watch come late and in any order.
//!
//! `SKIPSTONE_SWARM_SEEDS=A..B` chooses the seeds. A failing one prints the line that replays it.

mod judge;
mod node;
mod random;
mod store;
mod world;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;
use world::World;

#[test]
fn no_room_has_two_owners_and_each_is_taken_over_in_time() {
    let (mut alone_max, mut owned) = (Duration::ZERO, 0);
    for seed in seeds() {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut world = World::new(seed);
            let alone = world.run();
            (alone, world.takeovers)
        }));
        let (alone, takeovers) = outcome.unwrap_or_else(|panic| {
            println!(
                "replay: SKIPSTONE_SWARM_SEEDS={seed}..{} cargo test -p skipstone-fleet --test swarm_directory",
                seed + 1
            );
            resume_unwind(panic)
        });
        alone_max = alone_max.max(alone);
        owned += takeovers;
    }
    println!("rooms were owned {owned} times; the longest time without an owner was {alone_max:?}");
    assert!(owned > 0, "no room was ever owned");
}

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("SKIPSTONE_SWARM_SEEDS") else { return SEEDS };
    let ends = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.unwrap_or_else(|| panic!("SKIPSTONE_SWARM_SEEDS is a range as 0..1000, not {text:?}"))
}

const SEEDS: Range<u64> = 0..300;
