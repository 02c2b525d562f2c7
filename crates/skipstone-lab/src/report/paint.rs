//! Colours, where the caller wants them; and text broken into lines.

use std::borrow::Cow;
use std::io::IsTerminal;

use textwrap::{Options, WordSeparator, WordSplitter};

/// Whether a text may hold terminal codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Plain text, for files, for pipes, and if colours are disabled.
    Plain,
    /// With ANSI colours.
    Coloured,
}

/// Colours only on a terminal and unless disabled (no-color.org).
pub fn style() -> Style {
    let wanted = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if wanted { Style::Coloured } else { Style::Plain }
}

/// The meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As expected.
    Good,
    /// A failed check.
    Bad,
    /// Nothing is proved either way.
    Doubtful,
    /// A title.
    Strong,
    /// Text that need not be read.
    Faint,
}

impl Style {
    /// The text in a tone. The text must be of its final width already: codes count as characters where text is
    /// aligned.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        if self == Style::Plain {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "1;32",
            Tone::Bad => "1;31",
            Tone::Doubtful => "1;33",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The text in lines of at most `width` characters, broken at blanks; a longer word has a line for itself.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width).word_separator(WordSeparator::AsciiSpace).break_words(false);
    let lines = textwrap::wrap(text, options.word_splitter(WordSplitter::NoHyphenation));
    lines.into_iter().map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_plain() {
        assert_eq!(Style::Plain.paint(Tone::Bad, "x"), "x");
        assert_eq!(Style::Coloured.paint(Tone::Bad, "x"), "\x1b[1;31mx\x1b[0m");
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("to be or not", 5), ["to be", "or", "not"]);
        assert_eq!(wrap("unbreakable it", 5), ["unbreakable", "it"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
