//! See `skipstone_fuzz::stream_messages`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::stream_messages(bytes));

#[cfg(not(fuzzing))]
fn main() {}
