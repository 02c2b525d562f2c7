//! The parameters that both sides send under TLS' protection, in its extension 57: a list of id, length and value, like
//! the settings. WIRE.md section 2.8.

use skipstone_proto::coding::{Grease, Reader, Writer};

/// Everything of HELLO and CHALLENGE that decided something, as this side knows it.
const ID_TRANSCRIPT: u64 = 1;

/// This side's list, followed by an entry with an unknown id.
pub(super) fn encode(transcript: &[u8], grease: Grease) -> Vec<u8> {
    let entry = grease.entry();
    let mut list = vec![0; transcript.len() + entry.len() + ENTRIES_OVERHEAD_BYTES];
    let mut writer = Writer::new(&mut list);
    for (id, value) in [(ID_TRANSCRIPT, transcript), (grease.entry_id(), &entry)] {
        writer.varint(id);
        writer.prefixed(value);
    }
    let length = writer.len();
    list.truncate(length);
    list
}

/// Whether the peer's list names the same transcript. Other entries are for later versions.
pub(super) fn are_of(list: &[u8], transcript: &[u8]) -> bool {
    let mut reader = Reader::new(list);
    let mut is_same = false;
    while !reader.is_empty() {
        let (Ok(id), Ok(value)) = (reader.varint(), reader.prefixed(usize::MAX)) else { return false };
        is_same |= id == ID_TRANSCRIPT && value == transcript;
    }
    is_same
}

/// Two ids and two lengths.
const ENTRIES_OVERHEAD_BYTES: usize = 4 * 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_identifies_its_transcript_and_no_other() {
        let list = encode(b"transcript", Grease::new(7));
        assert!(are_of(&list, b"transcript") && !are_of(&list, b"another"));
        assert!(are_of(&[&[5, 2, 9, 9][..], &list].concat(), b"transcript"));
        assert!(!are_of(&[], b"") && !are_of(&[5, 0], b"transcript"));
        for cut in 1..list.len() - Grease::new(7).entry().len() - 3 {
            assert!(!are_of(&list[..cut], b"transcript"), "{cut}");
        }
    }
}
