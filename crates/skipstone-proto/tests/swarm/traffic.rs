//! The messages sent on each channel, those that arrive, and the channel rule's promises about them.

use skipstone_proto::{ChannelRule, DeliveryMode, Overflow};

/// All that was sent on one channel in one direction of one connection, and all that arrived.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) rule: ChannelRule,
    key: u64,
    pub(crate) sent: Vec<Sent>,
    /// Numbers of the messages that arrived, in the order of arrival.
    pub(crate) got: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Sent {
    length: usize,
    pub(crate) fate: Option<Fate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Acknowledged,
    GivenUp,
}

impl Stream {
    pub(crate) fn new(rule: ChannelRule, key: u64) -> Self {
        Stream { rule, key, sent: Vec::new(), got: Vec::new() }
    }

    /// Whether each message is identified by its place, so that it may be too short to contain its number.
    fn is_counted(&self) -> bool {
        self.rule.mode == DeliveryMode::ReliableOrdered && self.rule.overflow != Overflow::DropOldest
    }

    /// The next message to send; it counts once [`Stream::on_sent`] was called.
    pub(crate) fn next(&self, length: usize) -> Vec<u8> {
        let length = if self.is_counted() { length } else { length.max(4) };
        content(self.key, self.sent.len() as u32, length)
    }

    pub(crate) fn on_sent(&mut self, length: usize) {
        self.sent.push(Sent { length, fate: None });
    }

    pub(crate) fn on_message(&mut self, payload: &[u8], what: &str) {
        let number = if self.is_counted() {
            self.got.len() as u32
        } else {
            u32::from_le_bytes(payload[..4].try_into().expect("4 bytes"))
        };
        let sent = self.sent.get(number as usize);
        let sent = sent.unwrap_or_else(|| panic!("{what}: message {number} arrived and was never sent"));
        assert!(content(self.key, number, sent.length) == payload, "{what}: message {number} was changed");
        self.got.push(number);
    }

    /// The fate of a message that was sent here.
    pub(crate) fn on_fate(&mut self, number: usize, fate: Fate, what: &str) {
        let is_due = fate == Fate::GivenUp && self.rule.mode.is_reliable();
        assert!(self.rule.receipts || is_due, "{what}: a receipt that nobody asked for");
        let before = self.sent[number].fate.replace(fate);
        assert_eq!(before, None, "{what}: message {number} has a second fate: {fate:?}");
    }

    /// Checks what holds at any time.
    pub(crate) fn check(&self, what: &str) {
        let is_rising = self.got.is_sorted_by(|a, b| a < b);
        match self.rule.mode {
            DeliveryMode::ReliableOrdered | DeliveryMode::UnreliableSequenced | DeliveryMode::ReliableSequenced => {
                assert!(is_rising, "{what}: not in order: {:?}", self.got);
            }
            DeliveryMode::Unreliable | DeliveryMode::ReliableUnordered => {
                let mut sorted = self.got.clone();
                sorted.sort_unstable();
                assert!(sorted.is_sorted_by(|a, b| a < b), "{what}: twice: {sorted:?}");
            }
        }
        if self.rule.mode == DeliveryMode::ReliableUnordered {
            self.check_acknowledged(what);
        }
    }

    /// Checks what holds once every sender has nothing left to send, if the connection is still established.
    pub(crate) fn check_complete(&self, what: &str) {
        if !self.rule.mode.is_reliable() || self.sent.is_empty() {
            return;
        }
        let newest = self.sent.len() as u32 - 1;
        if self.rule.mode == DeliveryMode::ReliableSequenced {
            // A message that arrives after a newer one is acknowledged, and not delivered to the application.
            assert_eq!(self.got.last(), Some(&newest), "{what}: the newest did not arrive");
            return;
        }
        if self.rule.overflow != Overflow::DropOldest {
            assert_eq!(self.got.len(), self.sent.len(), "{what}: not all arrived, {:?}", self.missing());
        }
        assert!(self.got.contains(&newest), "{what}: the newest did not arrive");
        self.check_acknowledged(what);
        for number in self.missing() {
            let fate = self.sent[number as usize].fate;
            assert_eq!(fate, Some(Fate::GivenUp), "{what}: {number} is missing");
        }
    }

    /// Checks what holds once every message's fate must be known.
    pub(crate) fn check_fates(&self, what: &str) {
        if self.rule.receipts {
            let open = self.sent.iter().position(|sent| sent.fate.is_none());
            assert_eq!(open, None, "{what}: a message of {} without a fate", self.sent.len());
        }
    }

    fn check_acknowledged(&self, what: &str) {
        let missing = self.missing();
        let wrong = missing.iter().find(|number| self.sent[**number as usize].fate == Some(Fate::Acknowledged));
        assert_eq!(wrong, None, "{what}: it was acknowledged and did not arrive");
    }

    fn missing(&self) -> Vec<u32> {
        let mut got = vec![false; self.sent.len()];
        self.got.iter().for_each(|number| got[*number as usize] = true);
        (0..self.sent.len() as u32).filter(|number| !got[*number as usize]).collect()
    }
}

/// Message `number` of a stream: the number, as far as it fits, then bytes that depend on all three.
pub(crate) fn content(key: u64, number: u32, length: usize) -> Vec<u8> {
    let mixed = (key ^ u64::from(number) << 20 ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    let byte = |at: usize| mixed[at % 8] ^ (at as u8) ^ ((at >> 8) as u8).wrapping_mul(31);
    let head = number.to_le_bytes();
    (0..length).map(|at| if at < 4 { head[at] } else { byte(at) }).collect()
}
