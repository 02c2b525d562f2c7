//! The sending half of a reliable channel: a window of 64 packets, each sent again until it is acknowledged.

use super::merge::Merge;
use super::packet::{
    CHANNEL_HEADER, CHANNELED, FRAGMENT_HEADER, Fragment, RELIABLE_MERGED, channel_header, fragment_packet,
};
use super::sequence::Sequence;
use crate::protocols::limits::queue_cost;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::VecDeque;

/// Messages of one channel that leave.
#[derive(Debug)]
pub(super) struct ReliableOutgoing {
    channel: u8,
    mtu: usize,
    /// Whether several messages may share a packet.
    merges: bool,
    waiting: VecDeque<Waiting>,
    /// The first one has the number `first`; acknowledged ones are `None`.
    window: VecDeque<Option<InFlight>>,
    first: Sequence,
    bytes: usize,
    retransmitted: u64,
}

#[derive(Debug)]
struct Waiting {
    fragment: Option<Fragment>,
    data: Bytes,
}

#[derive(Debug)]
struct InFlight {
    packet: Vec<u8>,
    sent: Option<Time>,
}

/// Packets in flight on one channel at most.
pub(super) const WINDOW: usize = 64;
/// Bytes of the bits of an acknowledgement; the original has one more than it needs.
pub(super) const BITS: usize = WINDOW / 8 + 1;
const LENGTH: usize = 2;
/// A merged packet is full when less than this is left.
const ROOM_MIN: usize = 20;

impl ReliableOutgoing {
    pub(super) fn new(channel: u8, mtu: usize) -> Self {
        ReliableOutgoing {
            channel,
            mtu,
            merges: true,
            waiting: VecDeque::new(),
            window: VecDeque::new(),
            first: Sequence::default(),
            bytes: 0,
            retransmitted: 0,
        }
    }

    pub(super) fn merging(self, merges: bool) -> Self {
        ReliableOutgoing { merges, ..self }
    }

    /// Queues a message. `number` is that of its fragments, if it needs any: then it returns true.
    pub(super) fn push(&mut self, message: Bytes, number: u16) -> bool {
        if message.len() + CHANNEL_HEADER <= self.mtu {
            self.wait(None, message);
            return false;
        }
        let size = fragment_bytes(self.mtu);
        let parts = message.len().div_ceil(size) as u16;
        for part in 0..parts {
            let from = usize::from(part) * size;
            let data = message.slice(from..message.len().min(from + size));
            self.wait(Some(Fragment { message: number, part, parts }), data);
        }
        true
    }

    /// What waits or is not acknowledged, each message or fragment with its cost.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Whether a new packet may leave.
    pub(super) fn may_send(&self) -> bool {
        !self.waiting.is_empty() && self.window.len() < WINDOW
    }

    /// When the first packet is sent again.
    pub(super) fn resend_at(&self, resend_after: Duration) -> Option<Time> {
        self.window.iter().flatten().filter_map(|packet| packet.sent).min().map(|sent| sent + resend_after)
    }

    /// The peer has the packets whose bits are set. `start` is where its window begins. Returns false if the
    /// acknowledgement cannot be of this channel.
    pub(super) fn on_acknowledged(&mut self, start: Sequence, bits: &[u8]) -> bool {
        let behind = self.first.ahead_of(start);
        if bits.len() != BITS || behind < 0 {
            return false;
        }
        for index in 0..self.window.len() {
            let sequence = self.first.plus(index as u16);
            if sequence.ahead_of(start) >= WINDOW as i32 {
                break;
            }
            let place = sequence.place(WINDOW);
            if bits[place / 8] & (1 << (place % 8)) != 0 {
                self.remove(index);
            }
        }
        while self.window.front().is_some_and(Option::is_none) {
            self.window.pop_front();
            self.first = self.first.next();
        }
        true
    }

    /// Sends what is due: again, or for the first time while the window has room.
    pub(super) fn flush(&mut self, now: Time, resend_after: Duration, merge: &mut Merge<'_>) {
        while self.may_send() {
            let sequence = self.first.plus(self.window.len() as u16);
            let packet = self.next_packet(sequence);
            self.window.push_back(Some(InFlight { packet, sent: None }));
        }
        for packet in self.window.iter_mut().flatten() {
            if packet.sent.is_some_and(|sent| now < sent + resend_after) {
                continue;
            }
            self.retransmitted += u64::from(packet.sent.is_some());
            packet.sent = Some(now);
            merge.add(&packet.packet);
        }
    }

    fn wait(&mut self, fragment: Option<Fragment>, data: Bytes) {
        self.bytes += queue_cost(&data);
        self.waiting.push_back(Waiting { fragment, data });
    }

    fn remove(&mut self, index: usize) {
        let packet = self.window[index].take();
        self.bytes -= packet.map_or(0, |packet| packet.cost());
    }

    /// A fragment alone; otherwise as many messages as fit.
    fn next_packet(&mut self, sequence: Sequence) -> Vec<u8> {
        let mut merged = channel_header(RELIABLE_MERGED, sequence, self.channel);
        while let Some(Waiting { fragment: None, data }) = self.waiting.front() {
            let length = merged.len() + LENGTH + data.len();
            let is_full = length + ROOM_MIN > self.mtu && merged.len() > CHANNEL_HEADER;
            // WHY: a length of 0 ends a merged packet at the original's receiver, so an empty message leaves alone.
            if is_full || length > self.mtu || data.is_empty() || !self.merges {
                break;
            }
            merged.extend_from_slice(&(data.len() as u16).to_le_bytes());
            merged.extend_from_slice(data);
            self.waiting.pop_front();
        }
        if merged.len() > CHANNEL_HEADER {
            return merged;
        }
        let Some(Waiting { fragment, data }) = self.waiting.pop_front() else { return merged };
        match fragment {
            Some(fragment) => fragment_packet(sequence, self.channel, fragment, &data),
            None => [channel_header(CHANNELED, sequence, self.channel).as_slice(), &data].concat(),
        }
    }
}

impl InFlight {
    /// What its content counted when it was queued.
    fn cost(&self) -> usize {
        let content = &self.packet[CHANNEL_HEADER..];
        match self.packet[0] {
            RELIABLE_MERGED => super::packet::Parts::new(content).map(queue_cost).sum(),
            CHANNELED => queue_cost(content),
            _ => queue_cost(&content[FRAGMENT_HEADER..]),
        }
    }
}

/// Bytes of a message in one fragment.
pub(super) fn fragment_bytes(mtu: usize) -> usize {
    mtu - CHANNEL_HEADER - FRAGMENT_HEADER
}

#[cfg(test)]
mod tests {
    use super::super::packet::{Content, Packet, decode};
    use super::*;
    use crate::protocols::limits::MESSAGE_COST;

    const AFTER: Duration = Duration::from_millis(50);

    fn sequence(number: u16) -> Sequence {
        Sequence::default().plus(number)
    }

    fn flush(outgoing: &mut ReliableOutgoing, now: Time) -> Vec<Vec<u8>> {
        let mut datagrams = VecDeque::new();
        let mut merge = Merge::new(0, 1024, &mut datagrams);
        outgoing.flush(now, AFTER, &mut merge);
        merge.finish();
        datagrams.into()
    }

    fn bits(places: &[usize]) -> [u8; BITS] {
        let mut bits = [0; BITS];
        places.iter().for_each(|place| bits[place / 8] |= 1 << (place % 8));
        bits
    }

    #[test]
    fn short_messages_are_merged_and_long_ones_cut() {
        let mut outgoing = ReliableOutgoing::new(2, 1024);
        assert!(!outgoing.push("ab".into(), 0));
        assert!(!outgoing.push("c".into(), 0));
        assert!(outgoing.push(Bytes::from(vec![1; 2100]), 5));
        assert!(!outgoing.push("".into(), 0));
        let sent = flush(&mut outgoing, Time::ZERO);
        assert!(sent.iter().all(|datagram| datagram.len() <= 1024));
        assert_eq!(outgoing.window.len(), 5);
        assert_eq!(outgoing.bytes(), 2103 + 6 * MESSAGE_COST);
        let first = &outgoing.window[0].as_ref().expect("in flight").packet;
        let Some(Packet::Channeled { content: Content::Messages(messages), .. }) = decode(first).map(|it| it.packet)
        else {
            panic!("not merged")
        };
        assert_eq!(messages, [2, 0, b'a', b'b', 1, 0, b'c']);
        assert!(outgoing.on_acknowledged(sequence(0), &bits(&[0, 1, 2, 3, 4])));
        assert_eq!((outgoing.bytes(), outgoing.window.len()), (0, 0));
    }

    #[test]
    fn the_window_moves_with_its_first_packet() {
        let mut outgoing = ReliableOutgoing::new(2, 1024);
        (0..70).for_each(|_| assert!(!outgoing.push(Bytes::from(vec![1; 1000]), 0)));
        assert_eq!(flush(&mut outgoing, Time::ZERO).len(), WINDOW);
        assert!(outgoing.on_acknowledged(sequence(0), &bits(&[1, 2])));
        assert_eq!(flush(&mut outgoing, Time::ZERO).len(), 0);
        assert!(outgoing.on_acknowledged(sequence(0), &bits(&[0])));
        assert_eq!(flush(&mut outgoing, Time::ZERO).len(), 3);
        assert_eq!(outgoing.first, sequence(3));
    }

    #[test]
    fn packets_without_acknowledgement_leave_again() {
        let mut outgoing = ReliableOutgoing::new(2, 1024);
        outgoing.push(Bytes::from(vec![1; 1010]), 0);
        outgoing.push(Bytes::from(vec![2; 1010]), 0);
        assert_eq!(flush(&mut outgoing, Time::ZERO).len(), 2);
        assert!(outgoing.on_acknowledged(sequence(0), &bits(&[0])));
        assert_eq!(outgoing.resend_at(AFTER), Some(Time::ZERO + AFTER));
        let again = flush(&mut outgoing, Time::ZERO + AFTER);
        assert_eq!((again.len(), again[0][6], outgoing.retransmitted()), (1, 2, 1));
    }

    #[test]
    fn acknowledgements_of_the_future_or_of_another_size_are_invalid() {
        let mut outgoing = ReliableOutgoing::new(2, 1024);
        outgoing.push("x".into(), 0);
        flush(&mut outgoing, Time::ZERO);
        assert!(!outgoing.on_acknowledged(sequence(1), &bits(&[0])));
        assert!(!outgoing.on_acknowledged(sequence(0), &[0xFF; BITS - 1]));
        assert!(outgoing.on_acknowledged(sequence(32_768 - 64), &[0xFF; BITS]), "an old one is valid, and no news");
        assert_eq!(outgoing.bytes(), 1 + MESSAGE_COST);
    }
}
