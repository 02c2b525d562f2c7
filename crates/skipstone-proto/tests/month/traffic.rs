//! Messages of one direction, numbered on each channel, and the promises of each channel's mode about those that
//! arrive.

use bytes::Bytes;
use skipstone_proto::{ChannelRule, DeliveryMode, Event, GivenUp};
use std::collections::BTreeSet;

/// The mode of each channel, by its number.
pub(crate) const MODES: [DeliveryMode; 5] = [
    DeliveryMode::ReliableOrdered,
    DeliveryMode::ReliableUnordered,
    DeliveryMode::ReliableSequenced,
    DeliveryMode::UnreliableSequenced,
    DeliveryMode::Unreliable,
];

/// A rule for each channel, with receipts where delivery is promised.
pub(crate) fn rules() -> Vec<ChannelRule> {
    let rule = |(at, mode): (usize, &DeliveryMode)| {
        let channel = at as u16;
        ChannelRule { receipts: at < 2, ..ChannelRule::new(channel..=channel, *mode) }
    };
    MODES.iter().enumerate().map(rule).collect()
}

/// The messages sent in one direction, and those that arrived.
#[derive(Debug, Default)]
pub(crate) struct Direction {
    channels: [Numbers; MODES.len()],
    /// Receipts of reliable messages.
    acknowledged: u64,
}

#[derive(Debug, Default)]
struct Numbers {
    sent: u64,
    /// All numbers below have arrived, on a reliable channel; on others, one more than the newest that arrived.
    next: u64,
    /// Numbers from there on that have arrived.
    beyond: BTreeSet<u64>,
    arrived: u64,
}

impl Direction {
    /// The next message of a channel: its number, followed by `more` bytes.
    pub(crate) fn next(&mut self, channel: u16, more: usize) -> Bytes {
        let numbers = &mut self.channels[usize::from(channel)];
        let mut payload = numbers.sent.to_be_bytes().to_vec();
        payload.resize(8 + more, numbers.sent as u8);
        numbers.sent += 1;
        payload.into()
    }

    /// One of these messages arrived.
    pub(crate) fn on_message(&mut self, channel: u16, payload: &[u8]) {
        let number = u64::from_be_bytes(payload[..8].try_into().expect("8 bytes"));
        assert!(payload[8..].iter().all(|byte| *byte == number as u8), "message {number} was changed");
        let numbers = &mut self.channels[usize::from(channel)];
        assert!(number < numbers.sent, "channel {channel}: message {number} was never sent");
        numbers.arrived += 1;
        match MODES[usize::from(channel)] {
            DeliveryMode::ReliableOrdered => {
                assert_eq!(number, numbers.next, "channel {channel} is in order");
                numbers.next += 1;
            }
            DeliveryMode::ReliableUnordered => {
                let is_new = number >= numbers.next && numbers.beyond.insert(number);
                assert!(is_new, "channel {channel}: message {number} arrives twice");
                while numbers.beyond.remove(&numbers.next) {
                    numbers.next += 1;
                }
            }
            DeliveryMode::ReliableSequenced | DeliveryMode::UnreliableSequenced => {
                assert!(number >= numbers.next, "channel {channel}: message {number} behind {}", numbers.next);
                numbers.next = number + 1;
            }
            // At most once, because messages much older than the newest are not remembered.
            DeliveryMode::Unreliable => {
                assert!(numbers.beyond.insert(number), "channel {channel}: message {number} arrives twice");
                while numbers.beyond.len() > 1_000 {
                    numbers.beyond.pop_first();
                }
            }
        }
    }

    /// A sender's receipt.
    pub(crate) fn on_event(&mut self, event: &Event) {
        match event {
            Event::Acknowledged { .. } => self.acknowledged += 1,
            Event::PathChanged { .. } | Event::GivenUp { why: GivenUp::Superseded, .. } => {}
            other => panic!("nothing else happens to a connection that lasts: {other:?}"),
        }
    }

    /// Checks at a time when no datagram is in flight.
    pub(crate) fn check(&self) {
        let [ordered, unordered, sequenced, ..] = &self.channels;
        for numbers in [ordered, unordered] {
            assert_eq!((numbers.next, numbers.arrived), (numbers.sent, numbers.sent), "all have arrived");
        }
        assert_eq!(sequenced.next, sequenced.sent, "the newest has arrived");
        assert_eq!(self.acknowledged, ordered.sent + unordered.sent, "each has its receipt");
    }

    pub(crate) fn sent(&self) -> u64 {
        self.channels.iter().map(|numbers| numbers.sent).sum()
    }
}
