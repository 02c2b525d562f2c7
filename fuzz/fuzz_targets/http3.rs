//! See `skipstone_fuzz::http3`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::http3(bytes));

#[cfg(not(fuzzing))]
fn main() {}
