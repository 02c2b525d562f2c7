//! The order in which connections send: connections with work one after the other, or by the bandwidth limit of the
//! endpoint.

use super::share::Turn;
use super::state::Endpoint;
use super::transmit::{Rest, Transmit};
use crate::time::{Duration, Time};

/// Time that a connection is held back while others wait for a turn before it.
const BEHIND_OTHERS: Duration = Duration::from_millis(1);

impl Endpoint {
    /// Like [`Endpoint::poll_transmit`], if all connections share a cap.
    pub(super) fn poll_transmit_shared(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        let turn_bytes = self.share.as_ref().map_or(usize::MAX, |share| share.turn_bytes);
        while let Some(Turn { index, held_until }) = self.next_turn(now) {
            if let Some(connection) = self.slots.connection_at(index) {
                connection.hold_until(held_until);
            }
            let Some((transmit, rest)) = self.take_turn(now, index, buffer, turn_bytes) else {
                if self.slots.connection_at(index).is_some_and(|connection| connection.is_held()) {
                    self.wait_for_share(index);
                }
                continue;
            };
            match rest {
                Rest::Nothing => self.rearm(index),
                Rest::Messages if held_until == Time::ZERO => {
                    self.wait_for_share(index);
                    self.rearm(index);
                }
                Rest::Messages | Rest::Any => self.activate(index),
            }
            self.charge_share(now, &transmit);
            return Some(transmit);
        }
        None
    }

    /// The connection that sends next: one to which something happened, or else one that waits for its share.
    fn next_turn(&mut self, now: Time) -> Option<Turn> {
        if let Some(index) = self.ready.active.pop_front() {
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

    /// The connection has more to send: it waits for another turn, after the others.
    fn wait_for_share(&mut self, index: u32) {
        let (Some(share), Some(slot)) = (&mut self.share, self.slots.at(index)) else { return };
        if !core::mem::replace(&mut slot.is_waiting, true) {
            share.waiting.push_back(index);
        }
    }

    /// Takes the bytes of these datagrams out of the token bucket.
    pub(super) fn charge_share(&mut self, now: Time, transmit: &Transmit) {
        let Some(share) = &mut self.share else { return };
        let datagrams = transmit.bytes.div_ceil(transmit.segment_bytes.max(1)) as u64;
        let headers = datagrams * u64::from(transmit.path.carrier.overhead_bytes);
        share.bucket.on_sent(now, transmit.bytes as u64 + headers);
    }
}
