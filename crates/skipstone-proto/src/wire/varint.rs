//! Variable-length integers (WIRE.md section 1; RFC 9000 section 16). `cursor` reads and writes them.

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

    #[test]
    #[should_panic(expected = "a varint holds 62 bits")]
    fn a_value_above_62_bits_has_no_varint() {
        len(MAX + 1);
    }
}
