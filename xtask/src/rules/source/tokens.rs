//! Rust source as a flat list of words and marks, without comments and literals: enough to find the names in a file. It
//! is not a parser; macros and types are just more words.

use std::collections::BTreeSet;

/// The tokens that the checks tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// An identifier or a keyword; a raw identifier without its `r#`.
    Word(&'a str),
    /// `::`
    PathSeparator,
    /// Any other single character that is neither space nor part of a number.
    Mark(char),
}

/// A token and the line that it begins on, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) line: usize,
}

/// Cuts `source` into tokens. Broken source gives some tokens, never a panic.
pub(crate) fn tokens(source: &str) -> Vec<Placed<'_>> {
    let mut cursor = Cursor { rest: source, line: 1 };
    let mut tokens = Vec::new();
    loop {
        let line = cursor.line;
        match cursor.next_token() {
            Step::Token(token) => tokens.push(Placed { token, line }),
            Step::Literal | Step::Nothing => {}
            Step::End => return tokens,
        }
    }
}

/// The lines that hold code: neither blank nor only comment. A literal of several lines counts with each of them.
pub(crate) fn code_lines(source: &str) -> BTreeSet<usize> {
    let mut cursor = Cursor { rest: source, line: 1 };
    let mut lines = BTreeSet::new();
    loop {
        let line = cursor.line;
        match cursor.next_token() {
            Step::Token(_) | Step::Literal => lines.extend(line..=cursor.line),
            Step::Nothing => {}
            Step::End => return lines,
        }
    }
}

enum Step<'a> {
    Token(Token<'a>),
    /// A number, a lifetime, a character or a string.
    Literal,
    /// A space or a comment.
    Nothing,
    End,
}

struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    fn next_token(&mut self) -> Step<'a> {
        let Some(first) = self.rest.chars().next() else {
            return Step::End;
        };
        if self.rest.starts_with("//") {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            return Step::Nothing;
        } else if self.rest.starts_with("/*") {
            self.skip_block_comment();
            return Step::Nothing;
        } else if self.rest.starts_with("::") {
            self.take(2);
            return Step::Token(Token::PathSeparator);
        } else if first == '"' {
            self.skip_quoted('"');
        } else if first == '\'' {
            self.skip_character_or_lifetime();
        } else if first.is_ascii_digit() {
            self.take_word();
        } else if is_word_character(first) {
            return self.word_or_prefixed_literal();
        } else {
            self.take(first.len_utf8());
            return if first.is_whitespace() { Step::Nothing } else { Step::Token(Token::Mark(first)) };
        }
        Step::Literal
    }

    fn word_or_prefixed_literal(&mut self) -> Step<'a> {
        let word = self.take_word();
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        let quote_follows = self.rest[hashes..].starts_with('"');
        match word {
            "r" | "br" | "cr" if quote_follows => {
                let end = format!("\"{}", "#".repeat(hashes));
                self.take(hashes + 1);
                self.take_past(&end);
                Step::Literal
            }
            "b" | "c" if self.rest.starts_with('"') => {
                self.skip_quoted('"');
                Step::Literal
            }
            "b" if self.rest.starts_with('\'') => {
                self.skip_quoted('\'');
                Step::Literal
            }
            "r" if hashes == 1 => {
                self.take(1);
                Step::Token(Token::Word(self.take_word()))
            }
            _ => Step::Token(Token::Word(word)),
        }
    }

    /// `'a'`, `'\n'` and `'\u{1b}'` are characters; `'a` and `'static` are lifetimes.
    fn skip_character_or_lifetime(&mut self) {
        let mut inside = self.rest[1..].chars();
        let first = inside.next();
        if first == Some('\\') || inside.next() == Some('\'') {
            self.skip_quoted('\'');
        } else {
            self.take(1);
            self.take_word();
        }
    }

    fn skip_quoted(&mut self, quote: char) {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, character)| {
            let ends = character == quote && !escaped;
            escaped = character == '\\' && !escaped;
            ends
        });
        self.take(end.map_or(self.rest.len(), |(at, _)| at + quote.len_utf8()));
    }

    /// Block comments nest.
    fn skip_block_comment(&mut self) {
        let mut depth = 0;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
            } else {
                let character = self.rest.chars().next().map_or(0, char::len_utf8);
                self.take(character);
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn take_word(&mut self) -> &'a str {
        let end = self.rest.find(|character| !is_word_character(character));
        self.take(end.unwrap_or(self.rest.len()))
    }

    fn take_past(&mut self, end: &str) {
        let at = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(at);
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        let word = |placed: &Placed<'static>| match placed.token {
            Token::Word(word) => Some(word),
            _ => None,
        };
        let leaked: &'static str = source.to_owned().leak();
        tokens(leaked).iter().filter_map(word).collect()
    }

    #[test]
    fn comments_and_literals_are_not_seen() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
        assert_eq!(words(r##"a "b \" c" d r#"e " f"# g b"h" i br"j\" k"##), ["a", "d", "g", "i", "k"]);
        assert_eq!(words(r"a 'b' c '\'' d b'\\' e '\u{1b}' f"), ["a", "c", "d", "e", "f"]);
    }

    #[test]
    fn lifetimes_numbers_and_raw_words_do_not_confuse() {
        assert_eq!(words("fn f<'a>(x: &'a u8) -> &'static str { 0x1f_u8 }"), ["fn", "f", "x", "u8", "str"]);
        assert_eq!(words("r#type r b"), ["type", "r", "b"]);
        assert_eq!(words("'a: loop { break 'a }"), ["loop", "break"]);
    }

    #[test]
    fn lines_are_counted_through_everything() {
        let source = "a\n/* \n */ b \"\n\n\" c\n";
        let lines: Vec<usize> = tokens(source).iter().map(|placed| placed.line).collect();
        assert_eq!(lines, [1, 3, 5]);
    }

    #[test]
    fn lines_of_code_are_neither_blank_nor_comment() {
        let source = "// a\nb(); // c\n\n/* d\n */\n\"e\n f\";\n1\n  \n/// g\n}";
        assert_eq!(code_lines(source).into_iter().collect::<Vec<_>>(), [2, 6, 7, 8, 11]);
    }

    #[test]
    fn broken_source_ends() {
        for source in ["\"", "'", "/*", "r#\"", "b'", "'\\", "é'é", "r#", "\u{1f600}::"] {
            tokens(source);
        }
    }
}
