//! Pieces of the handshake in a datagram: one in clear, one under the handshake's keys, zeros. WIRE.md section 2.8.

use skipstone_proto::coding::varint;
use skipstone_proto::coding::{Reader, Writer};

/// The pieces of one datagram, each at most once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DatagramPieces<'a> {
    pub(super) clear: Option<Clear<'a>>,
    pub(super) sealed: Option<Sealed<'a>>,
}

/// Bytes in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clear<'a> {
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
}

/// A sealed piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sealed<'a> {
    pub(super) counter: u32,
    /// Kind and counter, which the tag authenticates too.
    pub(super) header: &'a [u8],
    /// Acknowledgement, offset, bytes: sealed. Then the tag.
    pub(super) bytes: &'a [u8],
}

const PADDING: u8 = 0;
const CLEAR: u8 = 1;
const SEALED: u8 = 2;
/// Kind and counter.
pub(super) const SEALED_HEADER_BYTES: usize = 5;
/// Bytes that an AEAD adds.
pub(super) const TAG_BYTES: usize = 16;

/// The pieces of a datagram; `None` if the datagram is not valid.
pub(super) fn decode(bytes: &[u8]) -> Option<DatagramPieces<'_>> {
    let mut reader = Reader::new(bytes);
    let mut pieces = DatagramPieces::default();
    let mut kind = reader.u8().ok()?;
    if kind == CLEAR {
        let offset = reader.varint().ok()?;
        let length = usize::try_from(reader.varint().ok()?).ok()?;
        pieces.clear = Some(Clear { offset, bytes: reader.take(length).ok()? });
        let Ok(next) = reader.u8() else { return Some(pieces) };
        kind = next;
    }
    match kind {
        SEALED => {
            let header = &bytes[bytes.len() - reader.remaining() - 1..].get(..SEALED_HEADER_BYTES)?;
            let counter = reader.u32().ok()?;
            pieces.sealed = Some(Sealed { counter, header, bytes: reader.rest() });
        }
        PADDING => {}
        _ => return None,
    }
    Some(pieces)
}

/// Overhead of a piece in clear with at most this many bytes of content.
pub(super) const fn clear_overhead(offset: usize, bytes_max: usize) -> usize {
    1 + varint::len(offset as u64) + varint::len(bytes_max as u64)
}

/// Writes a piece in clear.
pub(super) fn encode_clear(writer: &mut Writer<'_>, offset: usize, bytes: &[u8]) {
    writer.u8(CLEAR);
    writer.varint(offset as u64);
    writer.varint(bytes.len() as u64);
    writer.bytes(bytes);
}

/// Kind and counter of a sealed piece.
pub(super) fn sealed_header(counter: u32) -> [u8; SEALED_HEADER_BYTES] {
    let [a, b, c, d] = counter.to_be_bytes();
    [SEALED, a, b, c, d]
}

/// Bytes in front of a sealed piece's content, once the piece is opened.
pub(super) const fn inner_len(acknowledged: usize, offset: usize) -> usize {
    varint::len(acknowledged as u64) + varint::len(offset as u64)
}

/// Acknowledgement and offset of a sealed piece that was opened, and its bytes.
pub(super) fn decode_inner(opened: &[u8]) -> Option<(u64, u64, &[u8])> {
    let mut reader = Reader::new(opened);
    Some((reader.varint().ok()?, reader.varint().ok()?, reader.rest()))
}

/// Writes zeros up to this length, which decoders skip.
pub(super) fn pad(writer: &mut Writer<'_>, length: usize) {
    let missing = length.min(writer.len() + writer.room()).saturating_sub(writer.len());
    writer.zeros(missing);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_round_trip_and_every_truncation_is_harmless() {
        let mut buffer = [0; 100];
        let mut writer = Writer::new(&mut buffer);
        encode_clear(&mut writer, 70, b"in clear");
        assert_eq!(writer.len(), clear_overhead(70, 8) + 8);
        writer.bytes(&sealed_header(7));
        writer.bytes(b"sealed");
        let whole = writer.written();
        let pieces = decode(whole).expect("they are ours");
        assert_eq!(pieces.clear, Some(Clear { offset: 70, bytes: b"in clear" }));
        let header = &[SEALED, 0, 0, 0, 7][..];
        assert_eq!(pieces.sealed, Some(Sealed { counter: 7, header, bytes: b"sealed" }));
        for cut in 0..whole.len() {
            assert_ne!(decode(&whole[..cut]), Some(pieces), "{cut}");
        }
    }

    #[test]
    fn padding_is_skipped_and_other_types_are_not_ours() {
        let mut buffer = [0; 40];
        let mut writer = Writer::new(&mut buffer);
        encode_clear(&mut writer, 0, b"a");
        pad(&mut writer, 30);
        pad(&mut writer, 20);
        assert_eq!(writer.len(), 30);
        pad(&mut writer, 800);
        assert_eq!(writer.len(), 40);
        assert_eq!(
            decode(&buffer),
            Some(DatagramPieces { clear: Some(Clear { offset: 0, bytes: b"a" }), sealed: None })
        );
        assert_eq!((decode(&[]), decode(&[3]), decode(&[CLEAR, 0, 1, 9, CLEAR])), (None, None, None));
        assert_eq!(decode(&[CLEAR, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
