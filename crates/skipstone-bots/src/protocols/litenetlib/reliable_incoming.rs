//! The receiving half of a reliable channel: each packet once, in order where the channel asks for it.

use super::packet::{ACKNOWLEDGE, Content, Fragment, channel_header};
use super::reliable_outgoing::{BITS, WINDOW};
use super::sequence::Sequence;
use bytes::Bytes;
use std::collections::VecDeque;

/// Packets of one channel that arrive.
#[derive(Debug)]
pub(super) struct ReliableIncoming {
    channel: u8,
    order: Order,
    /// Where the bits begin; moves when a packet comes that they have no place for.
    start: Sequence,
    bits: [u8; BITS],
    /// The number that the first place of `early` is for.
    next: Sequence,
    early: VecDeque<Option<Early>>,
    must_acknowledge: bool,
}

/// Whether messages wait for earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// In the order in which they were sent.
    Kept,
    /// As they arrive.
    Free,
}

/// A packet that came before an earlier one.
#[derive(Debug)]
enum Early {
    Waits(Stored),
    PassedOn,
}

/// The content of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Message(Bytes),
    Messages(Bytes),
    Fragment(Fragment, Bytes),
}

/// What a packet was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    New,
    Duplicate,
    /// Outside of the window.
    Invalid,
}

impl ReliableIncoming {
    pub(super) fn new(channel: u8, order: Order) -> Self {
        ReliableIncoming {
            channel,
            order,
            start: Sequence::default(),
            bits: [0; BITS],
            next: Sequence::default(),
            early: VecDeque::new(),
            must_acknowledge: false,
        }
    }

    /// Appends to `out` what can be passed on.
    pub(super) fn on_packet(&mut self, sequence: Sequence, content: Content<'_>, out: &mut Vec<Stored>) -> Arrival {
        if sequence.ahead_of(self.start) < 0 {
            return Arrival::Duplicate;
        }
        if sequence.ahead_of(self.next) >= WINDOW as i32 {
            return Arrival::Invalid;
        }
        self.make_room(sequence);
        self.must_acknowledge = true;
        let (byte, bit) = place(sequence);
        if self.bits[byte] & bit != 0 {
            return Arrival::Duplicate;
        }
        self.bits[byte] |= bit;
        self.pass_on(sequence, content, out);
        Arrival::New
    }

    pub(super) fn must_acknowledge(&self) -> bool {
        self.must_acknowledge
    }

    /// The acknowledgement that is due.
    pub(super) fn take_acknowledgement(&mut self) -> Option<Vec<u8>> {
        if !core::mem::take(&mut self.must_acknowledge) {
            return None;
        }
        let mut packet = channel_header(ACKNOWLEDGE, self.start, self.channel);
        packet.extend_from_slice(&self.bits);
        Some(packet)
    }

    /// Moves the window until it has a place for the packet. The sender has seen the acknowledgements of those that
    /// leave it, because it would not have sent this one before.
    fn make_room(&mut self, sequence: Sequence) {
        while sequence.ahead_of(self.start) >= WINDOW as i32 {
            let (byte, bit) = place(self.start);
            self.bits[byte] &= !bit;
            self.start = self.start.next();
        }
    }

    fn pass_on(&mut self, sequence: Sequence, content: Content<'_>, out: &mut Vec<Stored>) {
        // Its bit was not set, so it is not behind `next`.
        let index = usize::try_from(sequence.ahead_of(self.next)).unwrap_or(0);
        if self.early.len() <= index {
            self.early.resize_with(index + 1, || None);
        }
        let stored = Stored::from(content);
        self.early[index] = Some(match self.order {
            Order::Kept => Early::Waits(stored),
            Order::Free => {
                out.push(stored);
                Early::PassedOn
            }
        });
        while let Some(Some(early)) = self.early.pop_front_if(|place| place.is_some()) {
            self.next = self.next.next();
            if let Early::Waits(stored) = early {
                out.push(stored);
            }
        }
    }
}

impl From<Content<'_>> for Stored {
    fn from(content: Content<'_>) -> Self {
        match content {
            Content::Message(data) => Stored::Message(Bytes::copy_from_slice(data)),
            Content::Messages(data) => Stored::Messages(Bytes::copy_from_slice(data)),
            Content::Fragment(fragment, data) => Stored::Fragment(fragment, Bytes::copy_from_slice(data)),
        }
    }
}

fn place(sequence: Sequence) -> (usize, u8) {
    let place = sequence.place(WINDOW);
    (place / 8, 1 << (place % 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(incoming: &mut ReliableIncoming, number: u16) -> (Arrival, Vec<u8>) {
        let mut out = Vec::new();
        let data = [number as u8];
        let arrival = incoming.on_packet(Sequence::default().plus(number), Content::Message(&data), &mut out);
        let byte = |stored: Stored| match stored {
            Stored::Message(data) => data[0],
            other => panic!("{other:?}"),
        };
        (arrival, out.into_iter().map(byte).collect())
    }

    #[test]
    fn an_ordered_channel_waits_for_what_is_missing() {
        let mut incoming = ReliableIncoming::new(2, Order::Kept);
        assert_eq!(arrive(&mut incoming, 1), (Arrival::New, vec![]));
        assert_eq!(arrive(&mut incoming, 1), (Arrival::Duplicate, vec![]));
        assert_eq!(arrive(&mut incoming, 0), (Arrival::New, vec![0, 1]));
        assert_eq!(arrive(&mut incoming, 0), (Arrival::Duplicate, vec![]));
    }

    #[test]
    fn an_unordered_channel_passes_each_on_once() {
        let mut incoming = ReliableIncoming::new(0, Order::Free);
        assert_eq!(arrive(&mut incoming, 1), (Arrival::New, vec![1]));
        assert_eq!(arrive(&mut incoming, 0), (Arrival::New, vec![0]));
        assert_eq!(arrive(&mut incoming, 1), (Arrival::Duplicate, vec![]));
        assert_eq!(incoming.early.len(), 0);
    }

    #[test]
    fn an_acknowledgement_has_the_bits_of_its_window() {
        let mut incoming = ReliableIncoming::new(6, Order::Kept);
        for number in 0..64 {
            arrive(&mut incoming, number);
        }
        arrive(&mut incoming, 65);
        let packet = incoming.take_acknowledgement().expect("due");
        assert_eq!(packet[..4], [ACKNOWLEDGE, 2, 0, 6]);
        assert_eq!(packet.len(), 13);
        assert_eq!(packet[4] & 0b11, 0b10, "64 is missing, 65 is there");
        assert_eq!(incoming.take_acknowledgement(), None);
    }

    #[test]
    fn numbers_beyond_the_window_are_invalid() {
        let mut incoming = ReliableIncoming::new(2, Order::Kept);
        assert_eq!(arrive(&mut incoming, 64).0, Arrival::Invalid);
        assert_eq!(arrive(&mut incoming, 16_000).0, Arrival::Invalid);
        assert_eq!(arrive(&mut incoming, 32_767).0, Arrival::Duplicate);
        assert!(!incoming.must_acknowledge());
        assert_eq!(arrive(&mut incoming, 63).0, Arrival::New);
    }

    #[test]
    fn numbers_wrap() {
        let mut incoming = ReliableIncoming::new(2, Order::Kept);
        for number in 0..40_000_u32 {
            assert_eq!(arrive(&mut incoming, (number % 32_768) as u16).0, Arrival::New, "{number}");
        }
    }
}
