//! `cargo xtask flood --count N`: spoofed, truncated, damaged and replayed datagrams at a server with 200 clients, all
//! on the loopback interface, all started and ended by one test.

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// Runs the long flood of the tool's tests, optimised, and shows the result.
pub(crate) fn flood(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let count = arguments.take_value("--count")?.unwrap_or_else(|| COUNT_DEFAULT.into());
    arguments.expect_end()?;
    check_count(&count)?;

    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--release", "-p", "skipstone-cli", "--test", "end_to_end"]);
    cargo.args(["--", "a_flood_disturbs_no_client", "--nocapture", "--ignored"]);
    cargo.env(COUNT_VARIABLE, &count);
    Ok(process::passes(cargo))
}

fn check_count(count: &str) -> Result<(), String> {
    match count.parse::<u64>() {
        Ok(COUNT_MIN..=COUNT_MAX) => Ok(()),
        _ => Err(format!("`--count {count}`: a flood has {COUNT_MIN} to {COUNT_MAX} datagrams")),
    }
}

const COUNT_DEFAULT: &str = "1000000";
const COUNT_MIN: u64 = 10_000;
const COUNT_MAX: u64 = 100_000_000;
const COUNT_VARIABLE: &str = "SKIPSTONE_FLOOD_COUNT";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_that_make_a_flood_are_taken() {
        assert_eq!(check_count(COUNT_DEFAULT), Ok(()));
        for count in ["", "many", "9999", "-1", "1e6", "100000001"] {
            assert!(check_count(count).is_err(), "{count}");
        }
    }
}
