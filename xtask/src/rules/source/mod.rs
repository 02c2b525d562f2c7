//! Rust source as far as the checks need it: tokens, items, imports, and the crates that they make up. None of it is a
//! parser; it reads source that compiles, and what it cannot see (macros, methods) its callers say in their reports.

pub(crate) mod crates;
pub(crate) mod imports;
pub(crate) mod items;
pub(crate) mod tokens;
