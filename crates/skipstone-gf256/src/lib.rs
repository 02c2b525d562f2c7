//! Arithmetic in **GF(256)** for an erasure code: multiply-and-add over symbols with SIMD, the coefficients of a Cauchy
//! matrix, and a small solver. It has no dependencies.
//!
//! A repair symbol is the sum of source symbols, each multiplied by its [`coefficient`]; [`mul_add`] computes it. A
//! receiver that lacks some sources subtracts those that it has from the repairs, again with [`mul_add`], and lets
//! [`solve`] find the others. The caller handles windows, numbers and lengths.
//!
//! ```
//! use skipstone_gf256::{coefficient, inverse, mul_add, scale};
//!
//! let sources = [b"left", b"lost", b"here"];
//! let mut repair = [0; 4];
//! for (number, source) in (100..).zip(sources) {
//!     mul_add(&mut repair, source, coefficient(3, number));
//! }
//!
//! // Number 101 is lost: take out the others, and what is left is it, times its coefficient.
//! mul_add(&mut repair, sources[0], coefficient(3, 100));
//! mul_add(&mut repair, sources[2], coefficient(3, 102));
//! scale(&mut repair, inverse(coefficient(3, 101)).expect("a coefficient is never 0"));
//! assert_eq!(&repair, sources[1]);
//! ```
//!
//! # Speed
//!
//! Source bytes per second of [`mul_add`], one thread, symbols in the first-level cache, on two virtual cores of an AMD
//! EPYC 7003 (Zen 3) at 2.4 GHz (`cargo bench -p skipstone-gf256`):
//!
//! | kernel                                      |       400 bytes |     1,200 bytes |
//! |---------------------------------------------|-----------------|-----------------|
//! | avx2                                        | 13 GB/s,  31 ns | 19 GB/s,  62 ns |
//! | ssse3                                       |  9 GB/s,  43 ns | 11 GB/s, 113 ns |
//! | portable                                    |  1 GB/s, 392 ns |  1 GB/s, 1.2 µs |
//! | `reed-solomon-erasure` 6, Rust without its C |  2 GB/s, 204 ns |  2 GB/s, 555 ns |
//!
//! [`solve`] with avx2 finds 2, 6 and 20 symbols of 400 bytes in 0.2, 1.6 and 18 µs, of 1,200 bytes in 0.4, 2.8 and 33
//! µs. Bytes after the last multiple of 16 are processed one by one, about a nanosecond each.
//!
//! NEON on aarch64 passes all tests in an emulator (QEMU), which says nothing about its speed.
//!
//! WebAssembly uses vectors if the module is built with them (`-C target-feature=+simd128`): in Node 20 on a virtual
//! core of an Intel Xeon, 400 bytes take 24 ns instead of 400, and 1,200 bytes 92 ns instead of 1,185.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![deny(unsafe_op_in_unsafe_fn)]

mod field;
mod kernel;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "simd128")))]
mod simd;
mod solve;

pub use field::{coefficient, inverse, mul};
pub use kernel::Kernel;
pub use solve::{Equation, UNKNOWNS_MAX, solve};

/// Adds `source` times `factor` to the same number of bytes of `target`. Further bytes of `target` stay unchanged, as
/// if `source` were padded with zeros.
///
/// # Panics
///
/// If `target` is shorter than `source`.
#[inline]
pub fn mul_add(target: &mut [u8], source: &[u8], factor: u8) {
    Kernel::best().mul_add(target, source, factor);
}

/// Multiplies each byte of `target` by `factor`.
#[inline]
pub fn scale(target: &mut [u8], factor: u8) {
    Kernel::best().scale(target, factor);
}

/// The kernel that is used here: "avx2", "ssse3", "neon", "simd128" or "portable".
pub fn kernel() -> &'static str {
    Kernel::best().name()
}
