//! The load of one channel's queue to one peer, shared by both threads, so that a channel whose rule is to refuse can
//! do so at the call.
//!
//! The application counts the messages that it has handed to the driver. The driver publishes how many of them it has
//! taken, and how many wait in the channel's queue or are in flight. The sum of the messages on their way to the driver
//! and of those in the queue is never too small: the driver publishes the queue before the messages taken, and the
//! application reads in the other order.

use skipstone_proto::ChannelRule;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The queue of one channel to one peer.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Handed to the driver since the beginning; written by the application.
    handed: Load,
    /// Taken by the driver since the beginning; written by the driver.
    taken: Load,
    /// In the channel's queue or in flight; written by the driver.
    queued: Load,
    /// Whether the driver watches this channel and publishes its queue.
    is_watched: AtomicBool,
}

/// A number of messages and their bytes.
#[derive(Debug, Default)]
struct Load {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Load {
    fn add(&self, messages: u64, bytes: u64) {
        // Only one thread writes.
        self.store(self.messages.load(Ordering::Relaxed) + messages, self.bytes.load(Ordering::Relaxed) + bytes);
    }

    fn store(&self, messages: u64, bytes: u64) {
        self.messages.store(messages, Ordering::Release);
        self.bytes.store(bytes, Ordering::Release);
    }

    fn load(&self) -> (u64, u64) {
        (self.messages.load(Ordering::Acquire), self.bytes.load(Ordering::Acquire))
    }
}

impl Gate {
    /// Whether the channel's queue will have room for another message of this length.
    pub(crate) fn admits(&self, rule: &ChannelRule, bytes: usize) -> bool {
        let (taken_messages, taken_bytes) = self.taken.load();
        let (queued_messages, queued_bytes) = self.queued.load();
        let (handed_messages, handed_bytes) = self.handed.load();
        handed_messages - taken_messages + queued_messages < u64::from(rule.queue_messages_max)
            && handed_bytes - taken_bytes + queued_bytes + bytes as u64 <= u64::from(rule.queue_bytes_max)
    }

    /// The application hands a message of this length to the driver.
    pub(crate) fn on_handed(&self, bytes: usize) {
        self.handed.add(1, bytes as u64);
    }

    /// The driver took a message of this length, and `queued` is the channel's load now. True if the channel is not
    /// watched yet.
    pub(crate) fn on_taken(&self, bytes: usize, queued: (u64, u64)) -> bool {
        self.queued.store(queued.0, queued.1);
        self.taken.add(1, bytes as u64);
        !self.is_watched.swap(true, Ordering::Relaxed)
    }

    /// The driver publishes the channel's load. False if the load is zero, and the channel need not be watched any
    /// more.
    pub(crate) fn publish(&self, queued: (u64, u64)) -> bool {
        self.queued.store(queued.0, queued.1);
        let is_watched = queued.0 > 0;
        self.is_watched.store(is_watched, Ordering::Relaxed);
        is_watched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::DeliveryMode;

    fn rule() -> ChannelRule {
        ChannelRule {
            queue_messages_max: 3,
            queue_bytes_max: 100,
            ..ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered)
        }
    }

    #[test]
    fn messages_on_their_way_to_the_driver_count() {
        let gate = Gate::default();
        for _ in 0..3 {
            assert!(gate.admits(&rule(), 10));
            gate.on_handed(10);
        }
        assert!(!gate.admits(&rule(), 10), "three messages are the bound");
    }

    #[test]
    fn unacknowledged_messages_count_until_acknowledged() {
        let gate = Gate::default();
        gate.on_handed(60);
        assert!(gate.on_taken(60, (1, 60)), "the driver is to watch it");
        assert!(gate.admits(&rule(), 40) && !gate.admits(&rule(), 41));
        gate.on_handed(10);
        assert!(!gate.on_taken(10, (2, 70)), "the driver watches it already");
        assert!(gate.publish((1, 10)));
        assert!(gate.admits(&rule(), 90) && !gate.admits(&rule(), 91));
        assert!(!gate.publish((0, 0)), "nothing waits any more");
        assert!(gate.admits(&rule(), 100));
    }
}
