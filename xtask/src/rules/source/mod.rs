//! Rust source as far as the checks need it: tokens, items, imports, and the crates that they make up. This is not a
//! parser; it reads source that compiles, and its callers report what it cannot see (macros, methods).

pub(crate) mod crates;
pub(crate) mod imports;
pub(crate) mod items;
pub(crate) mod tokens;
