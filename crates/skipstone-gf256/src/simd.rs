//! Sixteen or thirty-two products per instruction: a vector of bytes selects from a table of sixteen entries, once by
//! the low and once by the high four bits (Plank, Greenan, Miller, "Screaming fast Galois field arithmetic using Intel
//! SIMD instructions", FAST 2013). This is the only file of the crate with `unsafe`; every function is safe to call.
//!
//! A kernel is a value that exists only on machines with its instructions: having one is the proof that it may run.

#![expect(
    unsafe_code,
    reason = "std has no safe way to call vector instructions, or to load and store their registers"
)]

#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use wasm::Simd128;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Ssse3};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_and_si128, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8, _mm_srli_epi64,
        _mm_storeu_si128, _mm_xor_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_loadu_si256,
        _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    };
    use std::ptr;

    use crate::field::Products;
    use crate::portable;

    /// The processor has AVX2.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        /// The standard library detects the feature once and caches the answer.
        #[inline]
        pub(crate) fn detect() -> Option<Self> {
            is_x86_feature_detected!("avx2").then_some(Self(()))
        }

        pub(crate) fn mul_add(self, target: &mut [u8], source: &[u8], products: &Products) {
            // SAFETY: the function requires AVX2, without which there is no `self`; it has no other condition.
            unsafe { mul_add_avx2(target, source, products) }
        }

        pub(crate) fn scale(self, target: &mut [u8], products: &Products) {
            // SAFETY: the function requires AVX2, without which there is no `self`; it has no other condition.
            unsafe { scale_avx2(target, products) }
        }
    }

    #[target_feature(enable = "avx2")]
    fn mul_add_avx2(target: &mut [u8], source: &[u8], products: &Products) {
        let low = _mm256_broadcastsi128_si256(load_16(&products.low));
        let high = _mm256_broadcastsi128_si256(load_16(&products.high));
        let (targets, target_rest) = target.as_chunks_mut();
        let (sources, source_rest) = source.as_chunks();
        for (target, source) in targets.iter_mut().zip(sources) {
            let product = product_32(load_32(source), low, high);
            store_32(target, _mm256_xor_si256(load_32(target), product));
        }
        mul_add_ssse3(target_rest, source_rest, products);
    }

    #[target_feature(enable = "avx2")]
    fn scale_avx2(target: &mut [u8], products: &Products) {
        let low = _mm256_broadcastsi128_si256(load_16(&products.low));
        let high = _mm256_broadcastsi128_si256(load_16(&products.high));
        let (targets, rest) = target.as_chunks_mut();
        for target in targets {
            store_32(target, product_32(load_32(target), low, high));
        }
        scale_ssse3(rest, products);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn product_32(bytes: __m256i, low: __m256i, high: __m256i) -> __m256i {
        let four_bits = _mm256_set1_epi8(15);
        let of_low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, four_bits));
        let of_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi64::<4>(bytes), four_bits));
        _mm256_xor_si256(of_low, of_high)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_32(bytes: &[u8; 32]) -> __m256i {
        // SAFETY: reads the 32 bytes of the reference; this load requires no alignment.
        unsafe { _mm256_loadu_si256(ptr::from_ref(bytes).cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store_32(bytes: &mut [u8; 32], value: __m256i) {
        // SAFETY: writes the 32 bytes of the exclusive reference; this store requires no alignment.
        unsafe { _mm256_storeu_si256(ptr::from_mut(bytes).cast(), value) }
    }

    /// The processor has SSSE3.
    #[derive(Clone, Copy)]
    pub(crate) struct Ssse3(());

    impl Ssse3 {
        /// The standard library detects the feature once and caches the answer.
        #[inline]
        pub(crate) fn detect() -> Option<Self> {
            is_x86_feature_detected!("ssse3").then_some(Self(()))
        }

        pub(crate) fn mul_add(self, target: &mut [u8], source: &[u8], products: &Products) {
            // SAFETY: the function requires SSSE3, without which there is no `self`; it has no other condition.
            unsafe { mul_add_ssse3(target, source, products) }
        }

        pub(crate) fn scale(self, target: &mut [u8], products: &Products) {
            // SAFETY: the function requires SSSE3, without which there is no `self`; it has no other condition.
            unsafe { scale_ssse3(target, products) }
        }
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn mul_add_ssse3(target: &mut [u8], source: &[u8], products: &Products) {
        let (low, high) = (load_16(&products.low), load_16(&products.high));
        let (targets, target_rest) = target.as_chunks_mut();
        let (sources, source_rest) = source.as_chunks();
        for (target, source) in targets.iter_mut().zip(sources) {
            let product = product_16(load_16(source), low, high);
            store_16(target, _mm_xor_si128(load_16(target), product));
        }
        portable::mul_add(target_rest, source_rest, products);
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn scale_ssse3(target: &mut [u8], products: &Products) {
        let (low, high) = (load_16(&products.low), load_16(&products.high));
        let (targets, rest) = target.as_chunks_mut();
        for target in targets {
            store_16(target, product_16(load_16(target), low, high));
        }
        portable::scale(rest, products);
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn product_16(bytes: __m128i, low: __m128i, high: __m128i) -> __m128i {
        let four_bits = _mm_set1_epi8(15);
        let of_low = _mm_shuffle_epi8(low, _mm_and_si128(bytes, four_bits));
        let of_high = _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi64::<4>(bytes), four_bits));
        _mm_xor_si128(of_low, of_high)
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn load_16(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: reads the 16 bytes of the reference; this load requires no alignment.
        unsafe { _mm_loadu_si128(ptr::from_ref(bytes).cast()) }
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn store_16(bytes: &mut [u8; 16], value: __m128i) {
        // SAFETY: writes the 16 bytes of the exclusive reference; this store requires no alignment.
        unsafe { _mm_storeu_si128(ptr::from_mut(bytes).cast(), value) }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::{uint8x16_t, vandq_u8, vdupq_n_u8, veorq_u8, vld1q_u8, vqtbl1q_u8, vshrq_n_u8, vst1q_u8};
    use std::arch::is_aarch64_feature_detected;

    use crate::field::Products;
    use crate::portable;

    /// The processor has NEON, as nearly all do.
    #[derive(Clone, Copy)]
    pub(crate) struct Neon(());

    impl Neon {
        /// The standard library detects the feature once and caches the answer, or the compiler knows it.
        #[inline]
        pub(crate) fn detect() -> Option<Self> {
            is_aarch64_feature_detected!("neon").then_some(Self(()))
        }

        pub(crate) fn mul_add(self, target: &mut [u8], source: &[u8], products: &Products) {
            // SAFETY: the function requires NEON, without which there is no `self`; it has no other condition.
            unsafe { mul_add_neon(target, source, products) }
        }

        pub(crate) fn scale(self, target: &mut [u8], products: &Products) {
            // SAFETY: the function requires NEON, without which there is no `self`; it has no other condition.
            unsafe { scale_neon(target, products) }
        }
    }

    #[target_feature(enable = "neon")]
    fn mul_add_neon(target: &mut [u8], source: &[u8], products: &Products) {
        let (low, high) = (load_16(&products.low), load_16(&products.high));
        let (targets, target_rest) = target.as_chunks_mut();
        let (sources, source_rest) = source.as_chunks();
        for (target, source) in targets.iter_mut().zip(sources) {
            let product = product_16(load_16(source), low, high);
            store_16(target, veorq_u8(load_16(target), product));
        }
        portable::mul_add(target_rest, source_rest, products);
    }

    #[target_feature(enable = "neon")]
    fn scale_neon(target: &mut [u8], products: &Products) {
        let (low, high) = (load_16(&products.low), load_16(&products.high));
        let (targets, rest) = target.as_chunks_mut();
        for target in targets {
            store_16(target, product_16(load_16(target), low, high));
        }
        portable::scale(rest, products);
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn product_16(bytes: uint8x16_t, low: uint8x16_t, high: uint8x16_t) -> uint8x16_t {
        let of_low = vqtbl1q_u8(low, vandq_u8(bytes, vdupq_n_u8(15)));
        let of_high = vqtbl1q_u8(high, vshrq_n_u8::<4>(bytes));
        veorq_u8(of_low, of_high)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn load_16(bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: reads the 16 bytes of the reference; this load requires no more than byte alignment.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn store_16(bytes: &mut [u8; 16], value: uint8x16_t) {
        // SAFETY: writes the 16 bytes of the exclusive reference; this store requires no alignment beyond a byte's.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), value) }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm {
    use std::arch::wasm32::{u8x16_shr, u8x16_splat, u8x16_swizzle, v128, v128_and, v128_load, v128_store, v128_xor};

    use crate::field::Products;
    use crate::portable;

    /// The module was built for engines with vectors: an engine without them refuses the whole module.
    #[derive(Clone, Copy)]
    pub(crate) struct Simd128;

    impl Simd128 {
        pub(crate) fn mul_add(self, target: &mut [u8], source: &[u8], products: &Products) {
            let (low, high) = (load_16(&products.low), load_16(&products.high));
            let (targets, target_rest) = target.as_chunks_mut();
            let (sources, source_rest) = source.as_chunks();
            for (target, source) in targets.iter_mut().zip(sources) {
                let product = product_16(load_16(source), low, high);
                store_16(target, v128_xor(load_16(target), product));
            }
            portable::mul_add(target_rest, source_rest, products);
        }

        pub(crate) fn scale(self, target: &mut [u8], products: &Products) {
            let (low, high) = (load_16(&products.low), load_16(&products.high));
            let (targets, rest) = target.as_chunks_mut();
            for target in targets {
                store_16(target, product_16(load_16(target), low, high));
            }
            portable::scale(rest, products);
        }
    }

    #[inline]
    fn product_16(bytes: v128, low: v128, high: v128) -> v128 {
        let of_low = u8x16_swizzle(low, v128_and(bytes, u8x16_splat(15)));
        let of_high = u8x16_swizzle(high, u8x16_shr(bytes, 4));
        v128_xor(of_low, of_high)
    }

    #[inline]
    fn load_16(bytes: &[u8; 16]) -> v128 {
        // SAFETY: reads the 16 bytes of the reference; this load requires no alignment.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    #[inline]
    fn store_16(bytes: &mut [u8; 16], value: v128) {
        // SAFETY: writes the 16 bytes of the exclusive reference; this store requires no alignment.
        unsafe { v128_store(bytes.as_mut_ptr().cast(), value) }
    }
}
