//! The page that people read: a title, rows of cells that stand below each other, notes, thresholds.

use crate::report::format::three_digits;
use crate::report::paint::{Style, Tone, wrap};
use crate::report::thresholds::ThresholdResult;

/// A page under way.
pub struct Page {
    text: String,
    style: Style,
}

/// One cell of a row, of its final width.
pub struct Cell {
    text: String,
    tone: Option<Tone>,
}

impl Cell {
    /// A right-aligned cell.
    pub fn right(text: impl AsRef<str>, columns: usize) -> Cell {
        Cell { text: format!("{:>columns$}", text.as_ref()), tone: None }
    }

    /// The same cell in a tone.
    pub fn toned(self, tone: Tone) -> Cell {
        Cell { tone: Some(tone), ..self }
    }
}

impl Page {
    /// An empty page.
    pub fn new(style: Style) -> Page {
        Page { text: String::new(), style }
    }

    /// The text in a tone, as this page has tones.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        self.style.paint(tone, text)
    }

    /// A line, without the blanks at its end.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// A line in a tone.
    pub fn toned(&mut self, tone: Tone, line: &str) {
        self.line(&self.paint(tone, line));
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A row: its label, and its cells.
    pub fn row(&mut self, label: &str, label_columns: usize, cells: impl IntoIterator<Item = Cell>) {
        let mut line = format!("{label:<label_columns$}");
        for cell in cells {
            line += &cell.tone.map_or_else(|| cell.text.clone(), |tone| self.paint(tone, &cell.text));
        }
        self.line(&line);
    }

    /// A paragraph that need not be read.
    pub fn note(&mut self, text: &str, columns: usize) {
        for line in wrap(text, columns) {
            self.toned(Tone::Faint, &line);
        }
    }

    /// Whether each threshold was met.
    pub fn thresholds(&mut self, thresholds: &[ThresholdResult]) {
        for threshold in thresholds {
            let (mark, tone) = if threshold.passed { ("kept  ", Tone::Good) } else { ("missed", Tone::Bad) };
            let (mark, expression) = (self.paint(tone, mark), &threshold.expression);
            let actual = threshold.measured(three_digits).unwrap_or("not measured".into());
            match &threshold.of {
                None => self.line(&format!("{mark}  {expression:<50}{actual:>22}")),
                Some(of) => self.line(&format!("{mark}  {expression:<42}{of:<34}{actual:>14}")),
            }
        }
    }

    /// The finished text.
    pub fn into_text(self) -> String {
        self.text
    }
}
