//! The words of the command line, taken one by one: flags, options with a value, and the remaining words.

use std::collections::VecDeque;

/// The words of the command line that were not handled yet.
pub(crate) struct Arguments {
    words: VecDeque<String>,
}

impl Arguments {
    /// The command line of this process, without the program's name.
    pub(crate) fn from_environment() -> Self {
        Self::new(std::env::args().skip(1))
    }

    fn new(words: impl Iterator<Item = String>) -> Self {
        Self { words: words.collect() }
    }

    /// Takes the first word that is left.
    pub(crate) fn next_word(&mut self) -> Option<String> {
        self.words.pop_front()
    }

    /// Takes `--name`; returns whether it was there.
    pub(crate) fn take_flag(&mut self, name: &str) -> bool {
        let Some(at) = self.words.iter().position(|word| word == name) else {
            return false;
        };
        self.words.remove(at);
        true
    }

    /// Takes `--name value` or `--name=value`, the first of them if there are several.
    pub(crate) fn take_value(&mut self, name: &str) -> Result<Option<String>, String> {
        let prefix = format!("{name}=");
        let is_ours = |word: &String| word == name || word.starts_with(&prefix);
        let Some(at) = self.words.iter().position(is_ours) else {
            return Ok(None);
        };
        let word = self.words.remove(at).expect("position is in range");
        if let Some(value) = word.strip_prefix(&prefix) {
            return Ok(Some(value.to_owned()));
        }
        match self.words.remove(at) {
            Some(value) if !value.starts_with("--") => Ok(Some(value)),
            _ => Err(format!("`{name}` needs a value behind it")),
        }
    }

    /// The remaining words, for another program.
    pub(crate) fn rest(self) -> Vec<String> {
        self.words.into()
    }

    /// Refuses remaining words: a word that no option took is a mistake on the command line.
    pub(crate) fn expect_end(self) -> Result<(), String> {
        match self.words.front() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` is not understood here; `cargo xtask --help` shows what is")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_taken_in_both_forms_and_any_place() {
        let mut arguments = arguments("decode --seconds 5 --only=fmt --list");
        assert_eq!(arguments.take_value("--only"), Ok(Some("fmt".into())));
        assert_eq!(arguments.take_value("--seconds"), Ok(Some("5".into())));
        assert!(arguments.take_flag("--list"));
        assert!(!arguments.take_flag("--list"));
        assert_eq!(arguments.next_word().as_deref(), Some("decode"));
        assert_eq!(arguments.expect_end(), Ok(()));
    }

    #[test]
    fn a_missing_value_and_a_stray_word_are_refused() {
        assert!(arguments("--only").take_value("--only").is_err());
        assert!(arguments("--only --list").take_value("--only").is_err());
        assert!(arguments("stray").expect_end().is_err());
    }
}
