//! Variable-length integers (WIRE.md section 1; RFC 9000 section 16). [`super::cursor`] reads and writes them.

/// The greatest value that a varint holds: 2^62-1.
pub const MAX: u64 = (1 << 62) - 1;

/// Bytes of the shortest form of `value`: 1, 2, 4 or 8.
///
/// # Panics
/// If `value` is above [`MAX`].
pub const fn len(value: u64) -> usize {
    assert!(value <= MAX, "a varint holds 62 bits");
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Malformed;
    use crate::wire::cursor::{Reader, Writer};

    #[test]
    fn varints_of_every_length_round_trip_in_the_shortest_form() {
        let limits =
            [(0, 1), (0x3f, 1), (0x40, 2), (0x3fff, 2), (0x4000, 4), (0x3fff_ffff, 4), (0x4000_0000, 8), (MAX, 8)];
        for (value, bytes) in limits {
            let mut buffer = [0; 8];
            let mut writer = Writer::new(&mut buffer);
            writer.varint(value);
            assert_eq!(writer.len(), bytes);
            assert_eq!(len(value), bytes);
            let mut reader = Reader::new(writer.written());
            assert_eq!(reader.varint(), Ok(value));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn varints_are_those_of_rfc_9000_appendix_a() {
        let samples: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, value) in samples {
            assert_eq!(Reader::new(bytes).varint(), Ok(value));
        }
    }

    #[test]
    fn a_varint_that_is_cut_short_is_malformed() {
        for cut in [&[][..], &[0x40], &[0x80, 0, 0], &[0xc0, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(Reader::new(cut).varint(), Err(Malformed));
        }
    }

    #[test]
    #[should_panic(expected = "a varint holds 62 bits")]
    fn a_value_above_62_bits_has_no_varint() {
        len(MAX + 1);
    }
}
