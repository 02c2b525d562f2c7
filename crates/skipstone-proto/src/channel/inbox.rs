//! Messages that may be delivered, and the memory that they share.
//!
//! Small messages are stored in blocks, one after the other, so that a message costs a copy and no allocation. When the
//! application has released all messages, the block is used from its start again, so that the next messages use memory
//! that is still in the processor's cache. A message that cannot be delivered yet has memory of its own, because the
//! time for which it is kept is unknown.

use crate::wire::message_run::{MessageRun, RunPosition};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Messages on their way to the application.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Whole messages, in the order of their delivery.
    pub messages: Vec<Bytes>,
    block: Option<BytesMut>,
    /// Blocks that are full, the oldest first.
    full: VecDeque<BytesMut>,
}

const BLOCK_BYTES: usize = 64 << 10;
/// Longer messages have memory of their own, because a message that is kept keeps its block.
const SHARED_BYTES_MAX: usize = BLOCK_BYTES / 32;
/// The same for a run, whose messages share one allocation.
const RUN_BYTES_MAX: usize = BLOCK_BYTES / 4;
/// Maximum number of full blocks that are kept for reuse; others are freed with the last of their messages.
const FULL_MAX: usize = 16;

/// Messages that arrived in a run, each of which is created on demand.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    frames: Bytes,
    next: RunPosition,
    /// The number of remaining messages.
    pub left: u32,
    /// Bytes of all payloads, including those already taken.
    pub payload_bytes: usize,
    /// Bytes of the receive window that all of them occupy.
    pub window_cost: u64,
}

impl Messages {
    /// Bytes of memory that the messages share.
    pub(crate) fn frame_bytes(&self) -> usize {
        self.frames.len()
    }
}

impl Iterator for Messages {
    type Item = Bytes;

    #[inline]
    fn next(&mut self) -> Option<Bytes> {
        let payload = self.next.take(&self.frames)?;
        self.left -= 1;
        Some(self.frames.slice(payload))
    }
}

impl Inbox {
    /// Adds a message, which is copied.
    pub(crate) fn deliver(&mut self, payload: &[u8]) {
        let message = self.copy(payload);
        self.messages.push(message);
    }

    /// A message's bytes in shared memory.
    pub(crate) fn copy(&mut self, payload: &[u8]) -> Bytes {
        if payload.len() > SHARED_BYTES_MAX {
            return Bytes::copy_from_slice(payload);
        }
        self.share(payload)
    }

    /// The messages of a run. Their frames are copied unchanged.
    pub(crate) fn copy_run(&mut self, run: &MessageRun<'_>) -> Messages {
        let is_long = run.bytes.len() > RUN_BYTES_MAX;
        let frames = if is_long { Bytes::copy_from_slice(run.bytes) } else { self.share(run.bytes) };
        let MessageRun { count, payload_bytes, window_cost, first, .. } = *run;
        Messages { frames, next: first, left: count, payload_bytes, window_cost }
    }

    fn share(&mut self, payload: &[u8]) -> Bytes {
        let is_free = self.block.as_mut().is_some_and(|block| block.try_reclaim(BLOCK_BYTES));
        let has_room = is_free || self.block.as_ref().is_some_and(|block| block.capacity() >= payload.len());
        if !has_room {
            self.begin_block();
        }
        let block = self.block.get_or_insert_default();
        block.extend_from_slice(payload);
        block.split().freeze()
    }

    fn begin_block(&mut self) {
        self.full.extend(self.block.take());
        // The oldest is the most likely to be free; if it is kept, another is tried next time.
        let mut oldest = self.full.pop_front();
        if oldest.as_mut().is_none_or(|block| !block.try_reclaim(BLOCK_BYTES)) {
            self.full.extend(oldest.filter(|_| self.full.len() < FULL_MAX));
            oldest = Some(BytesMut::with_capacity(BLOCK_BYTES));
        }
        self.block = oldest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_share_reused_blocks() {
        let mut inbox = Inbox::default();
        let mut addresses = std::collections::BTreeSet::new();
        for round in 0..10_000_u32 {
            inbox.deliver(&[round as u8; 1_000]);
            let message = inbox.messages.pop().expect("it was just delivered");
            assert_eq!(message[..], [round as u8; 1_000]);
            addresses.insert(message.as_ptr() as usize / BLOCK_BYTES);
        }
        assert!(addresses.len() <= 4, "{addresses:?}");
    }

    #[test]
    fn kept_messages_stay_unchanged_and_hold_few_blocks() {
        let mut inbox = Inbox::default();
        let mut kept = Vec::new();
        for round in 0..5_000_u32 {
            inbox.deliver(&[round as u8; 900]);
            let message = inbox.messages.pop().expect("it was just delivered");
            if round % 50 == 0 {
                kept.push((round as u8, message));
            }
        }
        assert!(kept.iter().all(|(byte, message)| message.iter().all(|found| found == byte)));
        assert!(inbox.full.len() <= FULL_MAX);
    }

    #[test]
    fn consecutive_messages_are_adjacent_in_memory() {
        let mut inbox = Inbox::default();
        (0..10).for_each(|at| inbox.deliver(&[at; 100]));
        let places: Vec<usize> = std::iter::from_fn(|| inbox.messages.pop()).map(|it| it.as_ptr() as usize).collect();
        // The last comes first.
        assert!(places.windows(2).all(|pair| pair[0] == pair[1] + 100), "{places:?}");
    }

    #[test]
    fn long_and_empty_messages_are_delivered_too() {
        let mut inbox = Inbox::default();
        for length in [0, 1, SHARED_BYTES_MAX, SHARED_BYTES_MAX + 1, BLOCK_BYTES * 2] {
            inbox.deliver(&vec![7; length]);
            assert_eq!(inbox.messages.pop().map(|message| message.len()), Some(length));
        }
    }
}
