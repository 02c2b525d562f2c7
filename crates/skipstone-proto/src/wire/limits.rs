//! The limits that a client states in its CONNECT (WIRE.md section 5).

use crate::wire::Malformed;
use crate::wire::cursor::Reader;
use crate::wire::entries::{self, Entries};
use crate::wire::settings::{
    DATAGRAM_BYTES, ID_DATAGRAM_BYTES_MAX, ID_MESSAGE_BYTES_MAX, ID_WINDOW_BYTES, Settings, window_cost,
};

/// Limits on what one side accepts. The other side never sends more, whatever the server's settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a message.
    pub message_bytes_max: u32,
    /// Bytes of reliable messages that this side holds: at least 1,024.
    pub window_bytes: u32,
    /// Bytes of a datagram of UDP: 256 to 65,507.
    pub datagram_bytes_max: u16,
}

impl Limits {
    /// No limits in addition to the server's settings.
    pub const NONE: Limits =
        Limits { message_bytes_max: u32::MAX, window_bytes: u32::MAX, datagram_bytes_max: *DATAGRAM_BYTES.end() };

    /// The limits that the settings state.
    pub fn of(settings: &Settings) -> Limits {
        let Settings { message_bytes_max, window_bytes, datagram_bytes_max, .. } = *settings;
        Limits { message_bytes_max, window_bytes, datagram_bytes_max }
    }

    /// The lower of both, with messages that fit into the window.
    pub fn and(self, other: Limits) -> Limits {
        let window_bytes = self.window_bytes.min(other.window_bytes);
        let message_bytes_max = self.message_bytes_max.min(other.message_bytes_max).min(longest_in(window_bytes));
        let datagram_bytes_max = self.datagram_bytes_max.min(other.datagram_bytes_max);
        Limits { message_bytes_max, window_bytes, datagram_bytes_max }
    }

    /// Whether every field is within its range.
    pub fn is_valid(&self) -> bool {
        self.window_bytes >= WINDOW_BYTES_MIN && DATAGRAM_BYTES.contains(&self.datagram_bytes_max)
    }

    /// Encodes every limit that is set.
    pub fn encode(&self) -> Vec<u8> {
        let mut entries = Entries::default();
        let numbers = [
            (ID_MESSAGE_BYTES_MAX, self.message_bytes_max, Limits::NONE.message_bytes_max),
            (ID_WINDOW_BYTES, self.window_bytes, Limits::NONE.window_bytes),
            (ID_DATAGRAM_BYTES_MAX, self.datagram_bytes_max.into(), Limits::NONE.datagram_bytes_max.into()),
        ];
        for (id, value, none) in numbers {
            if value != none {
                entries.number(id, value.into());
            }
        }
        entries.encoded
    }

    /// Decodes limits: a missing entry is no limit, and entries that a client cannot set are skipped.
    ///
    /// # Errors
    /// An entry is cut short, out of order or out of range.
    pub fn decode(encoded: &[u8]) -> Result<Limits, Malformed> {
        let mut limits = Limits::NONE;
        entries::each(encoded, |id, value| limits.decode_entry(id, value))?;
        if limits.is_valid() { Ok(limits) } else { Err(Malformed) }
    }

    fn decode_entry(&mut self, id: u64, value: &[u8]) -> Result<(), Malformed> {
        let mut value = Reader::new(value);
        match id {
            ID_MESSAGE_BYTES_MAX => self.message_bytes_max = value.varint_u32()?,
            ID_WINDOW_BYTES => self.window_bytes = value.varint_u32()?,
            ID_DATAGRAM_BYTES_MAX => self.datagram_bytes_max = value.varint_u16()?,
            _ => return Ok(()),
        }
        value.end()
    }
}

/// The longest message that occupies no more of the window than this.
fn longest_in(window_bytes: u32) -> u32 {
    let rest = u64::from(window_bytes).saturating_sub(window_cost(0));
    // A message of n bytes takes n + n/16 of the rest, rounded down.
    (rest * 16 / 17) as u32
}

/// The least window.
pub const WINDOW_BYTES_MIN: u32 = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_round_trip_and_unknown_entries_are_skipped() {
        let limits = Limits { message_bytes_max: 70_000, window_bytes: 100_000, datagram_bytes_max: 1_200 };
        assert_eq!(Limits::decode(&limits.encode()), Ok(limits));
        assert_eq!(Limits::NONE.encode(), [0; 0]);
        assert_eq!(Limits::decode(&[]), Ok(Limits::NONE));
        let among = [&[1, 1, 5][..], &limits.encode(), &[9, 1, 1, 0x40, 99, 2, 7, 7]].concat();
        assert_eq!(Limits::decode(&among), Ok(limits));
        assert_eq!(Limits::decode(&[6, 1, 4, 4, 1, 4]), Err(Malformed), "out of order");
        assert_eq!(Limits::decode(&[5, 2, 0x43, 0xFF]), Err(Malformed), "1,023 bytes of window");
        assert_eq!(Limits::decode(&[4, 2, 4]), Err(Malformed), "cut short");
    }

    #[test]
    fn the_longest_message_always_fits_into_the_window() {
        let mut window_bytes = WINDOW_BYTES_MIN;
        while window_bytes < u32::MAX / 3 {
            let limits = Limits { window_bytes, ..Limits::NONE }.and(Limits::NONE);
            let longest = limits.message_bytes_max as usize;
            assert!(window_cost(longest) <= u64::from(window_bytes), "{window_bytes}");
            assert!(window_cost(longest + 2) > u64::from(window_bytes), "{window_bytes}");
            window_bytes += window_bytes / 3 + 1;
        }
    }
}
