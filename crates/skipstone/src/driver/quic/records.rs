//! Datagrams on a stream of the session, each after its length (WIRE.md section 7.2).

use crate::net::lengths::{First, LENGTH_BYTES, first};
use bytes::BytesMut;
use std::ops::RangeInclusive;

/// Bytes of a datagram on a stream. No packet of any path is longer, and no datagram of the protocol is shorter: many
/// tiny ones would cost much more than their bytes.
const RECORD_BYTES: RangeInclusive<usize> = 8..=2_048;

/// The reader of one stream: it keeps the beginning of an incomplete datagram.
#[derive(Debug, Default)]
pub(super) struct RecordReader {
    begun: Vec<u8>,
}

/// An invalid length of a datagram.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl RecordReader {
    /// Takes the stream's next bytes, and adds the datagrams that they complete.
    pub(super) fn handle(&mut self, bytes: &[u8], whole: &mut Vec<BytesMut>) -> Result<(), Broken> {
        let mut begun = core::mem::take(&mut self.begun);
        let joined = if begun.is_empty() {
            bytes
        } else {
            begun.extend_from_slice(bytes);
            &begun
        };
        let mut rest = joined;
        loop {
            match first(rest, RECORD_BYTES) {
                First::Whole(datagram) => {
                    whole.push(BytesMut::from(datagram));
                    rest = &rest[LENGTH_BYTES + datagram.len()..];
                }
                First::Broken => return Err(Broken),
                First::Incomplete => break,
            }
        }
        self.begun.extend_from_slice(rest);
        Ok(())
    }

    /// Bytes of the incomplete datagram.
    pub(super) fn kept_bytes(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::lengths::prefix;

    fn records(lengths: &[usize]) -> (Vec<BytesMut>, Vec<u8>) {
        let datagrams: Vec<BytesMut> =
            (0..).zip(lengths).map(|(at, &length)| BytesMut::from(&vec![at; length][..])).collect();
        let bytes = datagrams.iter().flat_map(|datagram| [&prefix(datagram.len())[..], datagram].concat()).collect();
        (datagrams, bytes)
    }

    #[test]
    fn datagrams_are_equal_however_the_stream_is_split() {
        let (datagrams, bytes) = records(&[8, 1_200, 11, 2_048, 300]);
        for piece in [1, 2, 3, 7, 1_000, bytes.len()] {
            let (mut records, mut whole) = (RecordReader::default(), Vec::new());
            for bytes in bytes.chunks(piece) {
                assert_eq!(records.handle(bytes, &mut whole), Ok(()));
                assert!(records.kept_bytes() < LENGTH_BYTES + RECORD_BYTES.end());
            }
            assert_eq!((whole, records.kept_bytes()), (datagrams.clone(), 0), "pieces of {piece}");
        }
    }

    #[test]
    fn impossible_lengths_are_broken() {
        for length in [[0x00, 0x14], [0x7F, 0xFF], prefix(0), prefix(7), prefix(2_049), [0xFF, 0xFF]] {
            let (good, mut bytes) = records(&[19]);
            bytes.extend(length);
            let mut whole = Vec::new();
            assert_eq!(RecordReader::default().handle(&bytes, &mut whole), Err(Broken), "{length:?}");
            assert_eq!(whole, good, "what came before stays");
        }
    }
}
