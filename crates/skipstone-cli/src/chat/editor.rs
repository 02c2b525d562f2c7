//! The line being entered, and the lines entered before. Knows no keys and no screen.

use std::collections::VecDeque;
use tui_input::{Input, InputRequest};

/// One line and its cursor.
#[derive(Debug, Default)]
pub(super) struct Editor {
    line: Input,
    /// Lines entered before, the oldest first.
    history: VecDeque<String>,
    /// Which of them is shown, and the line that was being entered before.
    browsing: Option<(usize, String)>,
}

impl Editor {
    /// Whether nothing is written.
    pub(super) fn is_empty(&self) -> bool {
        self.line.value().is_empty()
    }

    /// Changes the line.
    pub(super) fn apply(&mut self, edit: InputRequest) {
        if let InputRequest::InsertChar(letter) = edit
            && (letter.is_control() || self.line.value().len() >= LINE_BYTES_MAX)
        {
            return;
        }
        self.line.handle(edit);
    }

    /// Takes the line out, and remembers it.
    pub(super) fn enter(&mut self) -> String {
        let line = self.line.value_and_reset();
        self.browsing = None;
        let is_new = self.history.back().is_none_or(|last| *last != line);
        if is_new && !line.trim().is_empty() {
            self.history.push_back(line.clone());
            if self.history.len() > HISTORY_MAX {
                self.history.pop_front();
            }
        }
        line
    }

    /// Restores a line that could not be sent.
    pub(super) fn restore(&mut self, line: &str) {
        self.line = line.into();
    }

    /// The line, how many columns of it are scrolled out of the view, and the cursor's column in the view.
    pub(super) fn window(&self, width: u16) -> (&str, u16, u16) {
        // The last column is the cursor's.
        let scroll = self.line.visual_scroll(width.saturating_sub(1).into());
        (self.line.value(), scroll as u16, (self.line.visual_cursor() - scroll) as u16)
    }

    /// The line entered before.
    pub(super) fn browse_older(&mut self) {
        let shown = self.browsing.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(at) = shown.checked_sub(1) else { return };
        let (_, draft) = self.browsing.take().unwrap_or_else(|| (at, self.line.value().to_owned()));
        self.line = self.history[at].as_str().into();
        self.browsing = Some((at, draft));
    }

    /// The line entered after.
    pub(super) fn browse_newer(&mut self) {
        let Some((at, draft)) = self.browsing.take() else { return };
        match self.history.get(at + 1) {
            Some(line) => {
                self.line = line.as_str().into();
                self.browsing = Some((at + 1, draft));
            }
            None => self.line = draft.into(),
        }
    }
}

/// Bytes of a line.
const LINE_BYTES_MAX: usize = 4_096;
/// Lines that are remembered.
const HISTORY_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    /// The line with a bar for the cursor.
    fn shown(editor: &Editor) -> String {
        let letters: Vec<char> = editor.line.value().chars().collect();
        let (before, after) = letters.split_at(editor.line.cursor());
        before.iter().chain(&['|']).chain(after).collect()
    }

    #[test]
    fn control_characters_are_not_text() {
        let mut editor = Editor::default();
        "a\x1bb\n".chars().for_each(|letter| editor.apply(InputRequest::InsertChar(letter)));
        assert_eq!(shown(&editor), "ab|");
    }

    #[test]
    fn history_recalls_entered_lines_and_keeps_the_draft() {
        let mut editor = Editor::default();
        for line in ["one", "two", "two", " "] {
            editor.restore(line);
            editor.enter();
        }
        editor.restore("draft");
        let older: fn(&mut Editor) = Editor::browse_older;
        let newer: fn(&mut Editor) = Editor::browse_newer;
        let steps =
            [(older, "two|"), (older, "one|"), (older, "one|"), (newer, "two|"), (newer, "draft|"), (newer, "draft|")];
        for (step, line) in steps {
            step(&mut editor);
            assert_eq!(shown(&editor), line);
        }
    }

    #[test]
    fn line_and_history_are_bounded() {
        let mut editor = Editor::default();
        (0..LINE_BYTES_MAX + 10).for_each(|_| editor.apply(InputRequest::InsertChar('x')));
        assert_eq!(editor.enter().len(), LINE_BYTES_MAX);
        for number in 0..HISTORY_MAX + 10 {
            editor.restore(&number.to_string());
            editor.enter();
        }
        assert_eq!((editor.history.len(), editor.history[0].as_str()), (HISTORY_MAX, "10"));
    }

    #[test]
    fn the_window_keeps_the_cursor_in_view() {
        let window = |line: &str, width| {
            let mut editor = Editor::default();
            editor.restore(line);
            let (_, scroll, column) = editor.window(width);
            (scroll, column)
        };
        assert_eq!(window("hello", 10), (0, 5));
        assert_eq!(window("hello", 5), (1, 4));
        assert_eq!(window("世界世界", 5), (4, 4));
        assert!(window("hello", 0).1 <= 1);
    }
}
