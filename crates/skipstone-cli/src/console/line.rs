//! One line from the bytes of a client: `nc`, a script, or a telnet client, which edits its lines itself. Nothing is
//! echoed.

/// Collects one line.
#[derive(Debug, Default)]
pub(super) struct LineAssembler {
    bytes: Vec<u8>,
    fault: Option<LineFault>,
}

/// Why a line is not run. A line is never corrected: only what was typed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub(super) enum LineFault {
    #[display("the line is longer than {LINE_BYTES_MAX} bytes, and was ignored")]
    TooLong,
    /// It comes from another protocol, or from a terminal's special keys.
    #[display("the line contains control characters or invalid UTF-8 and was ignored")]
    NotText,
}

impl LineAssembler {
    /// Takes one byte that is no line end.
    pub(super) fn handle_byte(&mut self, byte: u8) {
        if byte != b'\t' && byte.is_ascii_control() {
            self.fault = Some(LineFault::NotText);
        } else if self.bytes.len() == LINE_BYTES_MAX {
            self.fault = self.fault.or(Some(LineFault::TooLong));
        } else {
            self.bytes.push(byte);
        }
    }

    /// The fault that the line already has before its end.
    pub(super) fn fault(&self) -> Option<LineFault> {
        self.fault
    }

    /// Forgets the last character.
    pub(super) fn erase_character(&mut self) {
        while let Some(byte) = self.bytes.pop() {
            if byte & 0xC0 != 0x80 {
                break;
            }
        }
    }

    /// Returns the line, and begins the next one. Tabs become spaces.
    ///
    /// # Errors
    /// It is longer than [`LINE_BYTES_MAX`], has control characters or is not UTF-8.
    pub(super) fn take(&mut self) -> Result<String, LineFault> {
        let Self { bytes, fault } = std::mem::take(self);
        let text =
            String::from_utf8(bytes).ok().filter(|text| !text.contains(|it: char| it.is_control() && it != '\t'));
        match (fault, text) {
            (Some(fault), _) => Err(fault),
            (None, Some(text)) => Ok(text.replace('\t', " ")),
            (None, None) => Err(LineFault::NotText),
        }
    }
}

/// The longest line.
const LINE_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(bytes: &[u8]) -> Result<String, LineFault> {
        let mut lines = LineAssembler::default();
        bytes.iter().for_each(|&byte| lines.handle_byte(byte));
        lines.take()
    }

    #[test]
    fn a_line_with_control_characters_is_rejected() {
        assert_eq!(take("kick\tzoë".as_bytes()), Ok("kick zoë".to_owned()));
        for bad in [b"dr\0ain".as_slice(), b"\x1b[A", b"a\x7f", b"a\xffb", "\u{9b}2J".as_bytes()] {
            assert_eq!(take(bad), Err(LineFault::NotText), "{bad:?}");
        }
    }

    #[test]
    fn an_overlong_line_is_dropped_entirely() {
        assert_eq!(take(&[b'a'; LINE_BYTES_MAX]), Ok("a".repeat(LINE_BYTES_MAX)));
        assert_eq!(take(&[b'a'; LINE_BYTES_MAX + 1]), Err(LineFault::TooLong));
    }

    #[test]
    fn erasing_removes_whole_characters_and_stops_at_the_start() {
        let mut lines = LineAssembler::default();
        "aé".bytes().for_each(|byte| lines.handle_byte(byte));
        lines.erase_character();
        assert_eq!(lines.bytes, b"a");
        lines.erase_character();
        lines.erase_character();
        assert_eq!(lines.take(), Ok(String::new()));
    }
}
