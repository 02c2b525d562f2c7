//! See `skipstone_fuzz::round_trip`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::round_trip(bytes));

#[cfg(not(fuzzing))]
fn main() {}
