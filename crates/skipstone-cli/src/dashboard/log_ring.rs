//! The last lines of the log, numbered, bounded in lines and in bytes.

use crate::dashboard::feed::LogLine;
use serde::{Serialize, Serializer};
use std::collections::VecDeque;

/// The last lines.
#[derive(Debug, Default)]
pub(super) struct LogRing {
    lines: VecDeque<Numbered>,
    bytes: usize,
    next: u64,
}

/// A line and its number. As JSON: number, milliseconds since 1970, kind, speaker, text.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    line: LogLine,
}

impl LogRing {
    /// Adds a line; returns it with its number.
    pub(super) fn push(&mut self, line: LogLine) -> Numbered {
        let numbered = Numbered { number: self.next, line };
        self.next += 1;
        self.bytes += cost(&numbered);
        self.lines.push_back(numbered.clone());
        while self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX {
            self.bytes -= self.lines.pop_front().as_ref().map_or(0, cost);
        }
        numbered
    }

    /// The newest lines before a number, in order, up to a limit.
    pub(super) fn before(&self, number: u64, count: usize) -> Vec<&Numbered> {
        let end = self.lines.partition_point(|line| line.number < number);
        self.lines.range(end.saturating_sub(count)..end).collect()
    }
}

/// An empty line takes memory too.
fn cost(line: &Numbered) -> usize {
    line.line.text.len() + line.line.speaker.len() + size_of::<Numbered>()
}

impl Serialize for Numbered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LogLine { at_ms, kind, speaker, text } = &self.line;
        (self.number, at_ms, kind, speaker, text).serialize(serializer)
    }
}

/// The same number that the page keeps.
const LINES_MAX: usize = 100_000;
const BYTES_MAX: usize = 24 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::feed::LineKind;

    fn line(text: String) -> LogLine {
        LogLine { at_ms: 7, kind: LineKind::Chat, speaker: "Zoë".into(), text }
    }

    #[test]
    fn the_oldest_lines_are_evicted() {
        let mut ring = LogRing::default();
        (0..LINES_MAX + 10).for_each(|number| drop(ring.push(line(number.to_string()))));
        let last = ring.before(u64::MAX, 3);
        assert_eq!(last.iter().map(|line| line.number).collect::<Vec<_>>(), [100_007, 100_008, 100_009]);
        assert_eq!(ring.before(12, 100).len(), 2, "the first ten are gone");
        assert_eq!(serde_json::to_string(last[2]).expect("it is text"), r#"[100009,7,"chat","Zoë","100009"]"#);
    }

    #[test]
    fn long_lines_are_bounded_by_their_bytes() {
        let mut ring = LogRing::default();
        (0..60_000).for_each(|_| drop(ring.push(line("x".repeat(1000)))));
        assert!(ring.bytes <= BYTES_MAX && ring.lines.len() > 20_000, "{}", ring.lines.len());
    }
}
