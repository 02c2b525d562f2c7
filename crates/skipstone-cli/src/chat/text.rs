//! Text from strangers, made harmless: nothing is left in it that a terminal would obey, that would break a line, or
//! that would show letters in another order than they were written in.

use std::borrow::Cow;

/// The text of a message. What is no UTF-8 becomes replacement characters.
pub(super) fn from_bytes(message: &[u8]) -> String {
    clean(&String::from_utf8_lossy(message))
}

/// Makes control characters visible, and removes what is invisible and misleads.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter_map(harmless).collect()
}

/// At most `bytes_max` bytes of a text, which then says how much is missing.
pub(super) fn cut(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let kept = &text[..text.floor_char_boundary(bytes_max)];
    format!("{kept}… ({} bytes more)", text.len() - kept.len())
}

/// A reason for people, never empty.
pub(super) fn reason(text: Cow<'_, str>) -> String {
    if text.trim().is_empty() { "no reason given".into() } else { clean(&text) }
}

fn harmless(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        // Each C0 control has a picture, 0x2400 above it.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        // Byte order mark, marks and overrides of the writing direction, tags.
        '\u{feff}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => None,
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_visible_text() {
        assert_eq!(clean("a\x1b[2Jb\x07\x7f"), "a␛[2Jb␇␡");
        assert_eq!(clean("\u{9b}31m"), "\u{fffd}31m");
    }

    #[test]
    fn nothing_that_is_left_is_a_control_character() {
        let every: String = (0..=0x2fff).filter_map(char::from_u32).collect();
        assert!(!clean(&every).chars().any(char::is_control));
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(clean("a\nb\r\nc\td\u{2028}e"), "a b  c d e");
    }

    #[test]
    fn direction_overrides_vanish_and_other_scripts_stay() {
        assert_eq!(clean("\u{202e}txt.exe\u{2066}"), "txt.exe");
        assert_eq!(clean("Zoë 世界 👩\u{200d}🚀 שלום"), "Zoë 世界 👩\u{200d}🚀 שלום");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(from_bytes(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn long_texts_are_cut_between_letters_and_say_so() {
        assert_eq!(cut("abc".into(), 3), "abc");
        assert_eq!(cut("aéé".into(), 4), "aé… (2 bytes more)");
    }

    #[test]
    fn a_reason_is_never_empty() {
        assert_eq!(reason(" ".into()), "no reason given");
        assert_eq!(reason("bye\x1b".into()), "bye␛");
    }
}
