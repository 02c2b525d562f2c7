//! The C ABI of Skipstone: `include/skipstone.h` is generated from this crate, and documents each function.
//!
//! `boundary` contains the exported functions and everything that follows a pointer of the caller; it is the only
//! module with `unsafe`. `table` finds the server or client of a handle, `slot` is one of them, `types` has the types
//! that both languages see, `convert` converts them, `failure` holds the last error of each thread.

#[expect(unsafe_code, reason = "C gives pointers, and takes functions by their names")]
#[allow(unreachable_pub, reason = "C reaches what is exported, and cbindgen reads what is public")]
mod boundary;
mod convert;
mod failure;
mod identity;
mod impairment;
mod kept;
mod log;
mod slot;
mod table;
pub mod types;
