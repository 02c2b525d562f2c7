//! How a step of `cargo xtask test` ended.

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
