//! The terminal row of the line being edited: knows what it shows, and draws no more than what changed. The row never
//! reaches the last column, so it never wraps.

use std::io::Write;

/// What the terminal shows on its current row, and where its cursor stands.
#[derive(Debug, Default)]
pub(super) struct Row {
    shown: Vec<char>,
    column: usize,
}

impl Row {
    /// Makes the row show `text` with the cursor at `cursor`.
    pub(super) fn update(&mut self, text: Vec<char>, cursor: usize, out: &mut Vec<u8>) {
        let same = self.shown.iter().zip(&text).take_while(|(old, new)| old == new).count();
        if same < text.len() || same < self.shown.len() {
            self.move_to(same, out);
            out.extend_from_slice(text[same..].iter().collect::<String>().as_bytes());
            self.column = text.len();
        }
        if text.len() < self.shown.len() {
            out.extend_from_slice(b"\x1b[K");
        }
        self.shown = text;
        self.move_to(cursor, out);
    }

    /// Leaves the row as it is and begins the next one.
    pub(super) fn leave(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
        *self = Row::default();
    }

    /// Wipes the row, if it shows anything, so that something else can be written there.
    pub(super) fn clear(&mut self, out: &mut Vec<u8>) {
        if !self.shown.is_empty() {
            out.extend_from_slice(CARRIAGE_RETURN);
            out.extend_from_slice(b"\x1b[J");
        }
        *self = Row::default();
    }

    /// Wipes the whole screen; the row is then its first.
    pub(super) fn clear_screen(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x1b[H\x1b[2J");
        *self = Row::default();
    }

    fn move_to(&mut self, column: usize, out: &mut Vec<u8>) {
        let moved = match column.cmp(&self.column) {
            std::cmp::Ordering::Less => write!(out, "\x1b[{}D", self.column - column),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => write!(out, "\x1b[{}C", column - self.column),
        };
        moved.expect("writing to memory does not fail");
        self.column = column;
    }
}

/// RFC 854: a carriage return alone is followed by NUL.
pub(super) const CARRIAGE_RETURN: &[u8] = b"\r\0";

#[cfg(test)]
mod tests {
    use super::*;

    fn update(row: &mut Row, text: &str, cursor: usize) -> String {
        let mut out = Vec::new();
        row.update(text.chars().collect(), cursor, &mut out);
        String::from_utf8(out).expect("the row writes UTF-8")
    }

    #[test]
    fn only_what_changed_is_drawn() {
        let mut row = Row::default();
        assert_eq!(update(&mut row, "> ab", 4), "> ab");
        assert_eq!(update(&mut row, "> abc", 5), "c");
        assert_eq!(update(&mut row, "> abc", 5), "");
        assert_eq!(update(&mut row, "> abc", 3), "\x1b[2D");
        assert_eq!(update(&mut row, "> aXbc", 4), "Xbc\x1b[2D");
        assert_eq!(update(&mut row, "> a", 3), "\x1b[1D\x1b[K");
    }

    #[test]
    fn a_row_that_shows_nothing_needs_no_clearing() {
        let mut row = Row::default();
        let mut out = Vec::new();
        row.clear(&mut out);
        assert!(out.is_empty());
    }
}
