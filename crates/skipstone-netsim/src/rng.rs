//! The random generator: xoshiro256++ 1.0 (Blackman and Vigna 2019), seeded by splitmix64 (Steele, Lea and Flood 2014),
//! both after the reference code at <https://prng.di.unimi.it>. Good statistics, no secrecy.

use core::time::Duration;

/// Turns one seed into many: state for generators, seeds for links.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// One random stream.
#[derive(Clone, Debug)]
pub(crate) struct Xoshiro256PlusPlus([u64; 4]);

impl Xoshiro256PlusPlus {
    /// A stream of its own from the next four words of `seeds`.
    pub(crate) fn new(seeds: &mut SplitMix64) -> Self {
        Self(core::array::from_fn(|_| seeds.draw()))
    }

    pub(crate) fn draw(&mut self) -> Draw {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        Draw(result)
    }
}

/// One random number of 64 bits, to be used for one decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draw(u64);

impl Draw {
    /// True with `probability`. A draw that is true for a lower probability is also true for a higher one.
    pub(crate) fn hits(self, probability: f64) -> bool {
        // 0 never hits and 1 always does.
        self.unit() < probability
    }

    /// The upper 53 bits as a float in [0, 1).
    pub(crate) fn unit(self) -> f64 {
        (self.0 >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform from zero up to, not including, `end`; zero if `end` is zero.
    pub(crate) fn up_to(self, end: u64) -> u64 {
        // The upper half of the product (Lemire 2019) without the rejection: the bias is below `end / 2^64`.
        ((u128::from(self.0) * u128::from(end)) >> 64) as u64
    }

    /// Uniform from zero up to, not including, `end` (which counts as 584 years if it is longer).
    pub(crate) fn duration_up_to(self, end: Duration) -> Duration {
        let nanoseconds = u64::try_from(end.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.up_to(nanoseconds))
    }

    /// More random numbers from this one, for a decision that needs several.
    pub(crate) fn expand(self) -> impl FnMut() -> Draw {
        let mut seeds = SplitMix64::new(self.0);
        move || Draw(seeds.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_matches_the_reference_numbers() {
        let mut seeds = SplitMix64::new(0);
        let numbers: [u64; 3] = core::array::from_fn(|_| seeds.draw());
        assert_eq!(numbers, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn xoshiro256plusplus_matches_the_reference_numbers() {
        let mut stream = Xoshiro256PlusPlus([1, 2, 3, 4]);
        let numbers: [u64; 6] = core::array::from_fn(|_| stream.draw().0);
        let reference = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(numbers, reference);
    }

    #[test]
    fn probability_0_never_hits_and_1_always_does() {
        for draw in [Draw(0), Draw(u64::MAX)] {
            assert!(!draw.hits(0.0));
            assert!(draw.hits(1.0));
        }
    }

    #[test]
    fn a_draw_is_below_its_bound() {
        assert_eq!(Draw(u64::MAX).up_to(10), 9);
        assert_eq!(Draw(0).up_to(10), 0);
        assert_eq!(Draw(u64::MAX).up_to(0), 0);
        assert_eq!(Draw(u64::MAX).duration_up_to(Duration::ZERO), Duration::ZERO);
        assert!(Draw(u64::MAX).duration_up_to(Duration::MAX) < Duration::MAX);
    }
}
