//! The one error of all units: what was written, why it will not do, and how it is written.

/// A value on the command line or in a plan that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not {kind}: {cause} (for example {examples})")]
pub struct UnitError {
    /// The kind of value that was expected, with its article: "a rate".
    kind: &'static str,
    given: String,
    cause: String,
    examples: &'static str,
}

impl UnitError {
    pub(super) fn new(kind: &'static str, given: &str, cause: impl Into<String>, examples: &'static str) -> Self {
        Self { kind, given: given.to_owned(), cause: cause.into(), examples }
    }
}

/// Reads a unit by a function whose error is the cause.
macro_rules! read_by {
    ($parse:ident => $unit:ty, $kind:literal, $examples:expr) => {
        impl std::str::FromStr for $unit {
            type Err = $crate::units::error::UnitError;

            fn from_str(text: &str) -> Result<$unit, Self::Err> {
                $parse(text.trim()).map_err(|cause| Self::Err::new($kind, text, cause, $examples))
            }
        }
    };
}

pub(super) use read_by;
