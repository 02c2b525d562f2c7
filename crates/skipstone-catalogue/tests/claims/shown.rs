//! A part of a file that users of a language read.

use std::collections::BTreeSet;
use std::path::Path;

/// The names that one language shows.
pub(crate) struct Shown {
    language: &'static str,
    path: &'static str,
    words: BTreeSet<String>,
    name_of: fn(&str) -> String,
}

impl Shown {
    /// The words of a file from `start` to the next `end`, or to the file's end.
    pub(crate) fn new(
        language: &'static str,
        path: &'static str,
        start: &str,
        end: &str,
        name_of: fn(&str) -> String,
    ) -> Shown {
        let text = file(path);
        let part = body_of(&text, start, end).unwrap_or_else(|| panic!("{path} has no `{start}`"));
        // Comments name others.
        let is_code = |line: &&str| !["//", "/*", "*"].iter().any(|comment| line.trim_start().starts_with(comment));
        let code: String = part.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        Shown { language, path, words: words(&code).map(str::to_owned).collect(), name_of }
    }

    pub(crate) fn language(&self) -> &'static str {
        self.language
    }

    /// # Panics
    /// The language lacks this.
    pub(crate) fn expect(&self, name: &str) {
        let name = (self.name_of)(name);
        assert!(self.words.contains(&name), "{} lacks `{name}`: {}", self.language, self.path);
    }
}

/// A file of the repository.
pub(crate) fn file(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).expect(path).replace("\r\n", "\n")
}

/// The text between `start` and `end`.
pub(crate) fn body_of<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end).map_or(rest, |(part, _)| part))
}

/// Names in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}
