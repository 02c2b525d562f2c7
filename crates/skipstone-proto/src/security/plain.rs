//! The plain suite: a keyed CRC-32 of 24 bits against damage and blind forgery. WIRE.md section 3.

use super::session::Session;
use crate::time::Time;
use core::ops::Range;

/// Bytes of the tag.
pub const TAG_BYTES: usize = 3;

/// Seals in clear. Both directions use one key; the receiver's connection id in the header tells them apart.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// CRC-32 state after the key.
    keyed: u32,
}

impl Plain {
    /// The suite for a connection whose handshake had this nonce and this cookie.
    pub fn new(nonce: u64, cookie: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&nonce.to_be_bytes());
        hasher.update(cookie);
        Self::with_key(hasher.finalize())
    }

    /// The suite with this key.
    pub fn with_key(key: u32) -> Self {
        Plain { keyed: crc32fast::hash(&key.to_be_bytes()) }
    }

    fn tag(&self, datagram: &[u8]) -> [u8; TAG_BYTES] {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.keyed);
        hasher.update(datagram);
        let [_, tag @ ..] = hasher.finalize().to_be_bytes();
        tag
    }
}

impl Session for Plain {
    fn is_established(&self) -> bool {
        true
    }

    fn failure(&self) -> Option<&str> {
        None
    }

    fn handle_handshake(&mut self, _: Time, _: &[u8]) -> bool {
        false
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_handshake(&mut self, _: &mut [u8]) -> Option<usize> {
        None
    }

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn overhead(&self) -> usize {
        TAG_BYTES
    }

    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize {
        let tag = self.tag(&datagram[..plaintext.end]);
        datagram[plaintext.end..plaintext.end + TAG_BYTES].copy_from_slice(&tag);
        plaintext.end + TAG_BYTES
    }

    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>> {
        let end = datagram.len().checked_sub(TAG_BYTES).filter(|end| *end >= header)?;
        (self.tag(&datagram[..end]) == datagram[end..]).then_some(header..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_flipped_bit_is_noticed() {
        let mut plain = Plain::new(7, b"cookie");
        let mut datagram = *b"\x80abcframes and more frames___";
        let length = datagram.len();
        assert_eq!(plain.seal(&mut datagram, 4..length - TAG_BYTES), length);
        assert_eq!(plain.open(&mut datagram, 4), Some(4..length - TAG_BYTES));
        for bit in 0..length * 8 {
            datagram[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(plain.open(&mut datagram, 4), None, "bit {bit}");
            datagram[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(Plain::new(8, b"cookie").open(&mut datagram, 4), None, "another key");
        assert_eq!(plain.open(&mut datagram[..5], 4), None, "too short for a tag");
    }
}
