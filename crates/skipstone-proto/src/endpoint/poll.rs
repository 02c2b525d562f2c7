//! What an endpoint gives back: datagrams, events, sockets that it lets go of, and when to ask again.

use super::config::Everyone;
use super::groups::Group;
use super::share::Turn;
use super::state::Endpoint;
use super::transmit::Transmit;
use crate::connection::Context;
use crate::connection::event::{Event, PeerId, code};
use crate::time::{Duration, Time};
use skipstone_prefetch::Step;

/// A stream that takes nothing is looked after so often, for the sake of what is due without sending.
const BLOCKED_SPAN: Duration = Duration::from_millis(20);

impl Endpoint {
    /// A stream broke, or was closed by the peer. Its connection, if there is one, ends.
    pub fn handle_carrier_lost(&mut self, now: Time, socket: u32, reason: &str) {
        let Some(peer) = self.directory.by_socket.get(&socket).and_then(|index| self.slots.peer_at(*index)) else {
            return;
        };
        let code = code::CARRIER_LOST;
        self.with(now, peer, |connection, cx| connection.handle_carrier_lost(cx, code, reason));
    }

    /// Writes datagrams that are due into `buffer`, which holds at least one of the largest; `None` if none is.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if let Some(reply) = self.replies.pop(buffer) {
            self.totals.past.sent.datagrams += 1;
            self.totals.past.sent.datagram_bytes += reply.bytes as u64;
            self.totals.past.sent.ip_bytes += reply.bytes as u64 + u64::from(reply.path.carrier.overhead_bytes);
            self.charge_share(now, &reply);
            return Some(reply);
        }
        let turn_bytes = self.turn_bytes();
        while let Some(Turn { index, held_until }) = self.next_turn(now) {
            let has_share = self.share.is_some();
            let Some(slot) = self.slots.at(index) else { continue };
            let is_blocked = slot.is_blocked;
            let Some(connection) = &mut slot.connection else { continue };
            self.totals.work.transmits += 1;
            if has_share {
                connection.hold_until(held_until);
            }
            if let Some((path, bytes)) = connection.poll_control_packet(now, buffer) {
                let transmit = Transmit { path, bytes, segment_bytes: bytes };
                self.activate(index);
                self.charge_share(now, &transmit);
                return Some(transmit);
            }
            let room = turn_bytes.max(usize::from(connection.datagram_bytes())).min(buffer.len());
            let segments = if is_blocked { None } else { connection.poll_transmit(now, &mut buffer[..room]) };
            let (path, is_held) = (*connection.path(), connection.is_held());
            let Some(segments) = segments else {
                if is_held {
                    self.wait_for_share(index);
                }
                // What is due and cannot leave must not make time stand still.
                let earliest = if is_blocked { now + BLOCKED_SPAN } else { Time::ZERO };
                self.rearm_from(index, earliest);
                continue;
            };
            if segments.is_all {
                self.rearm(index)
            } else if has_share && held_until == Time::ZERO {
                self.wait_for_share(index);
                self.rearm(index);
            } else {
                self.activate(index)
            }
            let transmit = Transmit { path, bytes: segments.bytes, segment_bytes: segments.segment_bytes };
            self.charge_share(now, &transmit);
            return Some(transmit);
        }
        None
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some((index, tick)) = self.wheel.pop_due(now) {
            self.totals.work.entries += 1;
            let Some(slot) = self.slots.at(index) else { continue };
            if !slot.on_entry(tick) {
                continue;
            }
            let Some(connection) = &mut slot.connection else { continue };
            if connection.poll_timeout() > now {
                self.rearm(index);
                continue;
            }
            self.totals.work.timeouts += 1;
            let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
            connection.handle_timeout(cx);
            self.after(index);
        }
    }

    /// When to call [`Endpoint::handle_timeout`], or [`Endpoint::poll_transmit`] again: in the past if there is work
    /// right now.
    pub fn poll_timeout(&self) -> Time {
        let is_idle = self.ready.active.is_empty() && self.replies.is_empty();
        if is_idle { self.wheel.next().min(self.share_due()) } else { Time::ZERO }
    }

    /// A hint: it is this connection's turn soon, in a round through many. Nothing depends on it but how soon its memory is in
    /// the processor's caches.
    pub fn prefetch(&self, peer: PeerId, step: Step) {
        self.slots.prefetch(peer.index, step);
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self, now: Time) -> Option<Event> {
        if let Some(run) = self.events.unfinished_run() {
            return run.next();
        }
        let mut freed = 0;
        let event = self.events.pop(&mut freed);
        match &event {
            Some(Event::Message { peer, .. }) if freed > 0 => {
                let has_news = self.slots.connection(*peer).is_some_and(|it| it.on_polled(now, freed));
                if has_news {
                    self.activate(peer.index);
                }
            }
            // It may have ended meanwhile, and its place be another's.
            Some(Event::Connected { peer, .. })
                if self.config.everyone == Everyone::ByEvent && self.slots.find(*peer).is_some() =>
            {
                self.groups.join(Group::EVERYONE, peer.index);
            }
            Some(Event::Closed { peer, .. }) if self.slots.find(*peer).is_some() => {
                self.groups.leave(Group::EVERYONE, peer.index);
            }
            _ => {}
        }
        event
    }

    /// Whether a connection may have something to send, or messages that wait for a flush.
    pub fn has_work(&self) -> bool {
        !self.ready.active.is_empty() || !self.ready.unflushed.is_empty()
    }

    /// Whether [`Endpoint::poll_event`] will change who gets a broadcast to everyone.
    pub fn is_someone_coming_or_going(&self) -> bool {
        matches!(self.events.front(), Some(Event::Connected { .. } | Event::Closed { .. }))
    }

    /// A socket whose one connection is over and which can be closed: a stream, or a client's own.
    pub fn poll_released(&mut self) -> Option<u32> {
        self.ready.released.pop_front()
    }
}
