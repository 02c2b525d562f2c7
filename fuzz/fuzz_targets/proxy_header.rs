//! See `skipstone_fuzz::proxy_header`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::proxy_header(bytes));

#[cfg(not(fuzzing))]
fn main() {}
