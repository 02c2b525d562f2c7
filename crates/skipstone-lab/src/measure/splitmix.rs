//! SplitMix64 (Steele, Lea, Flood 2014): one word after the other from a seed, or a mix of one word.

/// The next word.
pub fn splitmix(state: &mut u64) -> u64 {
    let mixed = mix(*state);
    *state = state.wrapping_add(STEP);
    mixed
}

/// The word that follows this state.
pub fn mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(STEP);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
