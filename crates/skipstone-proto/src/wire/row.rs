//! Rows of messages: whole ones behind a MESSAGE of which each follows the one before, so that a byte or so says all of its
//! header (WIRE.md section 4.2). Most of all messages that share a packet stand in one, and are taken together.

use crate::wire::cursor::Reader;
use crate::wire::message::{LENGTH_AS_BEFORE, LENGTH_BITS, LENGTH_FOLLOWS, LENGTH_IS_REST, TYPE_MESSAGE};
use core::ops::Range;

/// Messages that follow each other, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Their frames.
    pub bytes: &'a [u8],
    /// How many.
    pub count: u32,
    /// Bytes of the longest payload.
    pub payload_bytes_max: usize,
    /// Bytes of the last payload.
    pub(super) last: usize,
    /// Bytes of the payload before the first.
    before: usize,
}

impl<'a> Row<'a> {
    /// The messages at the beginning of `bytes` that follow one of `before` bytes: as far as they are whole, and neither
    /// damaged nor of any other form.
    pub(super) fn at(bytes: &'a [u8], before: usize) -> Row<'a> {
        let mut row = Row { bytes: &[], count: 0, payload_bytes_max: 0, last: before, before };
        let mut end = 0;
        let payloads = Payloads { bytes, at: 0, length: before };
        for payload in payloads {
            (row.last, end) = (payload.len(), payload.end);
            row.payload_bytes_max = row.payload_bytes_max.max(payload.len());
            row.count += 1;
        }
        row.bytes = &bytes[..end];
        row
    }

    /// Where the payloads lie in `bytes`.
    pub fn payloads(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        Payloads { bytes: self.bytes, at: 0, length: self.before }
    }
}

struct Payloads<'a> {
    bytes: &'a [u8],
    at: usize,
    length: usize,
}

impl Iterator for Payloads<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let flags = *self.bytes.get(self.at)?;
        if flags & !LENGTH_BITS != TYPE_MESSAGE {
            return None;
        }
        let mut begin = self.at + 1;
        self.length = match flags & LENGTH_BITS {
            LENGTH_AS_BEFORE => self.length,
            LENGTH_FOLLOWS => {
                let mut reader = Reader::new(&self.bytes[begin..]);
                let length = usize::try_from(reader.varint().ok()?).ok()?;
                begin = self.bytes.len() - reader.remaining();
                length
            }
            LENGTH_IS_REST => return None,
            length => length.into(),
        };
        let end = begin.checked_add(self.length).filter(|end| *end <= self.bytes.len())?;
        self.at = end;
        Some(begin..end)
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::cursor::Writer;
    use crate::wire::frame::{Frame, Frames};
    use crate::wire::message::{Run, Sequence};
    use crate::wire::number::Truncated;

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
        for (payload, frame) in row.payloads().zip(&one_by_one[1..]) {
            let Frame::Message(message) = frame else { panic!("{frame:?} is no message") };
            assert_eq!((message.sequence, message.payload), (Sequence::Next, &row.bytes[payload]));
        }
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
