//! The peer's bytes of one level, put in order: pieces may come late, twice, and after a gap. WIRE.md section 2.8.

use std::borrow::Cow;
use std::ops::Range;

/// The received bytes of a stream. It holds no more than the stream's limit, and only bytes after a gap.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// Number of bytes that have come without a gap.
    joined: usize,
    /// Bytes from `joined` on, where `spans` records which have come.
    ahead: Vec<u8>,
    /// Offsets in the stream, in order, with gaps between them.
    spans: Vec<Range<usize>>,
}

/// The result of a piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard<'a> {
    /// These bytes continue the stream.
    New(Cow<'a, [u8]>),
    /// It is kept until the bytes before it have come.
    Ahead,
    /// All of it had come before.
    Known,
    /// It reaches beyond the limit, or leaves too many gaps.
    Rejected,
}

/// Gaps at most: a ClientHello is two or three pieces, a server's answer fifteen.
const SPANS_MAX: usize = 16;

impl Assembly {
    /// Number of bytes that have come without a gap.
    pub(super) fn joined(&self) -> usize {
        self.joined
    }

    /// Bytes that it holds in memory.
    pub(super) fn held_bytes(&self) -> usize {
        self.ahead.capacity() + self.spans.capacity() * size_of::<Range<usize>>()
    }

    /// Takes a piece at this offset of a stream that may have `bytes_max` bytes.
    pub(super) fn hear<'a>(&mut self, offset: u64, bytes: &'a [u8], bytes_max: usize) -> Heard<'a> {
        let begin = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = begin.saturating_add(bytes.len());
        if end > bytes_max {
            return Heard::Rejected;
        }
        if end <= self.joined || bytes.is_empty() {
            return Heard::Known;
        }
        if begin <= self.joined && self.spans.is_empty() {
            let new = &bytes[self.joined - begin..];
            self.joined = end;
            return Heard::New(Cow::Borrowed(new));
        }
        if self.spans.iter().any(|span| span.start <= begin && end <= span.end) {
            return Heard::Known;
        }
        let skipped = self.joined.saturating_sub(begin);
        if !self.keep(begin + skipped, &bytes[skipped..]) {
            return Heard::Rejected;
        }
        self.take_joined().map_or(Heard::Ahead, |new| Heard::New(Cow::Owned(new)))
    }

    /// Keeps bytes that begin at or after `joined`. False if they leave too many gaps.
    fn keep(&mut self, begin: usize, bytes: &[u8]) -> bool {
        let end = begin + bytes.len();
        // Spans that touch the new one are merged with it.
        let first = self.spans.partition_point(|span| span.end < begin);
        let last = self.spans.partition_point(|span| span.start <= end);
        if first == last && self.spans.len() >= SPANS_MAX {
            return false;
        }
        let at = begin - self.joined;
        self.ahead.resize(self.ahead.len().max(at + bytes.len()), 0);
        self.ahead[at..at + bytes.len()].copy_from_slice(bytes);
        let touched = &self.spans[first..last];
        let whole = touched.iter().fold(begin..end, |it, span| it.start.min(span.start)..it.end.max(span.end));
        self.spans.splice(first..last, [whole]);
        true
    }

    /// Takes out the bytes that no longer have a gap before them.
    fn take_joined(&mut self) -> Option<Vec<u8>> {
        let end = self.spans.first().filter(|span| span.start == self.joined)?.end;
        self.spans.remove(0);
        let rest = self.ahead.split_off(end - self.joined);
        self.joined = end;
        Some(std::mem::replace(&mut self.ahead, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(bytes: &[u8]) -> Heard<'_> {
        Heard::New(Cow::Borrowed(bytes))
    }

    #[test]
    fn each_byte_is_delivered_once_and_in_order() {
        let mut stream = Assembly::default();
        assert_eq!(stream.hear(1, b"b", 9), Heard::Ahead, "something is missing");
        assert_eq!(stream.hear(1, b"b", 9), Heard::Known);
        assert_eq!(stream.hear(0, b"abc", 9), new(b"abc"));
        assert_eq!(stream.hear(0, b"abc", 9), Heard::Known);
        assert_eq!(stream.hear(1, b"bcde", 9), new(b"de"));
        assert_eq!(stream.hear(5, b"12345", 9), Heard::Rejected, "it is too much");
        assert_eq!(stream.hear(u64::MAX, b"1", 9), Heard::Rejected);
        assert_eq!(stream.hear(8, b"", 9), Heard::Known);
        assert_eq!(stream.joined(), 5);
    }

    #[test]
    fn pieces_in_any_order_give_the_stream_and_leave_no_memory() {
        let whole: Vec<u8> = (0..200).collect();
        for seed in 1..500_usize {
            let (mut stream, mut got, mut state) = (Assembly::default(), Vec::new(), seed);
            while got.len() < whole.len() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let begin = (state >> 33) % whole.len();
                let end = (begin + 1 + (state >> 50) % 40).min(whole.len());
                if let Heard::New(bytes) = stream.hear(begin as u64, &whole[begin..end], whole.len()) {
                    got.extend_from_slice(&bytes);
                }
            }
            assert_eq!((&got, stream.joined()), (&whole, whole.len()), "seed {seed}");
            assert!(stream.ahead.is_empty() && stream.spans.is_empty());
        }
    }

    #[test]
    fn memory_stays_within_its_limits_for_any_input() {
        let mut stream = Assembly::default();
        let kept = (1..2_000).step_by(2).filter(|at| stream.hear(*at, b"x", 4_096) == Heard::Ahead).count();
        assert_eq!((kept, stream.spans.len()), (SPANS_MAX, SPANS_MAX));
        assert_eq!(stream.hear(4_095, b"x", 4_096), Heard::Rejected);
        assert!(stream.ahead.len() <= 4_096);
        assert_eq!(stream.hear(0, &[0; 4_096], 4_096), new(&[0; 4_096]), "the whole is welcome all the same");
    }
}
