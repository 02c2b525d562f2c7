//! How a step of `cargo xtask test` ended.

use std::process::Command;

use crate::process;
use crate::tally::Tally;

/// How a step ended.
pub(crate) enum Verdict {
    Passed,
    /// With one line that says what went wrong; the details were printed before.
    Failed(String),
    /// With one line that says what was left out and why.
    Skipped(String),
    /// A step made of tests: each counts for itself.
    Tests(Tally),
}

impl Verdict {
    /// Runs `cargo test` and counts each test. A failure without a failed test (a program that does not build, or that
    /// dies) counts as one.
    pub(crate) fn of_tests(cargo: Command) -> Self {
        let mut tally = Tally::default();
        let outcome = process::run_reading(cargo, |line| {
            tally += Tally::from_result_line(line).unwrap_or_default();
        });
        if let Err(why) = outcome {
            println!("{why}");
            tally.failed = tally.failed.max(1);
        }
        Verdict::Tests(tally)
    }
}
