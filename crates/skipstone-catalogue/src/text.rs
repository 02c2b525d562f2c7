//! Comments that keep to a width, and numbers as people group them.

/// The text in lines of at most this many columns, with this before each.
pub(crate) fn comment(prefix: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![prefix.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a first line");
        if last != prefix && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{prefix}{word}"));
        } else {
            if last != prefix {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// With its first letter in lower case, for the middle of a sentence; a word with further capitals keeps the first one.
pub(crate) fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first_word = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    match letters.next() {
        Some(first) if !first_word.chars().skip(1).any(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Thousands apart from each other.
pub(crate) fn grouped(value: u64, separator: &str) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = if first > 0 { vec![&digits[..first]] } else { Vec::new() };
    groups.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_wrapped_at_its_width() {
        assert_eq!(comment("// ", "one two three", 10), ["// one two", "// three"]);
        assert_eq!(comment("// ", "muchtoolongaword", 8), ["// muchtoolongaword"]);
    }

    #[test]
    fn names_keep_their_capitals() {
        let sentences = ["Bytes of it.", "WebSockets in clear.", "TLS that failed.", "A packet."].map(lower_first);
        assert_eq!(sentences, ["bytes of it.", "WebSockets in clear.", "TLS that failed.", "a packet."]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1_000, 86_400_000].map(|value| grouped(value, "_")), ["0", "999", "1_000", "86_400_000"]);
    }
}
