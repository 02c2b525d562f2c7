//! What a node sends to one group: messages of this tick, the last batches of a reliable group, and when to repeat its
//! last sequence number.

use super::name::GroupName;
use super::packet::{MESSAGE_HEAD_BYTES, put_message};
use super::settings::Delivery;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Publisher {
    pub(super) group: GroupName,
    /// Of this node's streams.
    pub(super) number: u32,
    pub(super) delivery: Delivery,
    pending: VecDeque<BytesMut>,
    pub(super) last: u64,
    kept: VecDeque<Kept>,
    /// When the youngest batch that is no longer kept was published.
    evicted_at: Option<Duration>,
    born_at: Duration,
    pub(super) used_at: Duration,
    pub(super) beat: Beat,
    /// When it is looked at next: never later than the beat.
    pub(super) due_at: Duration,
}

/// Where batches begin for a node that joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) first: u64,
    /// Whether it is this batch; else it is this one or an earlier one, and not kept.
    pub(super) is_known: bool,
}

#[derive(Debug)]
struct Kept {
    at: Duration,
    /// Among all batches of this node.
    order: u64,
    packet: Bytes,
}

/// When the last sequence number is repeated next.
#[derive(Debug)]
pub(super) struct Beat {
    pub(super) at: Duration,
    every: Duration,
}

impl Beat {
    pub(super) fn new(now: Duration, every: Duration) -> Beat {
        Beat { at: now + every, every }
    }

    /// One is due now and was sent: the next follows after twice the time.
    pub(super) fn back_off(&mut self, now: Duration, every_max: Duration) {
        self.every = (self.every * 2).min(every_max);
        self.at = now + self.every;
    }
}

impl Publisher {
    pub(super) fn new(group: GroupName, number: u32, delivery: Delivery, beat: Beat, now: Duration) -> Publisher {
        let (pending, kept) = (VecDeque::new(), VecDeque::new());
        let due_at = beat.at;
        Publisher {
            group,
            number,
            delivery,
            pending,
            last: 0,
            kept,
            evicted_at: None,
            born_at: now,
            used_at: now,
            beat,
            due_at,
        }
    }

    /// Adds a message to this tick's batch, or to another if that is full. Whether it is the tick's first.
    pub(super) fn add(&mut self, message: &[u8], batch_bytes_max: usize) -> bool {
        let is_first = self.pending.is_empty();
        let bytes = MESSAGE_HEAD_BYTES + message.len();
        match self.pending.back_mut() {
            Some(batch) if batch.len() + bytes <= batch_bytes_max => put_message(batch, message),
            _ => {
                let mut batch = BytesMut::new();
                put_message(&mut batch, message);
                self.pending.push_back(batch);
            }
        }
        is_first
    }

    pub(super) fn take_batch(&mut self) -> Option<Bytes> {
        self.pending.pop_front().map(BytesMut::freeze)
    }

    /// Keeps the packet of the batch `last`.
    pub(super) fn keep(&mut self, packet: Bytes, order: u64, now: Duration) {
        self.kept.push_back(Kept { at: now, order, packet });
    }

    /// Forgets the oldest batch; what it weighed.
    pub(super) fn evict(&mut self) -> usize {
        let Some(evicted) = self.kept.pop_front() else { return 0 };
        self.evicted_at = Some(evicted.at);
        weight(&evicted.packet)
    }

    /// The place of the oldest batch among all batches of this node.
    pub(super) fn oldest_order(&self) -> Option<u64> {
        self.kept.front().map(|kept| kept.order)
    }

    pub(super) fn kept_count(&self) -> usize {
        self.kept.len()
    }

    /// The sequence number of the oldest batch that is kept; one beyond the last if there is none.
    pub(super) fn oldest(&self) -> u64 {
        self.last + 1 - self.kept.len() as u64
    }

    pub(super) fn kept(&self, sequence: u64) -> Option<&Bytes> {
        let index = sequence.checked_sub(self.oldest())?;
        self.kept.get(usize::try_from(index).ok()?).map(|kept| &kept.packet)
    }

    /// Where the batches begin that were published at this moment or later.
    pub(super) fn begin_since(&self, since: Duration) -> Begin {
        match self.evicted_at {
            Some(at) if at >= since && self.born_at >= since => Begin { first: 1, is_known: true },
            // At least one of them is no longer kept.
            Some(at) if at >= since => Begin { first: self.oldest() - 1, is_known: false },
            _ => {
                let earlier = self.kept.partition_point(|kept| kept.at < since) as u64;
                Begin { first: self.oldest() + earlier, is_known: true }
            }
        }
    }
}

/// What a kept batch costs.
pub(super) fn weight(packet: &Bytes) -> usize {
    packet.len() + KEPT_BYTES
}

const KEPT_BYTES: usize = 64;
