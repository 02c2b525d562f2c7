//! Sequenced channels: only newer messages are passed on. A reliable one repeats its last message until it arrives.

use super::merge::Merge;
use super::packet::{ACKNOWLEDGE, CHANNELED, channel_header};
use super::sequence::Sequence;
use crate::protocols::limits::queue_cost;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::VecDeque;

/// Both halves of one channel.
#[derive(Debug)]
pub(super) struct Sequenced {
    channel: u8,
    last: Last,
    waiting: VecDeque<Bytes>,
    bytes: usize,
    sent: Sequence,
    repeated: Option<Repeated>,
    retransmitted: u64,
    received: Sequence,
    must_acknowledge: bool,
    lost: u64,
}

/// Whether the last message arrives surely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Reliable,
    Unreliable,
}

/// The last message, as long as it is not acknowledged.
#[derive(Debug)]
struct Repeated {
    packet: Vec<u8>,
    sent: Time,
}

impl Sequenced {
    pub(super) fn new(channel: u8, last: Last) -> Self {
        Sequenced {
            channel,
            last,
            waiting: VecDeque::new(),
            bytes: 0,
            sent: Sequence::default(),
            repeated: None,
            retransmitted: 0,
            received: Sequence::default(),
            must_acknowledge: false,
            lost: 0,
        }
    }

    pub(super) fn push(&mut self, message: Bytes) {
        self.bytes += queue_cost(&message);
        self.waiting.push_back(message);
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Messages that were left out because they or newer ones were first.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether something leaves with the next update.
    pub(super) fn is_ready(&self) -> bool {
        !self.waiting.is_empty() || self.must_acknowledge
    }

    pub(super) fn resend_at(&self, resend_after: Duration) -> Option<Time> {
        self.repeated.as_ref().map(|last| last.sent + resend_after)
    }

    pub(super) fn on_acknowledged(&mut self, sequence: Sequence) {
        if sequence == self.sent {
            self.repeated = None;
        }
    }

    /// Whether the packet is newer than all before, and so passed on.
    pub(super) fn on_packet(&mut self, sequence: Sequence) -> bool {
        self.must_acknowledge |= self.last == Last::Reliable;
        let ahead = sequence.ahead_of(self.received);
        if ahead > 0 {
            self.lost += ahead as u64 - 1;
            self.received = sequence;
        }
        ahead > 0
    }

    pub(super) fn flush(&mut self, now: Time, resend_after: Duration, merge: &mut Merge<'_>) {
        if self.waiting.is_empty() {
            self.repeat(now, resend_after, merge);
        }
        while let Some(message) = self.waiting.pop_front() {
            self.bytes -= queue_cost(&message);
            self.sent = self.sent.next();
            let packet = [channel_header(CHANNELED, self.sent, self.channel).as_slice(), &message].concat();
            merge.add(&packet);
            self.repeated = (self.last == Last::Reliable).then_some(Repeated { packet, sent: now });
        }
        if core::mem::take(&mut self.must_acknowledge) {
            merge.add(&channel_header(ACKNOWLEDGE, self.received, self.channel));
        }
    }

    fn repeat(&mut self, now: Time, resend_after: Duration, merge: &mut Merge<'_>) {
        if let Some(last) = self.repeated.as_mut().filter(|last| now >= last.sent + resend_after) {
            last.sent = now;
            self.retransmitted += 1;
            merge.add(&last.packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Duration = Duration::from_millis(50);

    fn flush(channel: &mut Sequenced, now: Time) -> usize {
        let mut datagrams = VecDeque::new();
        let mut merge = Merge::new(0, 10, &mut datagrams);
        channel.flush(now, AFTER, &mut merge);
        merge.finish();
        datagrams.len()
    }

    #[test]
    fn the_last_message_is_repeated_until_it_is_acknowledged() {
        let mut channel = Sequenced::new(3, Last::Reliable);
        channel.push("a".into());
        channel.push("b".into());
        assert_eq!((flush(&mut channel, Time::ZERO), channel.bytes()), (2, 0));
        assert_eq!(flush(&mut channel, Time::ZERO + AFTER), 1);
        channel.on_acknowledged(Sequence::default().plus(1));
        assert_eq!(flush(&mut channel, Time::ZERO + 2 * AFTER), 1);
        channel.on_acknowledged(Sequence::default().plus(2));
        assert_eq!(flush(&mut channel, Time::ZERO + 3 * AFTER), 0);
        assert_eq!((channel.retransmitted(), channel.resend_at(AFTER)), (2, None));
    }

    #[test]
    fn an_unreliable_channel_repeats_and_acknowledges_nothing() {
        let mut channel = Sequenced::new(1, Last::Unreliable);
        channel.push("a".into());
        assert!(channel.on_packet(Sequence::default().next()));
        assert_eq!(flush(&mut channel, Time::ZERO), 1);
        assert_eq!(flush(&mut channel, Time::ZERO + AFTER), 0);
    }

    #[test]
    fn older_messages_are_left_out() {
        let mut channel = Sequenced::new(1, Last::Unreliable);
        assert!(channel.on_packet(Sequence::default().plus(3)));
        assert!(!channel.on_packet(Sequence::default().plus(2)));
        assert!(!channel.on_packet(Sequence::default().plus(3)));
        assert_eq!(channel.lost(), 2);
    }
}
