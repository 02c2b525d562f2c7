//! `cargo xtask swarm --seeds A..B`: the simulated runs over a range of seeds, optimised, for any length of time.

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::test_programs::SEEDS_VARIABLE;
use crate::machine::tree::Tree;

/// Runs the test programs whose name begins with `swarm`; they read the seeds from [`SEEDS_VARIABLE`].
pub(crate) fn swarm(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let seeds = arguments.take_value("--seeds")?.ok_or("say which seeds: `cargo xtask swarm --seeds 0..1000`")?;
    arguments.expect_end()?;
    check_range(&seeds)?;

    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--release", "--workspace", "--test", "swarm*"]);
    // Shown while they run: a swarm prints the line that replays a failing seed.
    cargo.args(["--", "--nocapture", "--include-ignored"]);
    cargo.env(SEEDS_VARIABLE, &seeds);
    println!("{SEEDS_VARIABLE}={seeds}");
    Ok(process::passes(cargo))
}

fn check_range(seeds: &str) -> Result<(), String> {
    let bounds =
        seeds.split_once("..").and_then(|(first, end)| Some((first.parse::<u64>().ok()?, end.parse::<u64>().ok()?)));
    match bounds {
        Some((first, end)) if first < end => Ok(()),
        Some(_) => Err(format!("`{seeds}` holds no seed: the end is not included")),
        None => Err(format!("`{seeds}` is not a range of seeds, such as 0..1000")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_that_hold_a_seed_are_taken() {
        assert_eq!(check_range("0..1000"), Ok(()));
        assert_eq!(check_range("7..8"), Ok(()));
        for seeds in ["", "7", "7..", "..8", "8..8", "9..8", "0..=4", "-1..4", "a..b"] {
            assert!(check_range(seeds).is_err(), "{seeds}");
        }
    }
}
