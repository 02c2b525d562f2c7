//! Structs of a result that copy the fields of a measured struct.

/// A struct that copies the fields of the same names from another struct.
macro_rules! copied {
    ($from:expr => $to:ident { $($same:ident)* $(; $($other:ident: $value:expr),* $(,)?)? }) => {
        $to { $($same: $from.$same,)* $($($other: $value,)*)? }
    };
}

pub(crate) use copied;
