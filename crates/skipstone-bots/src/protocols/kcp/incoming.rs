//! Segments that arrive: acknowledged, put into order, and joined to messages.

use super::segment::{Segment, distance};
use bytes::Bytes;
use std::collections::VecDeque;

/// The incoming half of a conversation. It passes messages on at once, so it stores only segments that came early and
/// the fragments of one message.
#[derive(Debug)]
pub(super) struct IncomingSegments {
    window: u16,
    /// The number that the first place of `early` is for.
    next: u32,
    early: VecDeque<Option<Part>>,
    early_bytes: usize,
    joined: Vec<u8>,
    fragments_left: Option<u8>,
    acknowledgements: VecDeque<Acknowledgement>,
    duplicates: u64,
    refused: u64,
}

#[derive(Debug)]
struct Part {
    fragments_left: u8,
    data: Bytes,
}

/// That a segment arrived, with the time that it carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    pub(super) number: u32,
    pub(super) timestamp: u32,
}

/// The fragments do not count down to 0, or are too many bytes: no KCP sends that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrokenMessage;

/// Acknowledgements that wait for the next flush. The sender repeats a segment whose acknowledgement was left out.
const ACKNOWLEDGEMENTS_MAX: usize = 8192;
/// Bytes of segments that came early. A segment beyond is dropped without an acknowledgement, so it comes again.
const EARLY_BYTES_MAX: usize = 4 << 20;
/// Bytes of a message. 255 fragments that fit into datagrams of 1,500 bytes are less.
const MESSAGE_BYTES_MAX: usize = 512 << 10;

impl IncomingSegments {
    pub(super) fn new(window: u16) -> Self {
        IncomingSegments {
            window,
            next: 0,
            early: VecDeque::new(),
            early_bytes: 0,
            joined: Vec::new(),
            fragments_left: None,
            acknowledgements: VecDeque::new(),
            duplicates: 0,
            refused: 0,
        }
    }

    /// A segment with data. Appends messages that it completes to `messages`.
    pub(super) fn on_push(
        &mut self,
        segment: &Segment<'_>,
        messages: &mut VecDeque<Bytes>,
    ) -> Result<(), BrokenMessage> {
        let ahead = distance(segment.number, self.next);
        if ahead >= i32::from(self.window) {
            self.refused += 1;
            return Ok(());
        }
        let Ok(ahead) = usize::try_from(ahead) else {
            self.duplicates += 1;
            self.acknowledge(segment);
            return Ok(());
        };
        if ahead > 0 && self.early_bytes + segment.data.len() > EARLY_BYTES_MAX {
            self.refused += 1;
            return Ok(());
        }
        self.acknowledge(segment);
        self.store(ahead, segment);
        self.join(messages)
    }

    /// The next acknowledgement to send.
    pub(super) fn pop_acknowledgement(&mut self) -> Option<Acknowledgement> {
        self.acknowledgements.pop_front()
    }

    pub(super) fn has_acknowledgements(&self) -> bool {
        !self.acknowledgements.is_empty()
    }

    /// All below have arrived.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Segments that there is room for. Messages are passed on at once, so the room stays the same.
    pub(super) fn window(&self) -> u16 {
        self.window
    }

    pub(super) fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Segments outside of the window, or beyond the bound in bytes.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }

    fn acknowledge(&mut self, segment: &Segment<'_>) {
        if self.acknowledgements.len() < ACKNOWLEDGEMENTS_MAX {
            let Segment { number, timestamp, .. } = *segment;
            self.acknowledgements.push_back(Acknowledgement { number, timestamp });
        }
    }

    fn store(&mut self, ahead: usize, segment: &Segment<'_>) {
        if self.early.len() <= ahead {
            self.early.resize_with(ahead + 1, || None);
        }
        if self.early[ahead].is_some() {
            self.duplicates += 1;
            return;
        }
        self.early_bytes += segment.data.len();
        let Segment { fragments_left, data, .. } = *segment;
        self.early[ahead] = Some(Part { fragments_left, data: Bytes::copy_from_slice(data) });
    }

    fn join(&mut self, messages: &mut VecDeque<Bytes>) -> Result<(), BrokenMessage> {
        while let Some(Some(part)) = self.early.pop_front_if(|place| place.is_some()) {
            self.next = self.next.wrapping_add(1);
            self.early_bytes -= part.data.len();
            let is_out_of_step =
                self.fragments_left.is_some_and(|left| left.checked_sub(1) != Some(part.fragments_left));
            if is_out_of_step || self.joined.len() + part.data.len() > MESSAGE_BYTES_MAX {
                return Err(BrokenMessage);
            }
            match (part.fragments_left, self.joined.is_empty()) {
                (0, true) => messages.push_back(part.data),
                (0, false) => {
                    self.joined.extend_from_slice(&part.data);
                    messages.push_back(core::mem::take(&mut self.joined).into());
                }
                _ => self.joined.extend_from_slice(&part.data),
            }
            self.fragments_left = (part.fragments_left > 0).then_some(part.fragments_left);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::Command;
    use super::*;

    fn push(
        incoming: &mut IncomingSegments,
        number: u32,
        fragments_left: u8,
        data: &[u8],
    ) -> Result<Vec<Bytes>, BrokenMessage> {
        let mut messages = VecDeque::new();
        let segment = Segment {
            command: Command::Push,
            fragments_left,
            window: 0,
            timestamp: number,
            number,
            unacknowledged: 0,
            data,
        };
        incoming.on_push(&segment, &mut messages).map(|()| messages.into())
    }

    #[test]
    fn segments_are_passed_on_once_and_in_order() {
        let mut incoming = IncomingSegments::new(8);
        assert_eq!(push(&mut incoming, 1, 0, b"b"), Ok(vec![]));
        assert_eq!(push(&mut incoming, 1, 0, b"b"), Ok(vec![]));
        assert_eq!(push(&mut incoming, 0, 0, b"a"), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(push(&mut incoming, 0, 0, b"a"), Ok(vec![]));
        let acknowledged: Vec<u32> =
            core::iter::from_fn(|| incoming.pop_acknowledgement()).map(|ack| ack.number).collect();
        assert_eq!(acknowledged, [1, 1, 0, 0]);
        assert_eq!((incoming.duplicates(), incoming.next(), incoming.early_bytes), (2, 2, 0));
    }

    #[test]
    fn fragments_are_joined() {
        let mut incoming = IncomingSegments::new(8);
        assert_eq!(push(&mut incoming, 0, 2, b"a"), Ok(vec![]));
        assert_eq!(push(&mut incoming, 2, 0, b"c"), Ok(vec![]));
        assert_eq!(push(&mut incoming, 1, 1, b"b"), Ok(vec!["abc".into()]));
        assert_eq!(push(&mut incoming, 3, 0, b""), Ok(vec!["".into()]));
    }

    #[test]
    fn fragments_that_do_not_count_down_are_no_message() {
        let mut incoming = IncomingSegments::new(8);
        assert_eq!(push(&mut incoming, 0, 2, b"a"), Ok(vec![]));
        assert_eq!(push(&mut incoming, 1, 2, b"b"), Err(BrokenMessage));
    }

    #[test]
    fn segments_outside_of_the_window_are_dropped_without_acknowledgement() {
        let mut incoming = IncomingSegments::new(8);
        assert_eq!(push(&mut incoming, 8, 0, b"x"), Ok(vec![]));
        assert_eq!(push(&mut incoming, 0x7FFF_FFFF, 0, b"x"), Ok(vec![]));
        assert!(!incoming.has_acknowledgements());
        assert_eq!((incoming.refused(), incoming.early.len()), (2, 0));
    }

    #[test]
    fn what_came_early_has_a_bound_in_bytes() {
        let mut incoming = IncomingSegments::new(4096);
        let data = vec![0; 60_000];
        for number in 1..1000 {
            push(&mut incoming, number, 0, &data).expect("in order");
        }
        assert!(incoming.early_bytes <= EARLY_BYTES_MAX);
        assert!(incoming.refused() > 0);
    }
}
