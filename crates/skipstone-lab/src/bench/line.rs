//! The lines that clients send: the sender, its sequence number, the due time, and filler derived from these, so that
//! every byte of every line is checked at the price of a comparison.

use crate::measure::splitmix::mix;

/// Writes and checks the lines of a run.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    /// Any line's filling is a piece of it.
    pad: Box<[u8]>,
    bytes: usize,
}

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) sender: u32,
    /// From 0, by sender.
    pub(crate) sequence: u32,
    /// When it was due, by the clock that all processes share.
    pub(crate) due_ns: u64,
}

/// The beginning of a line: sender, sequence, due time and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head([u64; 3]);

impl Default for Head {
    /// Not a valid line number.
    fn default() -> Self {
        Self([u64::MAX; 3])
    }
}

impl Head {
    fn line(self) -> Line {
        let Self([who, due_ns, _]) = self;
        Line { sender: who as u32, sequence: (who >> 32) as u32, due_ns }
    }
}

/// A head's length.
pub(crate) const LINE_BYTES_MIN: usize = 24;
/// The longest line: every transport here carries it as one message.
pub(crate) const LINE_BYTES_MAX: usize = 1_000;
const PLACES: usize = 4_096;

impl Lines {
    /// Lines of this length.
    pub(crate) fn new(bytes: usize) -> Self {
        assert!((LINE_BYTES_MIN..=LINE_BYTES_MAX).contains(&bytes), "the flags were checked");
        let mut state = 0x5EED;
        let pad = (0..PLACES + bytes).map(|at| {
            state = mix(state ^ at as u64);
            state as u8
        });
        Self { pad: pad.collect(), bytes }
    }

    /// Appends a line.
    pub(crate) fn write(&self, line: Line, out: &mut Vec<u8>) {
        let check = line.check();
        out.extend_from_slice(&line.sender.to_le_bytes());
        out.extend_from_slice(&line.sequence.to_le_bytes());
        out.extend_from_slice(&line.due_ns.to_le_bytes());
        out.extend_from_slice(&check.to_le_bytes());
        out.extend_from_slice(self.filling(check));
    }

    /// The content of a line; `None` if a bit of it is wrong. `heads` keeps the verified heads, by sender.
    #[inline]
    pub(crate) fn read_with(&self, bytes: &[u8], heads: &mut [Head]) -> Option<Line> {
        let (head, filling) = bytes.split_first_chunk::<LINE_BYTES_MIN>()?;
        let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let head = Head([word(0), word(8), word(16)]);
        let (line, check) = (head.line(), head.0[2]);
        let known = heads.get_mut(line.sender as usize)?;
        if head != *known {
            if check != line.check() {
                return None;
            }
            *known = head;
        }
        (filling == self.filling(check)).then_some(line)
    }

    fn filling(&self, check: u64) -> &[u8] {
        &self.pad[check as usize % PLACES..][..self.bytes - LINE_BYTES_MIN]
    }
}

impl Line {
    fn check(self) -> u64 {
        mix(mix(u64::from(self.sender) << 32 | u64::from(self.sequence)) ^ self.due_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip_and_any_flipped_bit_is_detected() {
        for bytes in [LINE_BYTES_MIN, 48, 100, LINE_BYTES_MAX] {
            let lines = Lines::new(bytes);
            let line = Line { sender: 999, sequence: 7, due_ns: 123_456_789_012 };
            let mut written = Vec::new();
            lines.write(line, &mut written);
            let mut heads = vec![Head::default(); 1_000];
            assert_eq!(lines.read_with(&written, &mut heads.clone()), Some(line));
            // Whether the right line was seen before or not.
            for _ in 0..2 {
                for bit in 0..bytes * 8 {
                    written[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(lines.read_with(&written, &mut heads), None, "bit {bit} of {bytes} bytes");
                    written[bit / 8] ^= 1 << (bit % 8);
                }
                assert_eq!(lines.read_with(&written[1..], &mut heads), None);
                assert_eq!(lines.read_with(&written[..bytes - 1], &mut heads), None);
                assert_eq!(lines.read_with(&written, &mut heads), Some(line));
            }
            assert_eq!(lines.read_with(&vec![0; bytes], &mut heads), None, "nothing is no line");
        }
    }
}
