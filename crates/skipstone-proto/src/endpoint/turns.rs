//! Whose turn it is to send: connections to which something happened, one after the other, or by the cap on all of them.

use super::share::Turn;
use super::state::Endpoint;
use super::transmit::Transmit;
use crate::time::{Duration, Time};

/// Others are first: there is a turn for this connection in the queue.
const BEHIND_OTHERS: Duration = Duration::from_millis(1);

impl Endpoint {
    /// The connection that is next: one to which something happened, or else one that waits for its share.
    #[inline]
    pub(super) fn next_turn(&mut self, now: Time) -> Option<Turn> {
        if self.share.is_some() {
            return self.next_shared_turn(now);
        }
        let index = self.ready.active.pop_front()?;
        if let Some(slot) = self.slots.at(index) {
            slot.is_active = false;
        }
        Some(Turn { index, held_until: Time::ZERO })
    }

    fn next_shared_turn(&mut self, now: Time) -> Option<Turn> {
        if let Some(index) = self.ready.active.pop_front() {
            if let Some(slot) = self.slots.at(index) {
                slot.is_active = false;
            }
            let held_until = self.share.as_ref().map_or(Time::ZERO, |share| match share.opens_at(now) {
                opens_at if opens_at > now => opens_at,
                _ if share.waiting.is_empty() => Time::ZERO,
                _ => now + BEHIND_OTHERS,
            });
            return Some(Turn { index, held_until });
        }
        let share = self.share.as_mut().filter(|share| share.opens_at(now) <= now)?;
        let index = share.waiting.pop_front()?;
        if let Some(slot) = self.slots.at(index) {
            slot.is_waiting = false;
        }
        Some(Turn { index, held_until: Time::ZERO })
    }

    /// Bytes that one connection may write in its turn.
    #[inline]
    pub(super) fn turn_bytes(&self) -> usize {
        self.share.as_ref().map_or(usize::MAX, |share| share.turn_bytes)
    }

    /// The connection has more to send: it waits for another turn, behind the others.
    pub(super) fn wait_for_share(&mut self, index: u32) {
        let (Some(share), Some(slot)) = (&mut self.share, self.slots.at(index)) else { return };
        if !core::mem::replace(&mut slot.is_waiting, true) {
            share.waiting.push_back(index);
        }
    }

    /// Everything that leaves takes its part of the bucket.
    #[inline]
    pub(super) fn charge_share(&mut self, now: Time, transmit: &Transmit) {
        if self.share.is_some() {
            self.charge(now, transmit);
        }
    }

    fn charge(&mut self, now: Time, transmit: &Transmit) {
        let Some(share) = &mut self.share else { return };
        let datagrams = transmit.bytes.div_ceil(transmit.segment_bytes.max(1)) as u64;
        let headers = datagrams * u64::from(transmit.path.carrier.overhead_bytes);
        share.bucket.on_sent(now, transmit.bytes as u64 + headers);
    }

    /// When a connection that waits for its share gets it.
    #[inline]
    pub(super) fn share_due(&self) -> Time {
        self.share.as_ref().map_or(Time::NEVER, |share| share.due())
    }
}
