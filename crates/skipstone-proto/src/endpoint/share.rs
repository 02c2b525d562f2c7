//! The bandwidth limit of all connections together: one token bucket; connections with messages get their turns
//! round-robin. Acknowledgements and control packets never wait for a turn, but later messages pay for them.

use crate::congestion::Bandwidth;
use crate::time::Time;
use std::collections::VecDeque;

/// The bucket, and the connections that wait for it.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) bucket: Bandwidth,
    /// Connections that wait for a turn, each listed once: see the slot's `is_waiting`.
    pub(super) waiting: VecDeque<u32>,
    /// Bytes of one turn at most.
    pub(super) turn_bytes: usize,
}

/// A connection's turn to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) index: u32,
    /// Until this time, the connection may send acknowledgements and control packets only.
    pub(super) held_until: Time,
}

/// Bytes for which the bucket must have room, before a turn begins.
const TURN_BYTES_LEAST: u64 = 1_500;
/// A turn is this part of a second's bytes, within limits: two datagrams, and the most that one system call sends.
const TURN_PART: u64 = 1_000;
const TURN_BYTES_MIN: u64 = 4_096;
const TURN_BYTES_MAX: u64 = 1 << 16;

impl Share {
    pub(super) fn new(bytes_per_second: u64) -> Self {
        let turn_bytes = (bytes_per_second / TURN_PART).clamp(TURN_BYTES_MIN, TURN_BYTES_MAX) as usize;
        Share { bucket: Bandwidth::new(bytes_per_second), waiting: VecDeque::new(), turn_bytes }
    }

    /// When the first connection that waits gets its turn.
    pub(super) fn due(&self) -> Time {
        if self.waiting.is_empty() { Time::NEVER } else { self.opens_at(Time::ZERO) }
    }

    pub(super) fn opens_at(&self, now: Time) -> Time {
        self.bucket.next_send(now, TURN_BYTES_LEAST)
    }
}
