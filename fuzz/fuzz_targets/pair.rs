//! See `skipstone_fuzz::pair`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::pair(bytes));

#[cfg(not(fuzzing))]
fn main() {}
