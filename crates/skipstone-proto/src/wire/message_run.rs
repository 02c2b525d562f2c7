//! Runs of messages: whole messages after a MESSAGE, each of which follows the previous one, so that its header is
//! about one byte (WIRE.md section 4.2). Most messages that share a packet form one run, and are handled together.

use crate::wire::cursor::Reader;
use crate::wire::message_flags::{LENGTH_AS_BEFORE, LENGTH_BITS, LENGTH_FOLLOWS, LENGTH_IS_REST, TYPE_MESSAGE};
use crate::wire::settings;
use core::ops::Range;

/// Messages that follow each other, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRun<'a> {
    /// Their frames.
    pub bytes: &'a [u8],
    /// The number of messages.
    pub count: u32,
    /// Bytes of all payloads.
    pub payload_bytes: usize,
    /// Bytes of the longest payload.
    pub payload_bytes_max: usize,
    /// Bytes of a receive window that all messages take.
    pub window_cost: u64,
    /// Bytes of the last payload.
    pub(super) last: usize,
    /// The position of the first message.
    pub first: RunPosition,
}

impl<'a> MessageRun<'a> {
    /// The messages at the beginning of `bytes` that follow one of `before` bytes: up to the first that is incomplete,
    /// damaged or of another form.
    pub(super) fn at(bytes: &'a [u8], before: usize) -> MessageRun<'a> {
        let first = RunPosition { at: 0, length: before };
        let mut run =
            MessageRun { bytes, count: 0, payload_bytes: 0, payload_bytes_max: 0, window_cost: 0, last: before, first };
        let mut place = first;
        loop {
            let alike = place.skip_alike(bytes);
            if alike > 0 {
                run.add(alike, place.length);
            }
            match place.take(bytes) {
                Some(payload) => run.add(1, payload.len()),
                None => break,
            }
        }
        (run.bytes, run.last) = (&bytes[..place.at], place.length);
        run
    }

    fn add(&mut self, count: usize, length: usize) {
        self.count += count as u32;
        self.payload_bytes += count * length;
        self.payload_bytes_max = self.payload_bytes_max.max(length);
        self.window_cost += count as u64 * settings::window_cost(length);
    }
}

/// The position in a run of the next message, and the length of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPosition {
    at: usize,
    length: usize,
}

/// All of the header of a message that is as long as the one before it.
const ALIKE: u8 = TYPE_MESSAGE | LENGTH_AS_BEFORE;

impl RunPosition {
    /// Returns the place of the next payload in the run's `bytes`, and advances past it.
    #[inline]
    pub fn take(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let flags = *bytes.get(self.at)?;
        let mut begin = self.at + 1;
        let length = if flags == ALIKE { self.length } else { length_of(flags, bytes, &mut begin)? };
        let end = begin.checked_add(length).filter(|end| *end <= bytes.len())?;
        *self = RunPosition { at: end, length };
        Some(begin..end)
    }

    /// Skips the messages that are as long as the one before. Returns their number.
    fn skip_alike(&mut self, bytes: &[u8]) -> usize {
        let mut count = 0;
        while bytes.get(self.at) == Some(&ALIKE) && bytes.len() - self.at > self.length {
            self.at += 1 + self.length;
            count += 1;
        }
        count
    }
}

/// The length of a payload that states one, and its begin; `None` for a message that cannot be in a run.
fn length_of(flags: u8, bytes: &[u8], begin: &mut usize) -> Option<usize> {
    if flags & !LENGTH_BITS != TYPE_MESSAGE {
        return None;
    }
    match flags & LENGTH_BITS {
        LENGTH_FOLLOWS => {
            let mut reader = Reader::new(&bytes[*begin..]);
            let length = usize::try_from(reader.varint().ok()?).ok()?;
            *begin = bytes.len() - reader.remaining();
            Some(length)
        }
        LENGTH_IS_REST => None,
        length => Some(length.into()),
    }
}
