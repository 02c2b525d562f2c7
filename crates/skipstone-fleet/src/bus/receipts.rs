//! Which messages the server has confirmed. NATS confirms none by itself; but it handles what a client sends in order,
//! so a message of the bus to itself (a fence) that comes back confirms all before it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Numbers of calls, of the messages among them, and of the bytes that they hold in the outbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) calls: u64,
    pub(super) messages: u64,
    pub(super) bytes: usize,
}

/// The account of what was sent.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    sent: Tally,
    confirmed: Tally,
    fences: VecDeque<Fence>,
    last_fence: u64,
}

#[derive(Debug)]
struct Fence {
    id: u64,
    sent: Tally,
    at: Instant,
}

impl Receipts {
    /// Calls are about to be sent.
    pub(super) fn on_sent(&mut self, tally: Tally) {
        self.sent.calls += tally.calls;
        self.sent.messages += tally.messages;
        self.sent.bytes += tally.bytes;
    }

    /// Whether something was sent after the last fence.
    pub(super) fn wants_fence(&self) -> bool {
        let fenced = self.fences.back().map_or(self.confirmed, |fence| fence.sent);
        self.sent != fenced
    }

    /// Fences on their way.
    pub(super) fn fences(&self) -> usize {
        self.fences.len()
    }

    /// A fence is about to be sent; its id.
    pub(super) fn on_fence_sent(&mut self, now: Instant) -> u64 {
        self.last_fence += 1;
        self.fences.push_back(Fence { id: self.last_fence, sent: self.sent, at: now });
        self.last_fence
    }

    /// A fence came back: what it confirms, and the time that it took. One of before a disconnection confirms nothing.
    pub(super) fn on_fence_returned(&mut self, id: u64, now: Instant) -> Option<(Tally, Duration)> {
        let index = self.fences.iter().position(|fence| fence.id == id)?;
        let fence = self.fences.drain(..=index).next_back()?;
        let newly = difference(fence.sent, self.confirmed);
        self.confirmed = fence.sent;
        Some((newly, now - fence.at))
    }

    /// The connection broke: what was sent and not confirmed.
    pub(super) fn on_disconnected(&mut self) -> Tally {
        let unconfirmed = difference(self.sent, self.confirmed);
        self.confirmed = self.sent;
        self.fences.clear();
        unconfirmed
    }
}

fn difference(of: Tally, less: Tally) -> Tally {
    Tally { calls: of.calls - less.calls, messages: of.messages - less.messages, bytes: of.bytes - less.bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> Tally {
        Tally { calls: 1, messages: 1, bytes }
    }

    #[test]
    fn a_fence_confirms_what_was_sent_before_it() {
        let (mut receipts, now) = (Receipts::default(), Instant::now());
        receipts.on_sent(message(10));
        receipts.on_sent(message(20));
        let fence = receipts.on_fence_sent(now);
        assert!(!receipts.wants_fence());
        receipts.on_sent(message(5));
        assert!(receipts.wants_fence());
        let later = now + Duration::from_millis(3);
        let (confirmed, took) = receipts.on_fence_returned(fence, later).unwrap();
        assert_eq!((confirmed, took), (Tally { calls: 2, messages: 2, bytes: 30 }, Duration::from_millis(3)));
        assert_eq!(receipts.on_disconnected(), message(5));
    }

    #[test]
    fn a_fence_of_before_a_disconnection_confirms_nothing() {
        let (mut receipts, now) = (Receipts::default(), Instant::now());
        receipts.on_sent(message(10));
        let fence = receipts.on_fence_sent(now);
        assert_eq!(receipts.on_disconnected(), message(10));
        receipts.on_sent(message(20));
        assert_eq!(receipts.on_fence_returned(fence, now), None);
        assert_eq!(receipts.on_disconnected(), message(20));
    }
}
