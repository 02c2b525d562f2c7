//! Untrusted text for the chat: sanitized and of bounded length. A reason is never empty.

use skipstone_lab::clean;
use std::borrow::Cow;

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
    if text.trim().is_empty() { "no reason given".into() } else { clean::line(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
