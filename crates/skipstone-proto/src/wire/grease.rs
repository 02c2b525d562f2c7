//! GREASE (RFC 8701): values without a meaning, which senders put where they choose from a registry, so that every
//! receiver must skip unknown values (WIRE.md section 9).

use crate::wire::cursor::Writer;
use crate::wire::frame;

/// A suite that will never be one.
const SUITE: u8 = 0x40;

/// The GREASE values of one connection, derived from a random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grease(u64);

impl Grease {
    /// The values derived from this number.
    pub const fn new(random: u64) -> Grease {
        Grease(random)
    }

    /// In addition to the suites of an offer: one time in two.
    pub const fn suites(self) -> u8 {
        if self.0 & 1 == 0 { 0 } else { SUITE }
    }

    /// Behind the versions of an offer: 0x0A0A, 0x1A1A, up to 0xFAFA.
    pub const fn version(self) -> u16 {
        0x0A0A + 0x1010 * (self.0 >> 1 & 0xF) as u16
    }

    /// The id of an entry among settings or parameters: 31 n + 27, above all that are known.
    pub const fn entry_id(self) -> u64 {
        31 * (1 + (self.0 >> 5 & 0xFF)) + 27
    }

    /// Appends that entry to encoded settings, all of whose ids are lower.
    pub fn append_entry(self, mut encoded: Vec<u8>) -> Vec<u8> {
        let mut buffer = [0; 16];
        let mut writer = Writer::new(&mut buffer);
        writer.varint(self.entry_id());
        writer.prefixed(&self.entry());
        encoded.extend_from_slice(writer.written());
        encoded
    }

    /// The value of that entry.
    pub fn entry(self) -> [u8; 3] {
        [(self.0 >> 13) as u8, (self.0 >> 21) as u8, (self.0 >> 29) as u8]
    }

    /// Writes a frame of the extension range with a body of 0 to 3 bytes: [`Grease::FRAME_BYTES_MAX`] at most.
    pub fn write_frame(self, writer: &mut Writer<'_>) {
        let kind = frame::TYPE_EXTENSION + 0x10 * (self.0 >> 37 & 3) as u8 + 0x0A;
        let body = self.entry();
        frame::encode_extension(writer, kind, &body[..(self.0 >> 39 & 3) as usize]);
    }

    /// Bytes of [`Grease::write_frame`], at most.
    pub const FRAME_BYTES_MAX: usize = 5;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::frame::{Frame, Frames};

    #[test]
    fn grease_values_match_the_registry() {
        for random in (0..2_000).map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let grease = Grease::new(random);
            assert!([0, 0x40].contains(&grease.suites()));
            assert!(grease.version() & 0x0F0F == 0x0A0A && grease.version() >> 8 == grease.version() & 0xFF);
            assert!(grease.entry_id() % 31 == 27 && grease.entry_id() > 27);
            let mut buffer = [0; Grease::FRAME_BYTES_MAX];
            let mut writer = Writer::new(&mut buffer);
            grease.write_frame(&mut writer);
            let mut frames = Frames::new(writer.written());
            assert!(matches!(frames.next(), Some(Ok(Frame::Extension { kind, .. })) if kind & 0xCF == 0x4A));
            assert_eq!(frames.next(), None);
        }
    }
}
