//! How a step of `cargo xtask test` ended.

use std::process::Command;

use crate::machine::process;
use crate::machine::tally::Tally;

/// How a step ended.
pub(crate) enum Verdict {
    Passed,
    /// With one line that names the error; the details were printed before.
    Failed(String),
    /// With one line that names the omitted part and the reason.
    Skipped(String),
    /// A step made of tests: each counts for itself.
    Tests(Tally),
}

impl Verdict {
    /// Runs `cargo test` and counts each test. A failure without a failed test (a program that does not build, or that
    /// dies) counts as one.
    pub(crate) fn of_tests(cargo: Command) -> Self {
        let (mut tally, outcome) = count(cargo, Tally::from_result_line);
        if let Err(why) = outcome {
            println!("{why}");
            tally.failed = tally.failed.max(1);
        }
        Verdict::Tests(tally)
    }
}

impl From<String> for Verdict {
    fn from(why: String) -> Self {
        Verdict::Failed(why)
    }
}

/// Runs it, and counts by the lines that report tests.
fn count(command: Command, of_line: fn(&str) -> Option<Tally>) -> (Tally, Result<(), String>) {
    let mut tally = Tally::default();
    let outcome = process::run_reading(command, |line| tally += of_line(line).unwrap_or_default());
    (tally, outcome)
}

/// The same, but a failure without a failed test means that the program did not build or run, and gives no count.
pub(crate) fn counted(command: Command, of_line: fn(&str) -> Option<Tally>) -> Result<Tally, String> {
    match count(command, of_line) {
        (tally, Err(why)) if tally.failed == 0 => Err(why),
        (tally, _) => Ok(tally),
    }
}

/// A program that counts as one test.
pub(crate) fn once(command: Command) -> Result<Tally, String> {
    process::run(command).map(|()| Tally::ONE_PASSED)
}
