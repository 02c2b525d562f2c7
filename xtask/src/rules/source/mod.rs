//! Rust source as far as the checks need it, read by syn: items, imports, and the crates that they make up. syn sees no
//! types and expands no macros: the checks' callers report what they cannot see (methods, macros' results).

pub(crate) mod crates;
pub(crate) mod imports;
pub(crate) mod items;
pub(crate) mod read_items;
pub(crate) mod tokens;
