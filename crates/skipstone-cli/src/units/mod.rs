//! What a user writes in options and plan files: each a type that parses with a helpful error and displays as it
//! parses.

pub(crate) mod bit_rate;
pub(crate) mod burst;
pub(crate) mod error;
pub(crate) mod mix;
pub(crate) mod nearest;
pub(crate) mod number;
pub(crate) mod percent;
pub(crate) mod rate;
pub(crate) mod redundancy;
pub(crate) mod size;
pub(crate) mod span;
pub(crate) mod threshold;
pub(crate) mod transport_name;
