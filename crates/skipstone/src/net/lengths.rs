//! Length-prefixed messages in a stream of bytes (WIRE.md, sections 7.2 and 7.3). A length has two bytes, whose highest
//! bit is set.

use std::ops::RangeInclusive;

/// The highest bit of each length.
const MARK: u16 = 0x8000;
/// Bytes of a length.
pub(crate) const LENGTH_BYTES: usize = 2;

/// The beginning of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum First<'a> {
    Whole(&'a [u8]),
    /// An invalid length.
    Broken,
    /// More bytes are needed.
    Incomplete,
}

/// The bytes in front of a message of this length, which is less than 32,768.
pub(crate) fn prefix(length: usize) -> [u8; LENGTH_BYTES] {
    (MARK | length as u16).to_be_bytes()
}

/// The first message, if it is complete. It takes [`LENGTH_BYTES`] more than its bytes.
pub(crate) fn first(bytes: &[u8], lengths: RangeInclusive<usize>) -> First<'_> {
    let Some(prefix) = bytes.first_chunk().map(|prefix| u16::from_be_bytes(*prefix)) else { return First::Incomplete };
    let length = usize::from(prefix & !MARK);
    if prefix & MARK == 0 || !lengths.contains(&length) {
        return First::Broken;
    }
    bytes.get(LENGTH_BYTES..LENGTH_BYTES + length).map_or(First::Incomplete, First::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_complete_with_its_last_byte_and_invalid_lengths_are_broken() {
        let stream = [&prefix(300)[..], &[7; 300], &prefix(9)].concat();
        for end in 0..stream.len() {
            let expected = if end < 302 { First::Incomplete } else { First::Whole(&stream[2..302]) };
            assert_eq!(first(&stream[..end], 300..=300), expected, "its first {end} bytes");
        }
        for lengths in [0..=299, 301..=500] {
            assert_eq!(first(&stream, lengths), First::Broken);
        }
        assert_eq!(first(&[0x01, 0x2C, 7], 0..=500), First::Broken, "without the mark");
    }
}
