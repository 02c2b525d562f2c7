//! See `skipstone_fuzz::quic_streams`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::quic_streams(bytes));

#[cfg(not(fuzzing))]
fn main() {}
