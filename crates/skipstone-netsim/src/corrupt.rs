//! Flips bits.

use crate::rng::Draw;

/// Flips one to three different bits of `bytes`. Returns whether there were any to flip.
pub(crate) fn flip_bits(bytes: &mut [u8], draw: Draw) -> bool {
    if bytes.is_empty() {
        return false;
    }
    let mut random = draw.expand();
    let bits = bytes.len() * 8;
    let flips = 1 + random().up_to(3) as usize;
    // Floyd's sampling without repetition (Bentley and Floyd 1987): a bit flipped twice would be no corruption.
    let mut flipped = [usize::MAX; 3];
    for (flip, last) in (bits - flips..bits).enumerate() {
        let any = random().up_to(last as u64 + 1) as usize;
        let bit = if flipped.contains(&any) { last } else { any };
        flipped[flip] = bit;
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{SplitMix64, Xoshiro256PlusPlus};

    #[test]
    fn one_two_and_three_bits_are_equally_common_even_in_one_byte() {
        let mut stream = Xoshiro256PlusPlus::new(&mut SplitMix64::new(1));
        let mut counts = [0_u32; 9];
        let mut per_bit = [0_u32; 8];
        for _ in 0..30_000 {
            let mut byte = [0_u8];
            assert!(flip_bits(&mut byte, stream.draw()));
            counts[byte[0].count_ones() as usize] += 1;
            for (bit, count) in per_bit.iter_mut().enumerate() {
                *count += u32::from(byte[0] >> bit & 1);
            }
        }
        assert_eq!(counts.iter().sum::<u32>(), counts[1..=3].iter().sum::<u32>(), "{counts:?}");
        assert!(counts[1..=3].iter().all(|count| (9_700..10_300).contains(count)), "{counts:?}");
        // Two flips on average, over eight bits.
        assert!(per_bit.iter().all(|count| (7_200..7_800).contains(count)), "{per_bit:?}");
    }

    #[test]
    fn an_empty_datagram_is_not_corrupted() {
        let mut stream = Xoshiro256PlusPlus::new(&mut SplitMix64::new(1));
        assert!(!flip_bits(&mut [], stream.draw()));
    }
}
