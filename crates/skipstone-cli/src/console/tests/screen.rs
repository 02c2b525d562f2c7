//! A terminal as far as the editor uses one.

/// Rows of text without a height; understands exactly the sequences that the editor draws with.
pub(super) struct Screen {
    columns: usize,
    rows: Vec<Vec<char>>,
    column: usize,
    bells: usize,
    wraps: usize,
}

impl Screen {
    pub(super) fn new(columns: usize) -> Screen {
        Screen { columns, rows: vec![Vec::new()], column: 0, bells: 0, wraps: 0 }
    }

    pub(super) fn rows(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.iter().collect()).collect()
    }

    pub(super) fn row_with_cursor(&self) -> String {
        let mut row = self.rows.last().cloned().unwrap_or_default();
        row.insert(self.column.min(row.len()), '|');
        row.iter().collect()
    }

    pub(super) fn bells(&self) -> usize {
        self.bells
    }

    /// How many characters were written to the last column or beyond.
    pub(super) fn wraps(&self) -> usize {
        self.wraps
    }

    pub(super) fn print(&mut self, bytes: &[u8]) {
        let text = str::from_utf8(bytes).expect("what is drawn is UTF-8");
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            match character {
                '\0' => {}
                '\r' => self.column = 0,
                '\n' => self.rows.push(Vec::new()),
                '\x07' => self.bells += 1,
                '\x1b' => self.sequence(&mut rest),
                _ => self.put(character),
            }
        }
    }

    fn put(&mut self, character: char) {
        self.wraps += usize::from(self.column + 1 >= self.columns);
        let column = self.column;
        let row = self.rows.last_mut().expect("there is always a row");
        assert!(column <= row.len(), "the cursor is beyond the row");
        match row.get_mut(column) {
            Some(place) => *place = character,
            None => row.push(character),
        }
        self.column += 1;
    }

    fn sequence(&mut self, rest: &mut std::str::Chars<'_>) {
        assert_eq!(rest.next(), Some('['));
        let mut number = String::new();
        let letter = loop {
            match rest.next().expect("sequences end") {
                digit if digit.is_ascii_digit() => number.push(digit),
                letter => break letter,
            }
        };
        let number = number.parse().unwrap_or(0);
        let row = self.rows.last_mut().expect("there is always a row");
        match letter {
            'C' => self.column += number,
            'D' => self.column -= number,
            'K' | 'J' if number == 0 => row.truncate(self.column),
            'J' => self.rows = vec![Vec::new()],
            'H' => self.column = 0,
            other => panic!("the editor draws with an unknown sequence {other}"),
        }
    }
}
