//! The output of a program, of which the beginning and the end are kept: errors and totals are at the end.

use std::collections::VecDeque;

/// The size of the kept beginning, and of the kept end.
pub(crate) const PART_BYTES_MAX: usize = 512 << 10;

/// The beginning and the end of an output that may be longer than what is kept.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// The number of bytes that were dropped between the two.
    omitted_bytes: u64,
}

impl Captured {
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let room = PART_BYTES_MAX - self.head.len();
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(PART_BYTES_MAX);
        self.tail.drain(..excess);
        self.omitted_bytes += excess as u64;
    }

    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// All of it as text; `None` if anything was left out, so that no fact is read from a part.
    pub(crate) fn whole(&self) -> Option<String> {
        (self.omitted_bytes == 0).then(|| self.shown())
    }

    /// The text for people, with a line that says how much is left out.
    pub(crate) fn shown(&self) -> String {
        let mut head = self.head.clone();
        if self.omitted_bytes > 0 {
            head.extend_from_slice(format!("\n[{} bytes are left out]\n", self.omitted_bytes).as_bytes());
        }
        head.extend(&self.tail);
        String::from_utf8_lossy(&head).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept_and_truncation_is_marked() {
        let mut output = Captured::default();
        output.append(b"first ");
        for _ in 0..3_000 {
            output.append(&[b'x'; 400]);
        }
        assert!(output.whole().is_none());
        output.append(b" last");
        let shown = output.shown();
        assert!(shown.starts_with("first x") && shown.ends_with("x last"), "{} bytes", shown.len());
        assert!(shown.contains("\n[151435 bytes are left out]\n"), "1,200,011 less two parts of 524,288");
        assert!(shown.len() <= 2 * PART_BYTES_MAX + 100);
    }

    #[test]
    fn output_within_the_limit_is_complete_for_any_chunk_size() {
        let mut output = Captured::default();
        let text: String = (0..2 * PART_BYTES_MAX).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
        for piece in text.as_bytes().chunks(7) {
            output.append(piece);
        }
        assert!(output.whole().is_some_and(|whole| whole == text));
    }
}
