//! The plain suite: a keyed checksum of 64 bits against damage, late copies and blind forgery. WIRE.md section 3.

use crate::checksum::crc32;
use crate::wire::cursor::Reader;
use crate::wire::datagram::COOKIE_BYTES;
use core::ops::Range;
use siphasher::sip::SipHasher24;

/// Bytes of the tag.
pub const TAG_BYTES: usize = 8;
/// Bytes of the key.
pub const KEY_BYTES: usize = 16;

/// Seals in clear. Both directions use one key; the receiver's connection id in the header distinguishes them.
#[derive(Clone, Copy)]
pub struct Plain {
    keyed: SipHasher24,
}

impl Plain {
    /// The suite for a connection that was opened with this cookie: its last 16 bytes are the key.
    pub fn new(cookie: &[u8; COOKIE_BYTES]) -> Self {
        let [_, _, _, _, key @ ..] = cookie;
        Self::with_key(key)
    }

    /// The suite with this key.
    pub fn with_key(key: &[u8; KEY_BYTES]) -> Self {
        Plain { keyed: SipHasher24::new_with_key(key) }
    }

    /// Bytes by which sealing makes a packet longer.
    pub const fn overhead(&self) -> usize {
        TAG_BYTES
    }

    /// Seals packet `number`, which is at `plaintext` of `datagram`, after its header; returns the datagram's length.
    ///
    /// # Panics
    /// If there is no room for the tag after the plaintext.
    pub fn seal(&self, datagram: &mut [u8], plaintext: Range<usize>, number: u64) -> usize {
        let tag = self.tag(&datagram[..plaintext.end], number);
        datagram[plaintext.end..plaintext.end + TAG_BYTES].copy_from_slice(&tag);
        plaintext.end + TAG_BYTES
    }

    /// The place of the plaintext of a datagram whose header ends at `header`; `None` if it was not sealed by the peer,
    /// was damaged, or is so old that its truncated number, taken as the one nearest to `reference`, is another number.
    pub fn open(&self, datagram: &[u8], header: usize, reference: u64) -> Option<Range<usize>> {
        let end = datagram.len().checked_sub(TAG_BYTES).filter(|end| *end >= header)?;
        let number = Reader::new(&datagram[header..end]).truncated().ok()?.resolve(reference);
        (self.tag(&datagram[..end], number) == datagram[end..]).then_some(header..end)
    }

    /// A CRC detects damage, at a tenth of the cost of a hash over the whole datagram; an off-path attacker, who does
    /// not see the packets, cannot guess the hash over the CRC and the whole number.
    fn tag(&self, datagram: &[u8], number: u64) -> [u8; TAG_BYTES] {
        let mut covered = [0; 12];
        covered[..8].copy_from_slice(&number.to_be_bytes());
        covered[8..].copy_from_slice(&crc32(&[datagram]).to_be_bytes());
        self.keyed.hash(&covered).to_be_bytes()
    }
}

impl core::fmt::Debug for Plain {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Plain")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; KEY_BYTES] = *b"a key of 16 byte";

    fn sealed(number: u64) -> Vec<u8> {
        let mut datagram = *b"\x80abc\x80\x07frames and more frames________";
        let end = datagram.len() - TAG_BYTES;
        assert_eq!(Plain::with_key(&KEY).seal(&mut datagram, 4..end, number), datagram.len());
        datagram.to_vec()
    }

    #[test]
    fn every_single_flipped_bit_is_detected() {
        let plain = Plain::with_key(&KEY);
        let mut datagram = sealed(7);
        let end = datagram.len() - TAG_BYTES;
        assert_eq!(plain.open(&datagram, 4, 7), Some(4..end));
        for bit in 0..datagram.len() * 8 {
            datagram[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(plain.open(&datagram, 4, 7), None, "bit {bit}");
            datagram[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(Plain::with_key(&[0; KEY_BYTES]).open(&datagram, 4, 7), None, "another key");
        assert_eq!(plain.open(&datagram[..5], 4, 7), None, "too short for a tag");
    }

    #[test]
    fn a_copy_so_late_that_its_number_is_ambiguous_is_detected() {
        let plain = Plain::with_key(&KEY);
        let datagram = sealed(7);
        for reference in [0, 7, 8_000] {
            assert!(plain.open(&datagram, 4, reference).is_some(), "{reference}");
        }
        for reference in [8_200, 16_384, 16_391, 32_775, 1 << 40] {
            assert_eq!(plain.open(&datagram, 4, reference), None, "{reference}");
        }
    }
}
