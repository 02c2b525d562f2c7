//! The figures of a comparison's table, as it prints them.

/// A table of what the tool printed.
pub(super) struct PrintedTable<'a> {
    printed: &'a str,
}

impl<'a> PrintedTable<'a> {
    pub(super) fn new(printed: &'a str) -> Self {
        Self { printed }
    }

    /// Heading, link and all rows, without the notes below; lines end without blanks.
    pub(super) fn text(&self) -> String {
        let lines =
            self.printed.lines().skip_while(|line| line.is_empty()).take_while(|line| !line.starts_with("* best"));
        lines.map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// A cell, without the mark of the best: `skipstone lean|p99.8`, `no loss|skipstone lean|bytes` under one of
    /// several conditions.
    pub(super) fn figure(&self, name: &str) -> Option<&'a str> {
        let words: Vec<&str> = name.split('|').collect();
        let (condition, row, column) = match words[..] {
            [row, column] => (None, row, column),
            [condition, row, column] => (Some(format!("{condition}: ")), row, column),
            _ => return None,
        };
        let is_title = |line: &&str| condition.as_ref().is_some_and(|condition| !line.starts_with(condition));
        let mut lines = self.printed.lines().skip_while(is_title).skip_while(|line| !line.starts_with(HEAD));
        let at = cells(lines.next()?).position(|head| head == column)?;
        let row = lines.take_while(|line| !line.is_empty()).find(|line| line[..NAME_COLUMNS].trim_end() == row)?;
        cells(row).nth(at).map(|cell| cell.trim_end_matches('*'))
    }
}

/// The cells of a line, of equal width.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    let columns = line.get(NAME_COLUMNS..).unwrap_or("");
    (0..columns.len()).step_by(CELL_COLUMNS).map(|at| columns[at..columns.len().min(at + CELL_COLUMNS)].trim())
}

const HEAD: &str = "ms; bytes per payload byte";
/// The layout of the tool's tables.
const NAME_COLUMNS: usize = 29;
const CELL_COLUMNS: usize = 10;
