//! Random settings, links, workloads and ends, each from one seed, and the invariants of all of them.
//!
//! `SKIPSTONE_SWARM_SEEDS=A..B` chooses the seeds. A failing one prints the line that replays it. With
//! `SKIPSTONE_SWARM_DIGESTS=1` each seed's digest is printed, which is that of the same run as WebAssembly.
//!
//! A process of its own: an environment variable says how long it runs, and `cargo xtask swarm` calls it by name.

mod liars;
mod plan;
mod run;
#[path = "../simulation/mod.rs"]
mod simulation;
mod traffic;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

const SEEDS: Range<u64> = 0..1_000;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("SKIPSTONE_SWARM_SEEDS") else { return SEEDS };
    let ends = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or_else(|| panic!("SKIPSTONE_SWARM_SEEDS is a range as 0..1000, not {text:?}"))
}

#[test]
fn all_promises_hold_for_every_seed() {
    let mut tally = run::Tally::default();
    let prints_digests = std::env::var_os("SKIPSTONE_SWARM_DIGESTS").is_some();
    for_each_seed(seeds(), |seed| {
        tally.add(&run::run(seed));
        if prints_digests {
            println!("digest {seed} {:016x}", run::digest(seed));
        }
        if (seed + 1).is_multiple_of(1_000) {
            println!("{} seeds: {tally:?}", seed + 1);
        }
    });
}

#[test]
fn hostile_peers_harm_no_other_peer() {
    let (seeds, mut lies) = (seeds(), 0);
    // They take ten times as long.
    let end = seeds.start + (seeds.end - seeds.start).div_ceil(10);
    for_each_seed(seeds.start..end, |seed| lies += liars::run(seed));
    println!("{lies} lies");
    assert!(lies >= 100 * (end - seeds.start), "{lies}");
}

/// Runs all seeds, and prints how to replay each that failed, or that takes so long that it may never end.
fn for_each_seed(seeds: Range<u64>, mut run: impl FnMut(u64)) {
    let mut failed = Vec::new();
    for seed in seeds {
        let (done, is_done) = mpsc::channel::<()>();
        // An endpoint that never returns from a call can only be stopped with the process.
        #[expect(clippy::disallowed_methods, reason = "the thread watches the test, and drives nothing")]
        let watch = std::thread::spawn(move || {
            if is_done.recv_timeout(SEED_TIME_MAX) == Err(mpsc::RecvTimeoutError::Timeout) {
                println!("seed {seed} does not end");
                say_replay(seed);
                std::process::abort();
            }
        });
        let is_failed = catch_unwind(AssertUnwindSafe(|| run(seed))).is_err();
        drop(done);
        watch.join().expect("it only waits");
        if is_failed {
            say_replay(seed);
            failed.push(seed);
            assert!(failed.len() < FAILURES_MAX, "seeds {failed:?} failed");
        }
    }
    assert!(failed.is_empty(), "seeds {failed:?} failed");
}

fn say_replay(seed: u64) {
    println!(
        "replay: SKIPSTONE_SWARM_SEEDS={seed}..{} cargo test --release -p skipstone-proto --test swarm -- --nocapture",
        seed + 1
    );
}

/// A seed takes some milliseconds, and on a busy machine without optimisation some seconds.
const SEED_TIME_MAX: Duration = Duration::from_secs(120);
/// After this many failures the rest would show nothing new.
const FAILURES_MAX: usize = 10;
