//! Calls that wait for the bus, whose packets are bounded in bytes.

use super::event::GroupCall;
use bytes::Bytes;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct GroupCalls {
    queue: VecDeque<GroupCall>,
    /// Of the packets.
    bytes: usize,
    bytes_max: usize,
    /// Packets that found no room.
    dropped: u64,
}

impl GroupCalls {
    pub(super) fn new(bytes_max: usize) -> GroupCalls {
        GroupCalls { queue: VecDeque::new(), bytes: 0, bytes_max, dropped: 0 }
    }

    pub(super) fn subscribe(&mut self, subject: String) {
        self.queue.push_back(GroupCall::Subscribe { subject });
    }

    pub(super) fn unsubscribe(&mut self, subject: String) {
        self.queue.push_back(GroupCall::Unsubscribe { subject });
    }

    /// Publishes, unless the bus takes nothing and too much waits: batches of reliable groups are asked for later.
    pub(super) fn publish(&mut self, subject: String, packet: Bytes) {
        if self.bytes + packet.len() > self.bytes_max {
            self.dropped += 1;
            return;
        }
        self.bytes += packet.len();
        self.queue.push_back(GroupCall::Publish { subject, packet });
    }

    pub(super) fn poll(&mut self) -> Option<GroupCall> {
        let call = self.queue.pop_front()?;
        if let GroupCall::Publish { packet, .. } = &call {
            self.bytes -= packet.len();
        }
        Some(call)
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
