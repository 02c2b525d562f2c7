//! Truncated numbers: the low bits of a number that only grows, restored near a reference (WIRE.md section 1).

/// The low `bits` of a packet number or a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncated {
    /// The bits that were kept, below 2^bits.
    pub value: u32,
    /// The number of bits that were kept: 7, 14, 21, 28 or 32.
    pub bits: u8,
}

impl Truncated {
    /// Keeps enough bits of `number` that `distance` (how far it may be from the receiver's reference) is below half of
    /// 2^bits; 32 at most, which a distance of 2^31 and more no longer restores.
    pub fn new(number: u64, distance: u64) -> Truncated {
        Truncated::with_bits_at_least(number, distance, 0)
    }

    /// Like [`Truncated::new`], but with at least `bits_min` bits.
    pub fn with_bits_at_least(number: u64, distance: u64, bits_min: u8) -> Truncated {
        let bits =
            [7, 14, 21, 28].into_iter().find(|&bits| bits >= bits_min && distance < 1 << (bits - 1)).unwrap_or(32);
        Truncated { value: (number & mask(bits)) as u32, bits }
    }

    /// The packet number nearest to `reference` that has these low bits: of two as near, the greater; never below 0.
    pub fn resolve(self, reference: u64) -> u64 {
        let period = 1 << self.bits;
        let up = u64::from(self.value).wrapping_sub(reference) & mask(self.bits);
        let above = reference.checked_add(up);
        let below = reference.checked_sub(period - up);
        match (above, below) {
            (Some(above), _) if up <= period / 2 => above,
            (_, Some(below)) => below,
            // One of the two exists: `reference` cannot lie within 2^32 of both ends of the 64 bits.
            (above, None) => above.unwrap_or(reference),
        }
    }

    /// The sequence nearest to `reference` that has these low bits, in wrapping 32-bit arithmetic (RFC 1982): of two as
    /// near, the one above.
    pub fn resolve_seq(self, reference: u32) -> u32 {
        let up = self.value.wrapping_sub(reference) & mask(self.bits) as u32;
        let above = reference.wrapping_add(up);
        if u64::from(up) <= 1 << (self.bits - 1) { above } else { above.wrapping_sub((1_u64 << self.bits) as u32) }
    }

    /// Bytes on the wire, 1 to 5.
    #[expect(clippy::len_without_is_empty, reason = "a number is never empty")]
    pub fn len(self) -> usize {
        usize::from(self.bits.div_ceil(7))
    }
}

const fn mask(bits: u8) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [u8; 5] = [7, 14, 21, 28, 32];

    #[test]
    fn the_width_grows_when_the_distance_reaches_half_its_range() {
        for (distance, bits) in [
            (0, 7),
            (63, 7),
            (64, 14),
            (8_191, 14),
            (8_192, 21),
            ((1 << 20) - 1, 21),
            (1 << 20, 28),
            ((1 << 27) - 1, 28),
            (1 << 27, 32),
            (u64::MAX, 32),
        ] {
            assert_eq!(Truncated::new(u64::MAX, distance).bits, bits, "{distance}");
        }
        assert_eq!(Truncated::with_bits_at_least(1, 0, 14), Truncated { value: 1, bits: 14 });
        assert_eq!(Truncated::with_bits_at_least(1, 0, 8).bits, 14);
        assert_eq!(Truncated::with_bits_at_least(1, 9_000, 14).bits, 21);
    }

    #[test]
    fn a_number_within_its_distance_is_restored_on_both_sides() {
        for bits in WIDTHS {
            let half = 1_u64 << (bits - 1);
            for reference in [half, half + 1, 1 << 33, (1 << 40) + 12_345] {
                for number in [reference - half + 1, reference - 1, reference, reference + half - 1] {
                    let distance = number.abs_diff(reference);
                    assert_eq!(Truncated::new(number, distance).resolve(reference), number);
                    let wide = Truncated { value: (number & mask(bits)) as u32, bits };
                    assert_eq!(wide.resolve(reference), number);
                    assert_eq!(wide.resolve_seq(reference as u32), number as u32);
                }
            }
        }
    }

    #[test]
    fn of_two_equally_near_numbers_the_greater_is_chosen() {
        for bits in WIDTHS {
            let half = 1_u64 << (bits - 1);
            let reference = (1 << 40) + 7;
            let tie = Truncated { value: ((reference + half) & mask(bits)) as u32, bits };
            assert_eq!(tie.resolve(reference), reference + half);
            assert_eq!(tie.resolve_seq(reference as u32), (reference + half) as u32);
        }
    }

    #[test]
    fn packet_numbers_never_underflow_or_overflow() {
        assert_eq!(Truncated { value: 127, bits: 7 }.resolve(0), 127);
        assert_eq!(Truncated { value: 127, bits: 7 }.resolve(62), 127);
        assert_eq!(Truncated { value: 127, bits: 7 }.resolve(128), 127);
        assert_eq!(Truncated { value: u32::MAX, bits: 32 }.resolve(3), u32::MAX.into());
        assert_eq!(Truncated { value: 0, bits: 7 }.resolve(u64::MAX), u64::MAX - 127);
        assert_eq!(Truncated { value: 0, bits: 32 }.resolve(u64::MAX), u64::MAX - u64::from(u32::MAX));
    }

    #[test]
    fn sequences_wrap_in_both_directions() {
        assert_eq!(Truncated { value: 2, bits: 7 }.resolve_seq(u32::MAX), 2);
        assert_eq!(Truncated { value: 127, bits: 7 }.resolve_seq(0), u32::MAX);
        assert_eq!(Truncated { value: 5, bits: 32 }.resolve_seq(u32::MAX), 5);
        assert_eq!(Truncated { value: u32::MAX, bits: 32 }.resolve_seq(5), u32::MAX);
    }
}
