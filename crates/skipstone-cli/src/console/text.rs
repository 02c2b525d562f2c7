//! Text for a terminal: whole lines that end in CR LF, without control sequences.
//! Replies and log lines may quote text of untrusted clients, such as names.

use skipstone_lab::clean;

/// Appends `text` as whole lines, and nothing for an empty text. Beyond [`TEXT_BYTES_MAX`] it is truncated, with a
/// note.
pub(super) fn push_lines(text: &str, out: &mut Vec<u8>) {
    let kept = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    for line in kept.lines() {
        push_line(line, out);
    }
    if kept.len() < text.len() {
        push_line("(cut: longer than 1 MiB)", out);
    }
}

fn push_line(line: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(clean::line(line).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// The maximum that one reply adds to a session's output.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> String {
        let mut out = Vec::new();
        push_lines(text, &mut out);
        String::from_utf8(out).expect("text stays UTF-8")
    }

    #[test]
    fn every_line_ends_in_cr_lf_once() {
        assert_eq!(lines("a\nb"), "a\r\nb\r\n");
        assert_eq!(lines("a\r\nb\n"), "a\r\nb\r\n");
        assert_eq!(lines("\na"), "\r\na\r\n");
        assert_eq!(lines(""), "");
    }

    #[test]
    fn escape_sequences_lose_their_escape() {
        assert_eq!(lines("a\x1b[2J\u{9b}2J\x07\tb"), "a␛[2J\u{fffd}2J␇ b\r\n");
        assert_eq!(lines("\u{202e}evil\u{2069}"), "evil\r\n");
    }

    #[test]
    fn an_overlong_text_is_cut_between_characters() {
        let cut = lines(&"é".repeat(TEXT_BYTES_MAX));
        assert!(cut.ends_with("é\r\n(cut: longer than 1 MiB)\r\n"));
        assert!(cut.len() < TEXT_BYTES_MAX + 40);
    }
}
