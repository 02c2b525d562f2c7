//! Chooses the instructions, once per call, by the features of the processor. Factors 0 and 1 need no multiplication
//! and are handled first.

use crate::field::Products;
use crate::portable;
#[cfg(target_arch = "aarch64")]
use crate::simd::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::simd::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Ssse3};

/// One of the kernels that this machine supports. [`mul_add`](crate::mul_add) and [`scale`](crate::scale) use the best
/// one; tests and benches use all.
#[derive(Clone, Copy)]
pub struct Kernel(Instructions);

#[derive(Clone, Copy)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Ssse3(Ssse3),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128(Simd128),
}

impl Kernel {
    /// The fastest.
    #[inline]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            return Self(Instructions::Avx2(avx2));
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(ssse3) = Ssse3::detect() {
            return Self(Instructions::Ssse3(ssse3));
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = Neon::detect() {
            return Self(Instructions::Neon(neon));
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return Self(Instructions::Simd128(Simd128));
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        Self(Instructions::Portable)
    }

    /// All of them, the slowest first.
    pub fn all() -> Vec<Self> {
        let kernels = [
            Some(Instructions::Portable),
            #[cfg(target_arch = "x86_64")]
            Ssse3::detect().map(Instructions::Ssse3),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Instructions::Avx2),
            #[cfg(target_arch = "aarch64")]
            Neon::detect().map(Instructions::Neon),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Some(Instructions::Simd128(Simd128)),
        ];
        kernels.into_iter().flatten().map(Self).collect()
    }

    /// "avx2", "ssse3", "neon", "simd128" or "portable".
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Instructions::Ssse3(_) => "ssse3",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128(_) => "simd128",
        }
    }

    /// As [`mul_add`](crate::mul_add).
    ///
    /// # Panics
    ///
    /// If `target` is shorter than `source`.
    #[inline]
    pub fn mul_add(self, target: &mut [u8], source: &[u8], factor: u8) {
        let (target_bytes, source_bytes) = (target.len(), source.len());
        assert!(
            source_bytes <= target_bytes,
            "a source of {source_bytes} bytes does not fit into a target of {target_bytes}: lengthen the target first"
        );
        let target = &mut target[..source_bytes];
        match factor {
            0 => {}
            1 => add(target, source),
            _ => self.mul_add_products(target, source, Products::of(factor)),
        }
    }

    /// As [`scale`](crate::scale).
    #[inline]
    pub fn scale(self, target: &mut [u8], factor: u8) {
        match factor {
            0 => target.fill(0),
            1 => {}
            _ => self.scale_products(target, Products::of(factor)),
        }
    }

    fn mul_add_products(self, target: &mut [u8], source: &[u8], products: &Products) {
        match self.0 {
            Instructions::Portable => portable::mul_add(target, source, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::Ssse3(ssse3) => ssse3.mul_add(target, source, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(avx2) => avx2.mul_add(target, source, products),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(neon) => neon.mul_add(target, source, products),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128(simd128) => simd128.mul_add(target, source, products),
        }
    }

    fn scale_products(self, target: &mut [u8], products: &Products) {
        match self.0 {
            Instructions::Portable => portable::scale(target, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::Ssse3(ssse3) => ssse3.scale(target, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(avx2) => avx2.scale(target, products),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(neon) => neon.scale(target, products),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128(simd128) => simd128.scale(target, products),
        }
    }
}

/// The compiler vectorises this one by itself.
fn add(target: &mut [u8], source: &[u8]) {
    for (target, source) in target.iter_mut().zip(source) {
        *target ^= source;
    }
}
