//! One line from the bytes of a client: `nc`, a script, or a telnet client, which edits its lines itself. Nothing is echoed.

/// A line whose end has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReceivedLine {
    /// Its text; tabs are spaces, other control characters and what is not UTF-8 are gone or replaced.
    Text(String),
    /// Longer than [`LINE_BYTES_MAX`]: nothing of it is kept.
    TooLong,
}

/// Collects one line.
#[derive(Debug, Default)]
pub(super) struct LineAssembler {
    bytes: Vec<u8>,
    too_long: bool,
}

impl LineAssembler {
    /// Takes one byte that is no line end.
    pub(super) fn handle_byte(&mut self, byte: u8) {
        self.too_long |= self.bytes.len() == LINE_BYTES_MAX;
        if !self.too_long {
            self.bytes.push(byte);
        }
    }

    /// Forgets the last character.
    pub(super) fn erase_character(&mut self) {
        while let Some(byte) = self.bytes.pop() {
            if byte & 0xC0 != 0x80 {
                break;
            }
        }
    }

    /// Gives the line, and begins the next one.
    pub(super) fn take(&mut self) -> ReceivedLine {
        let LineAssembler { bytes, too_long } = std::mem::take(self);
        if too_long {
            return ReceivedLine::TooLong;
        }
        let text = String::from_utf8_lossy(&bytes).replace('\t', " ");
        ReceivedLine::Text(text.chars().filter(|character| !character.is_control()).collect())
    }
}

/// The longest line.
const LINE_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(bytes: &[u8]) -> ReceivedLine {
        let mut lines = LineAssembler::default();
        bytes.iter().for_each(|&byte| lines.handle_byte(byte));
        lines.take()
    }

    #[test]
    fn a_line_is_text_without_control_characters() {
        assert_eq!(take("kick\tzoë\x1b[A\0".as_bytes()), ReceivedLine::Text("kick zoë[A".to_owned()));
        assert_eq!(take(b"a\xffb"), ReceivedLine::Text("a\u{fffd}b".to_owned()));
    }

    #[test]
    fn a_line_too_long_is_dropped_whole() {
        assert_eq!(take(&[b'a'; LINE_BYTES_MAX]), ReceivedLine::Text("a".repeat(LINE_BYTES_MAX)));
        assert_eq!(take(&[b'a'; LINE_BYTES_MAX + 1]), ReceivedLine::TooLong);
    }

    #[test]
    fn erasing_takes_whole_characters_and_stops_at_nothing() {
        let mut lines = LineAssembler::default();
        "aé".bytes().for_each(|byte| lines.handle_byte(byte));
        lines.erase_character();
        assert_eq!(lines.bytes, b"a");
        lines.erase_character();
        lines.erase_character();
        assert_eq!(lines.take(), ReceivedLine::Text(String::new()));
    }
}
