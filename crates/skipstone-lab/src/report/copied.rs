//! Structs of a result whose fields are those of a struct that was measured.

/// A struct whose fields are those of the same names of another.
macro_rules! copied {
    ($from:expr => $to:ident { $($same:ident)* $(; $($other:ident: $value:expr),* $(,)?)? }) => {
        $to { $($same: $from.$same,)* $($($other: $value,)*)? }
    };
}

pub(crate) use copied;
