//! See `skipstone_fuzz::decode`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::decode(bytes));

#[cfg(not(fuzzing))]
fn main() {}
