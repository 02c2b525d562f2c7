//! Lists of versions: their number, at least one, and the versions (WIRE.md section 2).

use crate::wire::Malformed;
use crate::wire::cursor::Reader;

/// A list of versions, which is its own iterator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions<'a> {
    pairs: &'a [[u8; 2]],
}

impl<'a> Versions<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Versions<'a>, Malformed> {
        let count = usize::from(reader.u8()?);
        let (pairs, _) = reader.take(2 * count)?.as_chunks();
        if pairs.is_empty() { Err(Malformed) } else { Ok(Versions { pairs }) }
    }
}

impl Iterator for Versions<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let (&first, rest) = self.pairs.split_first()?;
        self.pairs = rest;
        Some(u16::from_be_bytes(first))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.pairs.len(), Some(self.pairs.len()))
    }
}

impl ExactSizeIterator for Versions<'_> {}

impl std::iter::FusedIterator for Versions<'_> {}
