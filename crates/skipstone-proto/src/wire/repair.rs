//! REPAIR (WIRE.md section 4.4): a combination of the contents of earlier packets, from which a missing one can be
//! recovered.

use std::ops::RangeInclusive;

use crate::wire::Malformed;
use crate::wire::ack::{PacketRanges, RangeList};
use crate::wire::cursor::{Reader, Writer};
use crate::wire::varint;

/// A repair symbol as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair<'a> {
    /// The index of the combination: 0 to 63.
    pub index: u8,
    /// How far the greatest covered number is below this packet's number; at least 1.
    back: u64,
    list: RangeList<'a>,
    /// The combined symbols, at least [`SYMBOL_BYTES_MIN`].
    pub symbol: &'a [u8],
}

impl Repair<'_> {
    /// The packets covered, inclusive ranges from the newest down, if this arrived in the packet with this number.
    ///
    /// # Errors
    /// The packets covered fall below packet 0.
    pub fn covers(&self, number: u64) -> Result<PacketRanges<'_>, Malformed> {
        Ok(self.list.below(number.checked_sub(self.back).ok_or(Malformed)?))
    }
}

/// Takes the fields after the type, up to the end of the packet.
pub(super) fn decode<'a>(reader: &mut Reader<'a>) -> Result<Repair<'a>, Malformed> {
    let index = reader.u8()?;
    let back = reader.varint()?;
    let list = RangeList::decode(reader)?;
    let symbol = reader.rest();
    if index > INDEX_MAX || back == 0 || symbol.len() < SYMBOL_BYTES_MIN {
        return Err(Malformed);
    }
    Ok(Repair { index, back, list, symbol })
}

/// Writes the fields before the symbol for the packet `number`; `ranges` are newest first, and there is room for all.
/// The symbol, to the end of the packet, is the caller's to write.
///
/// # Panics
/// If there are no ranges, or there is no room.
pub fn encode_repair_header(
    writer: &mut Writer<'_>,
    number: u64,
    index: u8,
    mut ranges: impl Iterator<Item = RangeInclusive<u64>>,
) {
    let first = ranges.next().expect("a repair covers a packet");
    writer.u8(TYPE_REPAIR);
    writer.u8(index);
    writer.varint(number - first.end());
    RangeList::encode(writer, first, ranges, 0);
}

/// Bytes of the header, for such ranges, newest first.
pub fn repair_header_len(number: u64, ranges: &[RangeInclusive<u64>]) -> usize {
    let Some(first) = ranges.first() else { return 0 };
    let span = |range: &RangeInclusive<u64>| varint::len(range.end() - range.start());
    let gaps = ranges.windows(2).map(|pair| varint::len(pair[0].start() - pair[1].end()));
    3 + varint::len(number - first.end()) + ranges.iter().map(span).sum::<usize>() + gaps.sum::<usize>()
}

/// The greatest index of a repair.
pub const INDEX_MAX: u8 = 63;
/// Length, checksum, and a byte of content.
pub const SYMBOL_BYTES_MIN: usize = 7;

pub(super) const TYPE_REPAIR: u8 = 0x09;
