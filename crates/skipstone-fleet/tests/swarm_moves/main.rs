//! Moves of players over seeds: nodes that are killed and restarted in the middle of moves, letters that are lost, doubled
//! and reordered, clients that lose their connections, applications that refuse or hand nothing over.
//!
//! `SKIPSTONE_SWARM_SEEDS=A..B` chooses the seeds. A failing one prints the line that replays it.

mod client;
mod node;
mod world;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use world::World;

#[test]
fn no_player_is_ever_on_two_nodes_and_each_is_on_one_afterwards() {
    let (mut moved, mut stayed) = (0, 0);
    for seed in seeds() {
        let outcome = catch_unwind(AssertUnwindSafe(|| World::new(seed).run()));
        let (left, remained) = outcome.unwrap_or_else(|panic| {
            println!(
                "replay: SKIPSTONE_SWARM_SEEDS={seed}..{} cargo test -p skipstone-fleet --test swarm_moves",
                seed + 1
            );
            resume_unwind(panic)
        });
        moved += left;
        stayed += remained;
    }
    println!("{moved} moves ended there, {stayed} here");
    assert!(moved > 0 && stayed > 0, "the seeds show one outcome only");
}

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("SKIPSTONE_SWARM_SEEDS") else { return SEEDS };
    let ends = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.unwrap_or_else(|| panic!("SKIPSTONE_SWARM_SEEDS is a range as 0..1000, not {text:?}"))
}

const SEEDS: Range<u64> = 0..300;
