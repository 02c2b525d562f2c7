//! Text from the network, sanitized for terminals and logs: it contains nothing that a terminal would obey, that
//! would break a line, or that would show letters in another order than they were written in. Every exit of the tool
//! goes through here; the chat's lines, the console's replies and its log are cleaned before they are laid out.

/// The text as a part of one line: control characters become visible, invisible characters that mislead are removed.
pub fn line(text: &str) -> String {
    text.chars().filter_map(harmless).collect()
}

/// Bytes that a peer claims are text. Invalid UTF-8 becomes replacement characters.
pub fn bytes(text: &[u8]) -> String {
    line(&String::from_utf8_lossy(text))
}

/// Whole lines: the same, but line feeds and colours stay. The last defence, for text that this program has laid out
/// itself; text of other people must pass through [`line()`] first, which leaves no colour either.
pub fn page(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kept = colour_len(rest);
        if kept > 0 {
            clean.push_str(&rest[..kept]);
        } else if first == '\n' {
            clean.push(first);
        } else {
            clean.extend(harmless(first));
        }
        rest = &rest[kept.max(first.len_utf8())..];
    }
    clean
}

/// The length of a select-graphic-rendition sequence (ECMA-48, 8.3.117) at the beginning of a text, zero without one.
fn colour_len(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\x1b[") else { return 0 };
    let end = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';');
    end.filter(|end| parameters[*end..].starts_with('m')).map_or(0, |end| "\x1b[".len() + end + "m".len())
}

fn harmless(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        // Each C0 control has a picture, 0x2400 above it.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        // Byte order mark, marks and overrides of the writing direction, annotations, tags.
        '\u{feff}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{fff9}'..='\u{fffb}' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}' => None,
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_visible_text() {
        assert_eq!(line("a\x1b[2Jb\x07\x7f"), "a␛[2Jb␇␡");
        assert_eq!(line("\u{9b}31m\x1b[31m"), "\u{fffd}31m␛[31m");
    }

    #[test]
    fn no_control_character_remains() {
        let every: String = (0..=0x2fff).filter_map(char::from_u32).collect();
        assert!(!line(&every).chars().any(char::is_control));
        assert!(!page(&every).chars().any(|letter| letter.is_control() && letter != '\n'));
    }

    #[test]
    fn a_message_stays_on_one_line() {
        assert_eq!(line("a\nb\r\nc\td\u{2028}e"), "a b  c d e");
    }

    #[test]
    fn bidirectional_overrides_are_removed_and_other_scripts_stay() {
        assert_eq!(line("\u{202e}txt.exe\u{2066}\u{61c}\u{200f}"), "txt.exe");
        assert_eq!(line("Zoë 世界 👩\u{200d}🚀 שלום"), "Zoë 世界 👩\u{200d}🚀 שלום");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(bytes(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn a_page_keeps_only_its_lines_and_colours() {
        assert_eq!(page("\x1b[1;31ma\x1b[0m\nb"), "\x1b[1;31ma\x1b[0m\nb");
        assert_eq!(page("\x1b[2Ja\x1b]0;t\x07\x1b["), "␛[2Ja␛]0;t␇␛[");
        assert_eq!(page("\u{202e}a\rb\u{9b}31m"), "a b\u{fffd}31m");
    }
}
