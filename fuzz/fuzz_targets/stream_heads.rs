//! See `skipstone_fuzz::stream_heads`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::stream_heads(bytes));

#[cfg(not(fuzzing))]
fn main() {}
