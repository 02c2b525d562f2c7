//! See `skipstone_fuzz::operations`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::operations(bytes));

#[cfg(not(fuzzing))]
fn main() {}
