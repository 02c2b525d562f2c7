//! The programs that run the tool: its tests with servers around it, and its measurements.

pub(crate) mod bench_databases;
pub(crate) mod databases;
pub(crate) mod deploy;
pub(crate) mod external;
pub(crate) mod fleet;
pub(crate) mod flood;
pub(crate) mod image;
pub(crate) mod joins;
pub(crate) mod siege;
pub(crate) mod soak;
pub(crate) mod sweep;
