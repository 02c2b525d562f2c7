//! Rows of messages: whole ones behind a MESSAGE of which each follows the one before, so that a byte or so says all of its
//! header (WIRE.md section 4.2). Most of all messages that share a packet stand in one, and are taken together.

use crate::wire::cursor::Reader;
use crate::wire::message::{LENGTH_AS_BEFORE, LENGTH_BITS, LENGTH_FOLLOWS, LENGTH_IS_REST, TYPE_MESSAGE};
use crate::wire::settings;
use core::ops::Range;

/// Messages that follow each other, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Their frames.
    pub bytes: &'a [u8],
    /// How many.
    pub count: u32,
    /// Bytes of all payloads.
    pub payload_bytes: usize,
    /// Bytes of the longest payload.
    pub payload_bytes_max: usize,
    /// What all of them take of a window.
    pub window_cost: u64,
    /// Bytes of the last payload.
    pub(super) last: usize,
    /// The place of the first.
    pub first: Place,
}

impl<'a> Row<'a> {
    /// The messages at the beginning of `bytes` that follow one of `before` bytes: as far as they are whole, and neither
    /// damaged nor of any other form.
    pub(super) fn at(bytes: &'a [u8], before: usize) -> Row<'a> {
        let first = Place { at: 0, length: before };
        let mut row =
            Row { bytes, count: 0, payload_bytes: 0, payload_bytes_max: 0, window_cost: 0, last: before, first };
        let mut place = first;
        loop {
            let alike = place.skip_alike(bytes);
            if alike > 0 {
                row.add(alike, place.length);
            }
            match place.take(bytes) {
                Some(payload) => row.add(1, payload.len()),
                None => break,
            }
        }
        (row.bytes, row.last) = (&bytes[..place.at], place.length);
        row
    }

    fn add(&mut self, count: usize, length: usize) {
        self.count += count as u32;
        self.payload_bytes += count * length;
        self.payload_bytes_max = self.payload_bytes_max.max(length);
        self.window_cost += count as u64 * settings::window_cost(length);
    }
}

/// Where in a row the next message stands, and how long the one before it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    at: usize,
    length: usize,
}

/// All of the header of a message that is as long as the one before it.
const ALIKE: u8 = TYPE_MESSAGE | LENGTH_AS_BEFORE;

impl Place {
    /// Where the next payload lies in the row's `bytes`, and goes on behind it.
    #[inline]
    pub fn take(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let flags = *bytes.get(self.at)?;
        let mut begin = self.at + 1;
        let length = if flags == ALIKE { self.length } else { length_of(flags, bytes, &mut begin)? };
        let end = begin.checked_add(length).filter(|end| *end <= bytes.len())?;
        *self = Place { at: end, length };
        Some(begin..end)
    }

    /// Goes on behind the messages that are as long as the one before. How many there are.
    fn skip_alike(&mut self, bytes: &[u8]) -> usize {
        let mut count = 0;
        while bytes.get(self.at) == Some(&ALIKE) && bytes.len() - self.at > self.length {
            self.at += 1 + self.length;
            count += 1;
        }
        count
    }
}

/// The length of a payload that says one, and where it begins; `None` for what stands in no row.
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

#[cfg(test)]
mod tests {
    use crate::wire::cursor::Writer;
    use crate::wire::frame::{Frame, Frames};
    use crate::wire::message::{Run, Sequence};
    use crate::wire::number::Truncated;
    use crate::wire::settings::window_cost;

    fn row_of(lengths: &[usize]) -> Vec<u8> {
        let mut buffer = vec![0; 100_000];
        let mut writer = Writer::new(&mut buffer);
        let mut run = Run::default();
        for (at, length) in (0..).zip(lengths) {
            let sequence = Some((at, Truncated::new(at.into(), 10)));
            run.encode_header(&mut writer, 3, sequence, None, *length);
            writer.bytes(&vec![at as u8; *length]);
        }
        writer.written().to_vec()
    }

    #[test]
    fn a_row_has_what_frames_have_one_by_one() {
        let lengths = [20, 20, 0, 0, 12, 13, 13, 64, 16_384, 16_384, 7];
        let bytes = row_of(&lengths);
        let one_by_one: Vec<_> = Frames::new(&bytes).map(|frame| frame.expect("it is well-formed")).collect();
        let mut frames = Frames::new(&bytes);
        assert!(matches!(frames.next(), Some(Ok(Frame::Message(_)))));
        let row = frames.row();
        assert_eq!((row.count, row.payload_bytes_max, row.last), (10, 16_384, 7));
        assert_eq!(row.payload_bytes, lengths[1..].iter().sum::<usize>());
        assert_eq!(row.window_cost, lengths[1..].iter().map(|length| window_cost(*length)).sum::<u64>());
        let mut place = row.first;
        for frame in &one_by_one[1..] {
            let Frame::Message(message) = frame else { panic!("{frame:?} is no message") };
            let payload = place.take(row.bytes).expect("the row is as long");
            assert_eq!((message.sequence, message.payload), (Sequence::Next, &row.bytes[payload]));
        }
        assert_eq!(place.take(row.bytes), None);
        frames.skip_row(&row);
        assert!(frames.next().is_none());
    }

    #[test]
    fn a_row_ends_before_whatever_is_not_plain() {
        let plain = row_of(&[20, 20, 20]);
        for (behind, what) in [
            (&[][..], "the end"),
            (&[0x01][..], "a PING"),
            (&[0xC0, 0x04, 0x8E][..], "another channel"),
            (&[0xA0, 0x09][..], "another sequence"),
            (&[0x8F, 1, 2][..], "the rest of the packet"),
            (&[0x8D, 1, 2][..], "a message that is cut off"),
            (&[0x8E, 0xFF, 0xFF][..], "a length that is cut off"),
            (&[0x8E, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF][..], "a length beyond everything"),
        ] {
            let bytes = [&plain[..], behind].concat();
            let mut frames = Frames::new(&bytes);
            let _ = frames.next();
            let row = frames.row();
            assert_eq!(row.count, 2, "{what}");
            frames.skip_row(&row);
            assert_eq!(frames.remaining(), behind.len(), "{what}");
        }
    }

    #[test]
    fn there_is_no_row_behind_messages_without_sequence() {
        let bytes = [&[0x8E, 20][..], &[7; 20], &[0x8D], &[8; 20]].concat();
        let mut frames = Frames::new(&bytes);
        assert_eq!(frames.row().count, 0, "nor at the beginning");
        assert!(frames.next().is_some_and(|frame| frame.is_ok()));
        let row = frames.row();
        assert_eq!(row.count, 0);
        frames.skip_row(&row);
        assert!(matches!(frames.next(), Some(Ok(Frame::Message(message))) if message.payload.len() == 20), "as before");
    }
}
