//! The one error of all units: what was written, why it will not do, and how it is written.

use std::fmt;

/// A value on the command line or in a plan that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    /// The kind of value that was expected, with its article: "a rate".
    kind: &'static str,
    given: String,
    cause: String,
    examples: &'static str,
}

impl UnitError {
    pub(super) fn new(kind: &'static str, given: &str, cause: impl Into<String>, examples: &'static str) -> UnitError {
        UnitError { kind, given: given.to_owned(), cause: cause.into(), examples }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnitError { kind, given, cause, examples } = self;
        write!(f, "\"{given}\" is not {kind}: {cause} (for example {examples})")
    }
}

impl std::error::Error for UnitError {}
