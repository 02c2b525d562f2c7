//! What a node sends to one group: messages of this tick, and the last batches of a reliable group.

use super::packet::{MESSAGE_HEAD_BYTES, put_message};
use super::settings::Delivery;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Publisher {
    /// Of this node's streams.
    pub(super) number: u32,
    pub(super) delivery: Delivery,
    pending: VecDeque<BytesMut>,
    pub(super) last: u64,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// When the youngest batch that is no longer kept was published.
    evicted_at: Option<Duration>,
    pub(super) used_at: Duration,
    pub(super) heartbeat_at: Duration,
}

#[derive(Debug)]
struct Kept {
    at: Duration,
    packet: Bytes,
}

impl Publisher {
    pub(super) fn new(number: u32, delivery: Delivery, now: Duration) -> Publisher {
        Publisher {
            number,
            delivery,
            pending: VecDeque::new(),
            last: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
            evicted_at: None,
            used_at: now,
            heartbeat_at: now,
        }
    }

    /// Adds a message to this tick's batch, or to another if that is full.
    pub(super) fn add(&mut self, message: &[u8], batch_bytes_max: usize) {
        let bytes = MESSAGE_HEAD_BYTES + message.len();
        match self.pending.back_mut() {
            Some(batch) if batch.len() + bytes <= batch_bytes_max => put_message(batch, message),
            _ => {
                let mut batch = BytesMut::new();
                put_message(&mut batch, message);
                self.pending.push_back(batch);
            }
        }
    }

    pub(super) fn take_batch(&mut self) -> Option<Bytes> {
        self.pending.pop_front().map(BytesMut::freeze)
    }

    /// Keeps the packet of the batch `last`.
    pub(super) fn keep(&mut self, packet: Bytes, now: Duration, batches_max: usize, bytes_max: usize) {
        self.kept_bytes += packet.len();
        self.kept.push_back(Kept { at: now, packet });
        while self.kept.len() > batches_max || (self.kept_bytes > bytes_max && self.kept.len() > 1) {
            let Some(evicted) = self.kept.pop_front() else { break };
            self.kept_bytes -= evicted.packet.len();
            self.evicted_at = Some(evicted.at);
        }
    }

    /// The sequence number of the oldest batch that is kept; one beyond the last if there is none.
    pub(super) fn oldest(&self) -> u64 {
        self.last + 1 - self.kept.len() as u64
    }

    pub(super) fn kept(&self, sequence: u64) -> Option<&Bytes> {
        let index = sequence.checked_sub(self.oldest())?;
        self.kept.get(usize::try_from(index).ok()?).map(|kept| &kept.packet)
    }

    /// The first batch that was published at this moment or later. One that is no longer kept stands for all of those.
    pub(super) fn first_since(&self, since: Duration) -> u64 {
        if self.evicted_at.is_some_and(|at| at >= since) {
            return self.oldest() - 1;
        }
        self.oldest() + self.kept.partition_point(|kept| kept.at < since) as u64
    }

    pub(super) fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }
}
