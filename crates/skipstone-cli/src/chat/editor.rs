//! The line being entered: what keys do to it, and the lines entered before. Knows no keys and no screen.

use ratatui::buffer::CellWidth;
use std::collections::VecDeque;

/// One line and its cursor.
#[derive(Debug, Default)]
pub(super) struct Editor {
    letters: Vec<char>,
    /// Index into `letters`, or their number.
    cursor: usize,
    /// Lines entered before, the oldest first.
    history: VecDeque<String>,
    /// Which of them is shown, and the line that was there before.
    browsing: Option<(usize, Vec<char>)>,
}

/// The edits of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// A letter at the cursor.
    Insert(char),
    /// The letter before the cursor.
    Backspace,
    /// The letter at the cursor.
    Delete,
    /// The cursor by one letter.
    Left,
    /// The cursor by one letter.
    Right,
    /// The cursor to the beginning.
    Start,
    /// The cursor to the end.
    End,
    /// Everything before the cursor goes.
    KillToStart,
    /// Everything from the cursor on goes.
    KillToEnd,
    /// The word before the cursor goes.
    KillWord,
    /// The line entered before.
    Older,
    /// The line entered after.
    Newer,
}

impl Editor {
    /// Whether nothing is written.
    pub(super) fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Changes the line.
    pub(super) fn apply(&mut self, edit: Edit) {
        let (cursor, end) = (self.cursor, self.letters.len());
        match edit {
            Edit::Insert(letter) if letter.is_control() || end >= LETTERS_MAX => {}
            Edit::Insert(letter) => {
                self.letters.insert(cursor, letter);
                self.cursor += 1;
            }
            Edit::Backspace => self.remove(cursor.saturating_sub(1), cursor),
            Edit::Delete => self.remove(cursor, (cursor + 1).min(end)),
            Edit::Left => self.cursor = cursor.saturating_sub(1),
            Edit::Right => self.cursor = (cursor + 1).min(end),
            Edit::Start => self.cursor = 0,
            Edit::End => self.cursor = end,
            Edit::KillToStart => self.remove(0, cursor),
            Edit::KillToEnd => self.remove(cursor, end),
            Edit::KillWord => self.remove(self.word_start(), cursor),
            Edit::Older => self.browse_older(),
            Edit::Newer => self.browse_newer(),
        }
    }

    /// Takes the line out, and remembers it.
    pub(super) fn enter(&mut self) -> String {
        let line: String = self.letters.drain(..).collect();
        (self.cursor, self.browsing) = (0, None);
        let is_new = self.history.back().is_none_or(|last| *last != line);
        if is_new && !line.trim().is_empty() {
            self.history.push_back(line.clone());
            if self.history.len() > HISTORY_MAX {
                self.history.pop_front();
            }
        }
        line
    }

    /// Puts a line back that could not be used.
    pub(super) fn restore(&mut self, line: &str) {
        self.show(line.chars().collect());
    }

    /// The part around the cursor that fits the width, and the cursor's column in it.
    pub(super) fn window(&self, width: u16) -> (String, u16) {
        let columns = |letters: &[char]| letters.iter().collect::<String>().cell_width();
        // Letters take no more than two columns: beyond as many as the width, none before the cursor can be in view.
        let mut first = self.cursor.saturating_sub(width.into());
        while first < self.cursor && columns(&self.letters[first..self.cursor]) >= width {
            first += 1;
        }
        let last = self.letters.len().min(first + usize::from(width));
        (self.letters[first..last].iter().collect(), columns(&self.letters[first..self.cursor]))
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.letters.drain(from..to);
        self.cursor = from;
    }

    fn word_start(&self) -> usize {
        let before = &self.letters[..self.cursor];
        let word_end = before.iter().rposition(|letter| *letter != ' ').map_or(0, |at| at + 1);
        before[..word_end].iter().rposition(|letter| *letter == ' ').map_or(0, |at| at + 1)
    }

    fn browse_older(&mut self) {
        let shown = self.browsing.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(at) = shown.checked_sub(1) else { return };
        let (_, draft) = self.browsing.take().unwrap_or_else(|| (at, self.letters.clone()));
        self.show(self.history[at].chars().collect());
        self.browsing = Some((at, draft));
    }

    fn browse_newer(&mut self) {
        let Some((at, draft)) = self.browsing.take() else { return };
        match self.history.get(at + 1) {
            Some(line) => {
                self.show(line.chars().collect());
                self.browsing = Some((at + 1, draft));
            }
            None => self.show(draft),
        }
    }

    fn show(&mut self, letters: Vec<char>) {
        self.cursor = letters.len();
        self.letters = letters;
    }
}

/// Letters of a line.
const LETTERS_MAX: usize = 4_096;
/// Lines that are remembered.
const HISTORY_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        text.chars().for_each(|letter| editor.apply(Edit::Insert(letter)));
        editor
    }

    /// The line with a bar for the cursor.
    fn shown(editor: &Editor) -> String {
        let (before, after) = editor.letters.split_at(editor.cursor);
        before.iter().chain(&['|']).chain(after).collect()
    }

    fn edited(text: &str, edits: &[Edit]) -> String {
        let mut editor = typed(text);
        edits.iter().for_each(|edit| editor.apply(*edit));
        shown(&editor)
    }

    #[test]
    fn letters_come_and_go_at_the_cursor() {
        use Edit::*;
        assert_eq!(edited("zoë", &[Left, Insert('x')]), "zox|ë");
        assert_eq!(edited("zoë", &[Left, Backspace]), "z|ë");
        assert_eq!(edited("zoë", &[Start, Delete, Right, Right, Right]), "oë|");
        assert_eq!(edited("ab", &[Start, Backspace, Left]), "|ab");
        assert_eq!(edited("ab", &[Delete, Insert('\x1b'), Insert('\n')]), "ab|");
    }

    #[test]
    fn words_and_ends_are_killed() {
        use Edit::*;
        assert_eq!(edited("the old king  ", &[KillWord]), "the old |");
        assert_eq!(edited("king", &[KillWord, KillWord]), "|");
        assert_eq!(edited("abc", &[Left, KillToStart]), "|c");
        assert_eq!(edited("abc", &[Start, Right, KillToEnd]), "a|");
        assert_eq!(edited("abc", &[Start, End]), "abc|");
    }

    #[test]
    fn entered_lines_come_back_and_the_draft_is_kept() {
        let mut editor = Editor::default();
        for line in ["one", "two", "two", " "] {
            editor.restore(line);
            editor.enter();
        }
        editor.restore("draft");
        let steps = [
            (Edit::Older, "two|"),
            (Edit::Older, "one|"),
            (Edit::Older, "one|"),
            (Edit::Newer, "two|"),
            (Edit::Newer, "draft|"),
            (Edit::Newer, "draft|"),
        ];
        for (edit, line) in steps {
            editor.apply(edit);
            assert_eq!(shown(&editor), line, "{edit:?}");
        }
    }

    #[test]
    fn line_and_history_are_bounded() {
        let mut editor = typed(&"x".repeat(LETTERS_MAX + 10));
        assert_eq!(editor.enter().len(), LETTERS_MAX);
        for number in 0..HISTORY_MAX + 10 {
            editor.restore(&number.to_string());
            editor.enter();
        }
        assert_eq!((editor.history.len(), editor.history[0].as_str()), (HISTORY_MAX, "10"));
    }

    #[test]
    fn the_window_keeps_the_cursor_in_view() {
        assert_eq!(typed("hello").window(10), ("hello".into(), 5));
        assert_eq!(typed("hello").window(5), ("ello".into(), 4));
        assert_eq!(typed("世界世界").window(5), ("世界".into(), 4));
        let mut editor = typed("hello world");
        editor.apply(Edit::Start);
        assert_eq!(editor.window(5), ("hello".into(), 0));
        assert_eq!(editor.window(0), (String::new(), 0));
    }
}
