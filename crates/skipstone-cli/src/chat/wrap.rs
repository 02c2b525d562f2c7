//! Breaks a line into rows: after a space if there is one, anywhere otherwise, and never within what a terminal
//! shows as one letter.

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::Span;
use std::ops::Range;

/// The rows of a line on a screen of this width, as ranges of its bytes; at least one.
pub(super) fn rows(text: &str, width: u16) -> Vec<Range<usize>> {
    let width = width.max(1);
    let (mut rows, mut start, mut columns) = (Vec::new(), 0, 0);
    // Where the row may end, after a space, and its width up to there.
    let mut space = None;
    for letter in Span::raw(text).styled_graphemes(Style::default()) {
        let at = letter.symbol.as_ptr() as usize - text.as_ptr() as usize;
        let letter_columns = letter.symbol.cell_width();
        if letter.symbol == " " {
            // A space that does not fit extends past the edge, where it is not visible.
            columns += 1;
            space = Some((at + 1, columns));
            continue;
        }
        while columns + letter_columns > width && at > start {
            let (end, columns_before) = space.take().unwrap_or((at, columns));
            rows.push(start..end);
            start = end;
            columns -= columns_before;
        }
        columns += letter_columns;
    }
    rows.push(start..text.len());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, width: u16) -> Vec<&str> {
        rows(text, width).into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn rows_break_after_spaces() {
        assert_eq!(broken("the old king sleeps", 8), ["the old ", "king ", "sleeps"]);
        assert_eq!(broken("the old king", 7), ["the old ", "king"]);
        assert_eq!(broken("short", 8), ["short"]);
        assert_eq!(broken("", 8), [""]);
    }

    #[test]
    fn a_word_wider_than_the_screen_breaks_anywhere() {
        assert_eq!(broken("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(broken("x abcdefgh", 4), ["x ", "abcd", "efgh"]);
    }

    #[test]
    fn wide_letters_take_two_columns_and_stay_whole() {
        assert_eq!(broken("世界世界", 5), ["世界", "世界"]);
        assert_eq!(broken("e\u{301}e\u{301}", 1), ["e\u{301}", "e\u{301}"]);
        assert_eq!(broken("世界", 1), ["世", "界"]);
    }

    #[test]
    fn rows_cover_the_line_and_fit() {
        let text = "a bb  ccc 世界 dddddddddddddd e\u{301}  x   yyyy 👩\u{200d}🚀 z".repeat(3);
        for width in 2..40 {
            let rows = rows(&text, width);
            assert_eq!((rows[0].start, rows[rows.len() - 1].end), (0, text.len()));
            assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start), "width {width}");
            assert!(rows.iter().all(|row| text[row.clone()].trim_end().cell_width() <= width), "width {width}");
        }
    }
}
