//! Lists of entries, each an id, a length and a value, with rising ids: settings and limits (WIRE.md section 5).

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};

/// Calls `take` with the id and the value of each entry.
///
/// # Errors
/// An entry is cut short or out of order, or `take` refuses it.
pub(super) fn each(encoded: &[u8], mut take: impl FnMut(u64, &[u8]) -> Result<(), Malformed>) -> Result<(), Malformed> {
    let mut reader = Reader::new(encoded);
    let mut id_min = 0;
    while !reader.is_empty() {
        let id = reader.varint()?;
        if id < id_min {
            return Err(Malformed);
        }
        id_min = id + 1;
        take(id, reader.prefixed(usize::MAX)?)?;
    }
    Ok(())
}

/// Encoded settings, to which entries are added with rising ids.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) encoded: Vec<u8>,
}

impl Entries {
    pub(super) fn number(&mut self, id: u64, value: u64) {
        let mut buffer = [0; 8];
        let mut writer = Writer::new(&mut buffer);
        writer.varint(value);
        self.bytes(id, writer.written());
    }

    pub(super) fn bytes(&mut self, id: u64, value: &[u8]) {
        let mut buffer = [0; 16];
        let mut writer = Writer::new(&mut buffer);
        writer.varint(id);
        writer.varint(value.len() as u64);
        self.encoded.extend_from_slice(writer.written());
        self.encoded.extend_from_slice(value);
    }
}
