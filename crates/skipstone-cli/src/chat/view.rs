//! Which rows of the scrollback are on the screen. Scrolled up, the view stays where it is while lines arrive; at the
//! bottom it follows them. Every method processes about as many lines as the screen shows, however many exist.

use super::scrollback::Scrollback;
use super::session::{Line, Source};
use super::wrap;

/// A window on the scrollback.
#[derive(Debug)]
pub(super) struct ScrollView {
    lines: Scrollback,
    /// The row at the top; `None` while the view follows the newest line.
    top: Option<Place>,
    /// The number of the first line that was not on the screen yet.
    unseen: u64,
    width: u16,
    height: u16,
}

/// A row of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: u64,
    row: usize,
}

/// A row to draw.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// Where its line came from.
    pub(super) source: Source,
    /// The text that fits the width.
    pub(super) text: &'a str,
}

impl ScrollView {
    /// An empty view of a usual terminal.
    pub(super) fn new() -> Self {
        Self { lines: Scrollback::default(), top: None, unseen: 0, width: 80, height: 24 }
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// The screen has this size now.
    pub(super) fn resize(&mut self, width: u16, height: u16) {
        (self.width, self.height) = (width, height);
    }

    /// The number of unread lines below the screen after scrolling up.
    pub(super) fn unread(&self) -> u64 {
        if self.top.is_some() { self.lines.next() - self.unseen.max(self.lines.oldest()) } else { 0 }
    }

    /// The rows on the screen, from its top. Their lines count as seen from now on.
    pub(super) fn rows(&mut self) -> Vec<Row<'_>> {
        let place = self.first();
        let mut wanted = usize::from(self.height);
        let mut shown = Vec::with_capacity(wanted);
        let (mut number, mut skipped) = (place.line, place.row);
        while wanted > 0
            && let Some(line) = self.lines.line(number)
        {
            let rows = wrap::rows(&line.text, self.width);
            // The terminal may have become wider since this position was stored.
            let rows = rows.into_iter().skip(skipped).take(wanted);
            let before = shown.len();
            shown.extend(rows.map(|row| Row { source: line.source, text: &line.text[row] }));
            wanted -= shown.len() - before;
            (number, skipped) = (number + 1, 0);
        }
        self.unseen = if self.top.is_some() { self.unseen.max(number) } else { self.lines.next() };
        shown
    }

    /// Towards older lines.
    pub(super) fn scroll_up(&mut self, rows: u16) {
        let first = self.first();
        let wanted = self.back(first, rows.into());
        if wanted < first {
            self.top = Some(wanted);
        }
    }

    /// Towards newer lines; at the newest, the view follows again.
    pub(super) fn scroll_down(&mut self, rows: u16) {
        if self.top.is_some() {
            let place = self.forward(self.first(), rows.into());
            self.top = (place < self.bottom()).then_some(place);
        }
    }

    /// A page is a screen less one row, which stays for orientation.
    pub(super) fn page(&self) -> u16 {
        self.height.saturating_sub(1).max(1)
    }

    /// Scrolls to the oldest line.
    pub(super) fn scroll_to_oldest(&mut self) {
        let oldest = Place { line: self.lines.oldest(), row: 0 };
        self.top = (oldest < self.bottom()).then_some(oldest);
    }

    /// Scrolls to the newest line, and follows new ones.
    pub(super) fn follow(&mut self) {
        self.top = None;
    }

    /// The row at the top of the screen.
    fn first(&self) -> Place {
        let oldest = Place { line: self.lines.oldest(), row: 0 };
        self.top.map_or_else(|| self.bottom(), |top| top.max(oldest))
    }

    /// The row at the top when the newest one is at the bottom.
    fn bottom(&self) -> Place {
        self.back(Place { line: self.lines.next(), row: 0 }, self.height.into())
    }

    /// The row this many rows before a place, or the oldest one.
    fn back(&self, mut place: Place, mut rows: usize) -> Place {
        while rows > place.row {
            if place.line <= self.lines.oldest() {
                return Place { line: self.lines.oldest(), row: 0 };
            }
            rows -= place.row;
            place = Place { line: place.line - 1, row: self.row_count(place.line - 1) };
        }
        Place { row: place.row - rows, ..place }
    }

    /// The row this many rows after a place, or the end.
    fn forward(&self, mut place: Place, mut rows: usize) -> Place {
        while place.line < self.lines.next() {
            let left = self.row_count(place.line).saturating_sub(place.row);
            if rows < left {
                return Place { row: place.row + rows, ..place };
            }
            rows -= left;
            place = Place { line: place.line + 1, row: 0 };
        }
        place
    }

    fn row_count(&self, line: u64) -> usize {
        self.lines.line(line).map_or(1, |line| wrap::rows(&line.text, self.width).len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::scrollback::LINES_MAX;
    use crate::chat::session::here;
    use std::time::Instant;

    fn view(lines: u64, width: u16, height: u16) -> ScrollView {
        let mut view = ScrollView::new();
        view.resize(width, height);
        (0..lines).for_each(|number| view.push(here(format!("line {number}"))));
        view
    }

    fn shown(view: &mut ScrollView) -> Vec<String> {
        view.rows().into_iter().map(|row| row.text.trim_end().into()).collect()
    }

    #[test]
    fn the_view_follows_until_it_is_scrolled_up() {
        let mut view = view(10, 20, 3);
        assert_eq!(shown(&mut view), ["line 7", "line 8", "line 9"]);
        view.scroll_up(2);
        assert_eq!(shown(&mut view), ["line 5", "line 6", "line 7"]);
        view.push(here("new".into()));
        assert_eq!((shown(&mut view)[0].as_str(), view.unread()), ("line 5", 1));
        view.scroll_down(99);
        assert_eq!((shown(&mut view)[2].as_str(), view.unread()), ("new", 0));
    }

    #[test]
    fn unread_lines_become_read_as_they_are_scrolled_to() {
        let mut view = view(10, 20, 3);
        view.rows();
        view.scroll_up(5);
        (0..4).for_each(|number| view.push(here(format!("new {number}"))));
        assert_eq!(view.unread(), 4);
        view.scroll_down(7);
        assert_eq!(shown(&mut view), ["line 9", "new 0", "new 1"]);
        assert_eq!(view.unread(), 2);
        view.scroll_down(2);
        assert_eq!((view.unread(), shown(&mut view)[2].as_str()), (0, "new 3"));
    }

    #[test]
    fn rows_of_a_wrapped_line_scroll_one_by_one() {
        let mut view = view(2, 20, 3);
        view.push(here("aaaa bbbb cccc dddd".into()));
        view.resize(5, 3);
        assert_eq!(shown(&mut view), ["bbbb", "cccc", "dddd"]);
        view.scroll_up(1);
        assert_eq!(shown(&mut view), ["aaaa", "bbbb", "cccc"]);
        view.scroll_up(1);
        assert_eq!(shown(&mut view), ["1", "aaaa", "bbbb"]);
        view.scroll_down(1);
        view.resize(40, 3);
        assert_eq!(shown(&mut view), ["aaaa bbbb cccc dddd"]);
    }

    #[test]
    fn scrolling_stops_at_both_ends() {
        let mut view = view(10, 20, 4);
        view.scroll_up(500);
        assert_eq!(shown(&mut view)[0], "line 0");
        view.follow();
        view.scroll_to_oldest();
        assert_eq!(shown(&mut view)[0], "line 0");
        view.scroll_down(5);
        assert_eq!(shown(&mut view)[0], "line 5");
        view.scroll_down(1);
        assert_eq!(view.top, None);
    }

    #[test]
    fn fewer_lines_than_rows_do_not_scroll() {
        for lines in [0, 1, 3] {
            let mut view = view(lines, 20, 3);
            view.scroll_up(1);
            view.scroll_to_oldest();
            view.scroll_down(1);
            assert_eq!((view.top, shown(&mut view).len() as u64), (None, lines));
        }
        let mut none = view(3, 0, 0);
        assert_eq!(shown(&mut none).len(), 0);
    }

    #[test]
    fn evicted_lines_are_not_shown() {
        let mut view = view(10, 20, 3);
        view.scroll_to_oldest();
        (0..LINES_MAX as u64 + 7).for_each(|number| view.push(here(format!("new {number}"))));
        assert_eq!(shown(&mut view)[0], "new 7");
        assert!(view.unread() <= LINES_MAX as u64);
    }

    #[test]
    fn a_full_scrollback_is_drawn_as_fast_as_a_short_one() {
        let mut view = view(LINES_MAX as u64, 100, 50);
        let start = Instant::now();
        for _ in 0..100 {
            view.scroll_up(49);
            assert_eq!(view.rows().len(), 50);
        }
        // A hundred thousand lines each time would take tens of seconds.
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
