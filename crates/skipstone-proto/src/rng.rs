//! Seeded randomness: xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64.
//!
//! For simulated runs and tests. Four outputs in a row determine all that follow, so no value that a peer sees comes
//! from this generator: ids, nonces and tokens are made by `security::secret_rng`.

/// A small, fast generator. The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

impl Rng {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Rng(core::array::from_fn(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }))
    }

    /// A generator in this state, which must not be all zeros: the state that follows the numbers from which it was
    /// computed.
    pub fn with_state(state: [u64; 4]) -> Self {
        Rng(state)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `bound`, which must not be 0. (Lemire's multiplication; the bias is below 2^-32 here.)
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a random number needs a range");
        (((self.next_u64() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A number from 0 to 1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}
