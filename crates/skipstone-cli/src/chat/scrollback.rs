//! The last lines, each with a permanent number. Bounded in lines and in bytes; the oldest are evicted first.

use super::session::Line;
use super::text;
use std::collections::VecDeque;

/// At most [`LINES_MAX`] lines, with at most [`BYTES_MAX`] in total.
#[derive(Debug, Default)]
pub(super) struct Scrollback {
    lines: VecDeque<Line>,
    /// The number of the oldest line; the first one ever was 0.
    oldest: u64,
    bytes: usize,
}

impl Scrollback {
    /// Adds a line, cut to [`LINE_BYTES_MAX`].
    pub(super) fn push(&mut self, line: Line) {
        let line = Line { text: text::cut(line.text, LINE_BYTES_MAX), ..line };
        self.bytes += line.text.len();
        self.lines.push_back(line);
        while self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX {
            let Some(gone) = self.lines.pop_front() else { break };
            self.bytes -= gone.text.len();
            self.oldest += 1;
        }
    }

    /// The number of the oldest line that is still kept.
    pub(super) fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The number that the next line will have.
    pub(super) fn next(&self) -> u64 {
        self.oldest + self.lines.len() as u64
    }

    /// A line by its number, if it is still kept.
    pub(super) fn line(&self, number: u64) -> Option<&Line> {
        let at = number.checked_sub(self.oldest)?;
        self.lines.get(usize::try_from(at).ok()?)
    }
}

/// Lines that are kept.
pub(super) const LINES_MAX: usize = 100_000;
/// The maximum bytes of kept lines: a usual chat never reaches it.
pub(super) const BYTES_MAX: usize = 32 << 20;
/// Bytes of one line: a screen full.
pub(super) const LINE_BYTES_MAX: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::session::here;

    #[test]
    fn the_oldest_line_is_evicted_and_numbers_stay() {
        let mut kept = Scrollback::default();
        for number in 0..LINES_MAX + 5 {
            kept.push(here(number.to_string()));
        }
        assert_eq!((kept.oldest(), kept.next()), (5, LINES_MAX as u64 + 5));
        assert_eq!(kept.line(4), None);
        assert_eq!(kept.line(5).map(|line| line.text.as_str()), Some("5"));
        assert_eq!(kept.line(kept.next()), None);
    }

    #[test]
    fn long_lines_are_cut_and_many_of_them_are_bounded_in_bytes() {
        let mut kept = Scrollback::default();
        for _ in 0..BYTES_MAX / LINE_BYTES_MAX * 2 {
            kept.push(here("x".repeat(LINE_BYTES_MAX + 9)));
        }
        let last = kept.line(kept.next() - 1).expect("the newest line is there");
        assert!(last.text.ends_with("x… (9 bytes more)"));
        let bytes: usize = kept.lines.iter().map(|line| line.text.len()).sum();
        assert_eq!(bytes, kept.bytes);
        assert!(bytes <= BYTES_MAX && kept.oldest() > 0);
    }
}
