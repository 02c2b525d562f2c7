//! One line from the bytes of a client: `nc`, a script, or a telnet client, which edits its lines itself. Nothing is echoed.

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

    /// Gives the line, and begins the next one. In its text tabs are spaces, other control characters and what is not
    /// UTF-8 are gone or replaced. `None` if it was longer than [`LINE_BYTES_MAX`]: nothing of it is kept.
    pub(super) fn take(&mut self) -> Option<String> {
        let Self { bytes, too_long } = std::mem::take(self);
        let text = String::from_utf8_lossy(&bytes).replace('\t', " ");
        (!too_long).then(|| text.chars().filter(|character| !character.is_control()).collect())
    }
}

/// The longest line.
const LINE_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(bytes: &[u8]) -> Option<String> {
        let mut lines = LineAssembler::default();
        bytes.iter().for_each(|&byte| lines.handle_byte(byte));
        lines.take()
    }

    #[test]
    fn a_line_is_text_without_control_characters() {
        assert_eq!(take("kick\tzoë\x1b[A\0".as_bytes()), Some("kick zoë[A".to_owned()));
        assert_eq!(take(b"a\xffb"), Some("a\u{fffd}b".to_owned()));
    }

    #[test]
    fn a_line_too_long_is_dropped_whole() {
        assert_eq!(take(&[b'a'; LINE_BYTES_MAX]), Some("a".repeat(LINE_BYTES_MAX)));
        assert_eq!(take(&[b'a'; LINE_BYTES_MAX + 1]), None);
    }

    #[test]
    fn erasing_takes_whole_characters_and_stops_at_nothing() {
        let mut lines = LineAssembler::default();
        "aé".bytes().for_each(|byte| lines.handle_byte(byte));
        lines.erase_character();
        assert_eq!(lines.bytes, b"a");
        lines.erase_character();
        lines.erase_character();
        assert_eq!(lines.take(), Some(String::new()));
    }
}
