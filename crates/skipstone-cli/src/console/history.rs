//! The lines that a session has entered, oldest first.

use std::collections::VecDeque;

/// At most [`LINES_MAX`] lines; the oldest go first.
#[derive(Debug, Default)]
pub(super) struct History {
    lines: VecDeque<String>,
}

impl History {
    /// Adds `line`, unless it is empty or the same as the last one.
    pub(super) fn push(&mut self, line: &str) {
        if line.is_empty() || self.lines.back().is_some_and(|last| last == line) {
            return;
        }
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(line.to_owned());
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line at `index`, 0 being the oldest.
    pub(super) fn line(&self, index: usize) -> Option<&str> {
        self.lines.get(index).map(String::as_str)
    }

    /// All lines, numbered from 1, one below the other.
    pub(super) fn listing(&self) -> String {
        let numbered = (1..).zip(&self.lines);
        numbered.map(|(number, line)| format!("{number:>4}  {line}\n")).collect()
    }
}

/// With lines of 4,096 bytes at most, this is 2 MB at worst.
pub(super) const LINES_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_and_repetitions_are_not_kept() {
        let mut history = History::default();
        for line in ["a", "a", "", "b", "a"] {
            history.push(line);
        }
        assert_eq!(history.listing(), "   1  a\n   2  b\n   3  a\n");
    }

    #[test]
    fn the_oldest_line_goes_when_it_is_full() {
        let mut history = History::default();
        for number in 0..=LINES_MAX {
            history.push(&number.to_string());
        }
        assert_eq!((history.len(), history.line(0)), (LINES_MAX, Some("1")));
    }
}
