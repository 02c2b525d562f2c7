//! ACK and ACK_WINDOW (WIRE.md section 4.1), REPAIRED (section 4.3), and the ranges of packet numbers that they and
//! REPAIR have in common.

use std::ops::RangeInclusive;

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::number::Truncated;
use crate::wire::varint;

/// An acknowledgement as received: the packet numbers are in [`Ack::ranges`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack<'a> {
    /// The greatest packet number received; its reference is the next packet number of the receiver of the ACK.
    pub largest: Truncated,
    /// Between the arrival of `largest` and the sending of this frame, in µs.
    pub delay_us: u64,
    /// Bytes of reliable messages that the receiver can still hold; `None` for the whole window of the settings.
    pub window: Option<u64>,
    list: RangeList<'a>,
}

impl Ack<'_> {
    /// The packets received, inclusive ranges from the newest down, where `largest` is the resolved one. An error, as
    /// the last item, if they fall below packet 0: then the whole packet is to be dropped.
    pub fn ranges(&self, largest: u64) -> PacketRanges<'_> {
        self.list.below(largest)
    }
}

/// Which of the acknowledged packets never arrived, but were recovered from repair packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repaired<'a> {
    /// The greatest packet number repaired; its reference is as in ACK.
    pub largest: Truncated,
    list: RangeList<'a>,
}

impl Repaired<'_> {
    /// The packets repaired, as [`Ack::ranges`].
    pub fn ranges(&self, largest: u64) -> PacketRanges<'_> {
        self.list.below(largest)
    }
}

/// Ranges of packet numbers below one that is known: their count, then the length of the first, then gaps and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeList<'a> {
    further: u8,
    /// The field `first`, then `further` times gap and length: known to be varints, not to stay above 0.
    varints: &'a [u8],
}

impl<'a> RangeList<'a> {
    /// Takes the fields from `count` on.
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let further = reader.varint()?;
        if further >= ACK_RANGES_MAX as u64 {
            return Err(Malformed);
        }
        let varints = take_varints(reader, 1 + 2 * further as usize)?;
        Ok(RangeList { further: further as u8, varints })
    }

    /// The ranges, the first of which ends at `largest`.
    pub fn below(&self, largest: u64) -> PacketRanges<'a> {
        PacketRanges { reader: Reader::new(self.varints), next: Next::First { largest }, left: self.further + 1 }
    }

    /// Writes as many ranges as leave `reserve` bytes, up to [`ACK_RANGES_MAX`]; `first` must be written.
    pub(super) fn encode(
        writer: &mut Writer<'_>,
        first: RangeInclusive<u64>,
        further: impl Iterator<Item = RangeInclusive<u64>>,
        reserve: usize,
    ) {
        let (mut smallest, largest) = first.into_inner();
        assert!(smallest <= largest, "a range of packets is not empty");
        let count_at = writer.len();
        writer.u8(0);
        writer.varint(largest - smallest);
        let mut count = 0;
        for range in further.take(ACK_RANGES_MAX - 1) {
            let (start, end) = range.into_inner();
            assert!(start <= end, "a range of packets is not empty");
            assert!(end < smallest && smallest - end >= 2, "ranges of packets fall, and do not touch");
            let (gap, length) = (smallest - end - 2, end - start);
            if varint::len(gap) + varint::len(length) + reserve > writer.room() {
                break;
            }
            writer.varint(gap);
            writer.varint(length);
            smallest = start;
            count += 1;
        }
        writer.patch_u8(count_at, count);
    }

    /// Bytes of a list whose first range is this, without further ones.
    pub(super) fn len_min(first: &RangeInclusive<u64>) -> usize {
        COUNT_BYTES + varint::len(first.end().saturating_sub(*first.start()))
    }
}

/// Iterator over ranges of packet numbers; ends after an error.
#[derive(Debug, Clone)]
pub struct PacketRanges<'a> {
    reader: Reader<'a>,
    next: Next,
    left: u8,
}

#[derive(Debug, Clone, Copy)]
enum Next {
    First { largest: u64 },
    Below { smallest: u64 },
}

impl PacketRanges<'_> {
    fn decode(&mut self) -> Result<RangeInclusive<u64>, Malformed> {
        let end = match self.next {
            Next::First { largest } => largest,
            Next::Below { smallest } => {
                // A gap has at least one missing packet, and the range below it at least one received.
                let step = self.reader.varint()? + 2;
                smallest.checked_sub(step).ok_or(Malformed)?
            }
        };
        let start = end.checked_sub(self.reader.varint()?).ok_or(Malformed)?;
        self.next = Next::Below { smallest: start };
        Ok(start..=end)
    }
}

impl Iterator for PacketRanges<'_> {
    type Item = Result<RangeInclusive<u64>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let range = self.decode();
        if range.is_err() {
            self.left = 0;
        }
        Some(range)
    }
}

impl std::iter::FusedIterator for PacketRanges<'_> {}

/// Takes the fields after the type of an ACK or ACK_WINDOW frame.
pub(super) fn decode<'a>(reader: &mut Reader<'a>, frame_type: u8) -> Result<Ack<'a>, Malformed> {
    let largest = decode_largest(reader)?;
    let delay_us = reader.varint()?;
    let list = RangeList::decode(reader)?;
    let window = if frame_type == TYPE_ACK_WINDOW { Some(reader.varint()?) } else { None };
    Ok(Ack { largest, delay_us, window, list })
}

/// Takes the fields after the type of a REPAIRED frame.
pub(super) fn decode_repaired<'a>(reader: &mut Reader<'a>) -> Result<Repaired<'a>, Malformed> {
    Ok(Repaired { largest: decode_largest(reader)?, list: RangeList::decode(reader)? })
}

fn decode_largest(reader: &mut Reader<'_>) -> Result<Truncated, Malformed> {
    let largest = reader.truncated()?;
    if largest.bits < LARGEST_BITS_MIN { Err(Malformed) } else { Ok(largest) }
}

fn take_varints<'a>(reader: &mut Reader<'a>, count: usize) -> Result<&'a [u8], Malformed> {
    let mut behind = *reader;
    for _ in 0..count {
        behind.varint()?;
    }
    reader.take(reader.remaining() - behind.remaining())
}

/// Writes ACK, or ACK_WINDOW if there is a `window`. `ranges` are newest first, inclusive, not empty, disjoint and not
/// adjacent; as many are written as fit the room and [`ACK_RANGES_MAX`]. If not even the first fits, or there is none,
/// nothing is written and the answer is `false`. `distance` is how far the greatest number may be from the next packet
/// number of the receiver of the ACK.
pub fn encode_ack<I: Iterator<Item = RangeInclusive<u64>>>(
    writer: &mut Writer<'_>,
    mut ranges: I,
    distance: u64,
    delay_us: u64,
    window: Option<u64>,
) -> bool {
    let Some(first) = ranges.next() else {
        return false;
    };
    let truncated = Truncated::with_bits_at_least(*first.end(), distance, LARGEST_BITS_MIN);
    let window_len = window.map_or(0, varint::len);
    let head_len = 1 + truncated.len() + varint::len(delay_us) + RangeList::len_min(&first);
    if head_len + window_len > writer.room() {
        return false;
    }
    writer.u8(if window.is_some() { TYPE_ACK_WINDOW } else { TYPE_ACK });
    writer.truncated(truncated);
    writer.varint(delay_us);
    RangeList::encode(writer, first, ranges, window_len);
    if let Some(window) = window {
        writer.varint(window);
    }
    true
}

/// Writes REPAIRED, as [`encode_ack`] does ACK, and leaves room for `reserve` bytes after it.
pub fn encode_repaired<I: Iterator<Item = RangeInclusive<u64>>>(
    writer: &mut Writer<'_>,
    mut ranges: I,
    distance: u64,
    reserve: usize,
) -> bool {
    let Some(first) = ranges.next() else {
        return false;
    };
    let truncated = Truncated::with_bits_at_least(*first.end(), distance, LARGEST_BITS_MIN);
    if 1 + truncated.len() + RangeList::len_min(&first) + reserve > writer.room() {
        return false;
    }
    writer.u8(TYPE_REPAIRED);
    writer.truncated(truncated);
    RangeList::encode(writer, first, ranges, reserve);
    true
}

/// Ranges in one ACK at most, the first included.
pub const ACK_RANGES_MAX: usize = 32;

pub(super) const TYPE_ACK: u8 = 0x02;
pub(super) const TYPE_ACK_WINDOW: u8 = 0x03;
pub(super) const TYPE_REPAIRED: u8 = 0x08;

/// `largest` has at least two bytes.
const LARGEST_BITS_MIN: u8 = 14;

/// The count is below 32, a varint of one byte.
const COUNT_BYTES: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(room: usize, ranges: &[RangeInclusive<u64>], window: Option<u64>) -> Option<Vec<u8>> {
        let mut buffer = vec![0; room];
        let mut writer = Writer::new(&mut buffer);
        let done = encode_ack(&mut writer, ranges.iter().cloned(), 100, 250, window);
        assert_eq!(done, !writer.is_empty(), "either an ACK is written or nothing is");
        done.then(|| writer.written().to_vec())
    }

    fn decode_whole(bytes: &[u8]) -> Result<Ack<'_>, Malformed> {
        let mut reader = Reader::new(bytes);
        let frame_type = reader.u8()?;
        let ack = decode(&mut reader, frame_type)?;
        reader.end()?;
        Ok(ack)
    }

    fn ranges_of(bytes: &[u8], reference: u64) -> Result<Vec<RangeInclusive<u64>>, Malformed> {
        let ack = decode_whole(bytes)?;
        ack.ranges(ack.largest.resolve(reference)).collect()
    }

    /// Single packets, each second one missing.
    fn sparse(count: u64) -> Vec<RangeInclusive<u64>> {
        (0..count).map(|i| (1000 - 2 * i)..=(1000 - 2 * i)).collect()
    }

    #[test]
    fn ranges_round_trip_with_and_without_a_window() {
        let ranges = [900..=1000, 890..=898, 700..=700, 0..=5];
        for window in [None, Some(0), Some(varint::MAX)] {
            let bytes = encode(100, &ranges, window).unwrap();
            assert_eq!(bytes[0], if window.is_some() { 0x03 } else { 0x02 });
            let ack = decode_whole(&bytes).unwrap();
            assert_eq!((ack.delay_us, ack.window, ack.largest.bits), (250, window, 14));
            assert_eq!(ranges_of(&bytes, 1001).unwrap(), ranges);
        }
    }

    #[test]
    fn at_most_32_ranges_are_written() {
        let bytes = encode(200, &sparse(40), None).unwrap();
        assert_eq!(ranges_of(&bytes, 1001).unwrap(), sparse(32));
    }

    #[test]
    fn the_oldest_ranges_are_omitted_if_they_do_not_fit() {
        let full = encode(200, &sparse(10), Some(70_000)).unwrap().len();
        for room in 0..=full {
            let Some(bytes) = encode(room, &sparse(10), Some(70_000)) else {
                // The fields are type, largest, delay, count, first, window.
                assert!(room < 1 + 2 + 2 + 1 + 1 + 4);
                continue;
            };
            assert!(bytes.len() <= room && room - bytes.len() < 2);
            assert_eq!(decode_whole(&bytes).unwrap().window, Some(70_000));
            let ranges = ranges_of(&bytes, 1001).unwrap();
            assert_eq!(ranges, sparse(ranges.len() as u64));
        }
    }

    #[test]
    fn no_ranges_encode_to_nothing() {
        assert_eq!(encode(100, &[], None), None);
    }

    #[test]
    fn every_truncated_ack_is_malformed() {
        let bytes = encode(100, &[900..=1000, 890..=898], Some(70_000)).unwrap();
        for cut in 0..bytes.len() {
            assert_eq!(decode_whole(&bytes[..cut]), Err(Malformed));
        }
    }

    #[test]
    fn a_one_byte_largest_acknowledged_is_malformed() {
        assert_eq!(decode_whole(&[0x02, 0x05, 0, 0, 0]), Err(Malformed));
        assert!(decode_whole(&[0x02, 0x80, 0x05, 0, 0, 0]).is_ok());
    }

    #[test]
    fn more_than_31_further_ranges_are_malformed() {
        let with_count = |count: u8| {
            let mut bytes = vec![0x02, 0xbf, 0xff, 0, count];
            bytes.resize(bytes.len() + 1 + 2 * usize::from(count), 0);
            bytes
        };
        assert_eq!(ranges_of(&with_count(31), 16_384).unwrap().len(), 32);
        assert_eq!(decode_whole(&with_count(32)), Err(Malformed));
    }

    #[test]
    fn ranges_below_packet_zero_are_an_error_and_the_last_item() {
        let first_too_long = [0x02, 0x80, 0x05, 0, 1, 6, 0, 0];
        let gap_too_long = [0x02, 0x80, 0x05, 0, 2, 3, 1, 0, 0, 0];
        let length_too_long = [0x02, 0x80, 0x05, 0, 1, 1, 0, 3];
        for bytes in [&first_too_long[..], &gap_too_long, &length_too_long] {
            assert_eq!(ranges_of(bytes, 6), Err(Malformed));
            let ack = decode_whole(bytes).unwrap();
            let items: Vec<_> = ack.ranges(5).collect();
            assert!(items.len() <= 2 && items.last() == Some(&Err(Malformed)));
        }
        assert_eq!(ranges_of(&[0x02, 0x80, 0x05, 0, 1, 1, 0, 2], 6), Ok(vec![4..=5, 0..=2]));
        let greatest = [&[0x02, 0x80, 0x05, 0, 1, 0][..], &[0xff; 8], &[0xff; 8]].concat();
        assert_eq!(ranges_of(&greatest, 6), Err(Malformed));
    }

    #[test]
    #[should_panic(expected = "do not touch")]
    fn encoding_adjacent_ranges_panics() {
        encode(100, &[5..=6, 3..=4], None);
    }
}
