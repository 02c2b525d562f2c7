//! The C ABI of Skipstone: `include/skipstone.h` is made from this crate, and says what each function does.
//!
//! `boundary` has the exported functions and everything that follows a pointer of the caller's; it is the only place with
//! `unsafe`. `table` finds the server or client of a handle, `slot` is one of them, `types` has what both languages see,
//! `convert` translates it, `failure` has the error of each thread.

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
