//! See `skipstone_fuzz::first_datagrams`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skipstone_fuzz::first_datagrams(bytes));

#[cfg(not(fuzzing))]
fn main() {}
