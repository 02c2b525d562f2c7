//! The line being edited, without I/O: keys in, bytes to draw out. Every character counts as one column. What a line
//! means, and what completes it, is the session's business.

use crate::console::history::History;
use crate::console::keys::Key;
use crate::console::row::Row;
use crate::console::text;

/// What a key asks of the session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing: the editor did it all.
    Edited,
    /// The line is entered; the editor is empty again.
    Entered(String),
    /// Complete the word before the cursor.
    Complete,
    /// Ctrl-D on an empty line.
    EndOfInput,
}

/// Whether what is typed is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Display {
    /// As typed.
    Shown,
    /// Not at all, not even how long it is; and the history is out of reach.
    Hidden,
}

/// A prompt and one line. Keys change the line; [`Editor::refresh`] draws what has changed.
#[derive(Debug)]
pub(super) struct Editor {
    prompt: String,
    display: Display,
    text: Vec<char>,
    bytes: usize,
    /// Index into `text`, or its length.
    cursor: usize,
    browsing: Browsing,
    columns: usize,
    /// Index of the first character in view, where the line is wider than the terminal.
    first: usize,
    bell: bool,
    row: Row,
}

/// Where in the history the line comes from.
#[derive(Debug, Default)]
enum Browsing {
    #[default]
    NotAtAll,
    Line {
        index: usize,
        /// The line as it was before.
        draft: String,
    },
}

impl Editor {
    /// An empty line behind `prompt`, on a terminal of [`COLUMNS_UNKNOWN`].
    pub(super) fn new(prompt: &str, display: Display) -> Editor {
        Editor {
            prompt: prompt.to_owned(),
            display,
            text: Vec::new(),
            bytes: 0,
            cursor: 0,
            browsing: Browsing::NotAtAll,
            columns: COLUMNS_UNKNOWN,
            first: 0,
            bell: false,
            row: Row::default(),
        }
    }

    /// Begins an empty line behind another prompt.
    pub(super) fn set_prompt(&mut self, prompt: &str, display: Display) {
        self.prompt = prompt.to_owned();
        self.display = display;
        self.set_text("");
    }

    /// Does what `key` does to the line. Only what cannot wait for [`Editor::refresh`] is drawn.
    pub(super) fn handle_key(&mut self, key: Key, history: &History, out: &mut Vec<u8>) -> Outcome {
        match key {
            Key::Character(character) => self.insert(character),
            Key::Enter => return Outcome::Entered(self.enter(out)),
            Key::Backspace => self.remove(self.cursor.saturating_sub(1), self.cursor),
            Key::Delete => self.remove(self.cursor, self.cursor + 1),
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::WordLeft => self.cursor = self.word_start(),
            Key::WordRight => self.cursor = self.word_end(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Older => self.browse_older(history),
            Key::Newer => self.browse_newer(history),
            Key::Complete if self.display == Display::Shown => return Outcome::Complete,
            Key::Complete => {}
            Key::KillToEnd => self.remove(self.cursor, self.text.len()),
            Key::KillToStart => self.remove(0, self.cursor),
            Key::KillWord => self.remove(self.word_start(), self.cursor),
            Key::ClearScreen => self.row.clear_screen(out),
            Key::Cancel => self.cancel(out),
            Key::EndOfInput if self.text.is_empty() => return Outcome::EndOfInput,
            Key::EndOfInput => self.remove(self.cursor, self.cursor + 1),
        }
        Outcome::Edited
    }

    /// Inserts `text` at the cursor, as far as it fits.
    pub(super) fn insert_text(&mut self, text: &str) {
        text.chars().filter(|character| !character.is_control()).for_each(|c| self.insert(c));
    }

    /// The line up to the cursor.
    pub(super) fn before_cursor(&self) -> String {
        self.text[..self.cursor].iter().collect()
    }

    /// Asks for a bell at the next refresh.
    pub(super) fn ring(&mut self) {
        self.bell = true;
    }

    /// Writes `lines` above the line, which is drawn again by the next refresh.
    pub(super) fn print_above(&mut self, lines: &str, out: &mut Vec<u8>) {
        self.row.clear(out);
        text::push_lines(lines, out);
    }

    /// The terminal has `columns` now.
    pub(super) fn resize(&mut self, columns: u16, out: &mut Vec<u8>) {
        self.row.clear(out);
        self.columns = usize::from(columns).clamp(COLUMNS_MIN, COLUMNS_MAX);
    }

    /// Takes the line off the screen, until the next refresh.
    pub(super) fn hide(&mut self, out: &mut Vec<u8>) {
        self.row.clear(out);
    }

    /// Draws what has changed since the last refresh.
    pub(super) fn refresh(&mut self, out: &mut Vec<u8>) {
        let prompt_columns = self.prompt.chars().count().min(self.columns / 2);
        let width = self.columns - 1 - prompt_columns;
        self.scroll(width);
        let in_view = match self.display {
            Display::Shown => &self.text[self.first..self.text.len().min(self.first + width)],
            Display::Hidden => &[],
        };
        let cursor = in_view.len().min(self.cursor - self.first);
        let row = self.prompt.chars().take(prompt_columns).chain(in_view.iter().copied());
        self.row.update(row.collect(), prompt_columns + cursor, out);
        if std::mem::take(&mut self.bell) {
            out.push(BELL);
        }
    }

    /// Keeps the cursor in view, by half a width at a time so that not every key moves the whole line.
    fn scroll(&mut self, width: usize) {
        if self.text.len() <= width {
            self.first = 0;
        } else if self.cursor < self.first {
            self.first = self.cursor.saturating_sub(width / 2);
        } else if self.cursor > self.first + width {
            self.first = self.cursor - width / 2;
        }
    }

    fn insert(&mut self, character: char) {
        if self.bytes + character.len_utf8() > LINE_BYTES_MAX {
            self.ring();
            return;
        }
        self.bytes += character.len_utf8();
        self.text.insert(self.cursor, character);
        self.cursor += 1;
    }

    /// Removes the characters from `start` to `end`, which may be past the end; none is a bell.
    fn remove(&mut self, start: usize, end: usize) {
        let end = end.min(self.text.len());
        if start == end {
            self.ring();
            return;
        }
        self.bytes -= self.text.drain(start..end).map(char::len_utf8).sum::<usize>();
        self.cursor = start;
    }

    fn enter(&mut self, out: &mut Vec<u8>) -> String {
        self.cursor = self.text.len();
        self.refresh(out);
        self.row.leave(out);
        let line = self.text.iter().collect();
        self.set_text("");
        line
    }

    fn cancel(&mut self, out: &mut Vec<u8>) {
        self.text.extend(['^', 'C']);
        self.enter(out);
    }

    fn set_text(&mut self, text: &str) {
        self.text = text.chars().collect();
        self.bytes = text.len();
        self.cursor = self.text.len();
        self.first = 0;
        self.browsing = Browsing::NotAtAll;
    }

    fn browse_older(&mut self, history: &History) {
        let (index, draft) = match &self.browsing {
            Browsing::NotAtAll => (history.len(), self.text.iter().collect()),
            Browsing::Line { index, draft } => (*index, draft.clone()),
        };
        let older = index.checked_sub(1).and_then(|index| Some((index, history.line(index)?)));
        match older {
            Some((index, line)) if self.display == Display::Shown => {
                self.set_text(line);
                self.browsing = Browsing::Line { index, draft };
            }
            _ => self.ring(),
        }
    }

    fn browse_newer(&mut self, history: &History) {
        let Browsing::Line { index, draft } = std::mem::take(&mut self.browsing) else {
            return self.ring();
        };
        match history.line(index + 1) {
            Some(line) => {
                self.set_text(line);
                self.browsing = Browsing::Line { index: index + 1, draft };
            }
            None => self.set_text(&draft),
        }
    }

    /// Where the word begins that ends before the cursor.
    fn word_start(&self) -> usize {
        let before = &self.text[..self.cursor];
        let word = before.iter().rposition(|character| *character != ' ').map_or(0, |last| last + 1);
        before[..word].iter().rposition(|character| *character == ' ').map_or(0, |space| space + 1)
    }

    /// Where the word ends that begins after the cursor.
    fn word_end(&self) -> usize {
        let from = |start: usize, wanted: fn(&char) -> bool| {
            let found = self.text[start..].iter().position(wanted);
            found.map_or(self.text.len(), |offset| start + offset)
        };
        from(from(self.cursor, |character| *character != ' '), |character| *character == ' ')
    }
}

/// The longest line, in bytes; more is refused with a bell.
pub(super) const LINE_BYTES_MAX: usize = 4096;

const COLUMNS_UNKNOWN: usize = 80;
/// A narrower terminal wraps; nothing else breaks.
const COLUMNS_MIN: usize = 8;
/// Bounds what one redraw sends.
const COLUMNS_MAX: usize = 500;
const BELL: u8 = 7;
