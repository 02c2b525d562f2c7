//! Output of an endpoint: datagrams, events, sockets that it releases, and the time of the next call.

use super::config::Everyone;
use super::groups::Group;
use super::state::Endpoint;
use super::transmit::{Rest, Transmit};
use crate::connection::Context;
use crate::connection::event::{EntryCost, Event, PeerId};
use crate::time::{Duration, Time};
use skipstone_prefetch::Step;

/// Interval at which a connection is polled while its stream accepts no bytes, or its address has no credit, because of
/// timers that need no sending.
const BLOCKED_SPAN: Duration = Duration::from_millis(20);

impl Endpoint {
    /// Writes datagrams that are due into `buffer`, which holds at least one of the largest; `None` if none is.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if !self.replies.is_empty()
            && let Some(transmit) = self.poll_beside_replies(now, buffer)
        {
            return Some(transmit);
        }
        self.poll_connections(now, buffer)
    }

    /// Stateless answers and packets of connections take turns.
    #[cold]
    fn poll_beside_replies(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if self.replies.is_connections_turn()
            && let Some(transmit) = self.poll_connections(now, buffer)
        {
            return Some(transmit);
        }
        let reply = self.replies.pop(buffer)?;
        self.count_reply(now, &reply);
        Some(reply)
    }

    #[inline]
    fn poll_connections(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if self.share.is_some() {
            return self.poll_transmit_shared(now, buffer);
        }
        while let Some(index) = self.ready.active.pop_front() {
            if let Some((transmit, rest)) = self.take_turn(now, index, buffer, usize::MAX) {
                if rest == Rest::Nothing {
                    self.rearm(index)
                } else {
                    self.activate(index)
                }
                return Some(transmit);
            }
        }
        None
    }

    /// Lets a connection write, its messages into at most `bytes_max` bytes; `None` if nothing was due, and then its
    /// timer is set.
    #[inline]
    pub(super) fn take_turn(
        &mut self,
        now: Time,
        index: u32,
        buffer: &mut [u8],
        bytes_max: usize,
    ) -> Option<(Transmit, Rest)> {
        let slot = self.slots.at(index)?;
        slot.is_active = false;
        let is_blocked = slot.is_blocked;
        let connection = slot.connection.as_mut()?;
        self.totals.work.transmits += 1;
        if let Some((path, bytes)) = connection.poll_control_packet(now, buffer) {
            return Some((Transmit { path, bytes, segment_bytes: bytes }, Rest::Any));
        }
        let room = bytes_max.max(connection.datagram_bytes().into()).min(buffer.len());
        let segments = if is_blocked { None } else { connection.poll_transmit(now, &mut buffer[..room]) };
        let is_waiting = is_blocked || connection.waits_for_credit();
        let Some(segments) = segments else {
            // Data that is due but cannot leave must not keep the timer at the present time.
            let earliest = if is_waiting { now + BLOCKED_SPAN } else { Time::ZERO };
            self.rearm_from(index, earliest);
            return None;
        };
        let rest = if segments.is_all { Rest::Nothing } else { Rest::Messages };
        let transmit = Transmit { path: segments.path, bytes: segments.bytes, segment_bytes: segments.segment_bytes };
        Some((transmit, rest))
    }

    #[cold]
    fn count_reply(&mut self, now: Time, reply: &Transmit) {
        self.totals.past.sent.datagrams += 1;
        self.totals.past.sent.datagram_bytes += reply.bytes as u64;
        self.totals.past.sent.ip_bytes += reply.bytes as u64 + u64::from(reply.path.carrier.overhead_bytes);
        self.charge_share(now, reply);
    }

    /// Handles all work that is due by now.
    pub fn handle_timeout(&mut self, now: Time) {
        self.handle_costly(now);
        while let Some(index) = self.wheel.pop_due(now) {
            self.totals.work.entries += 1;
            let Some(connection) = self.slots.connection_at(index) else { continue };
            if connection.poll_timeout() > now {
                self.rearm(index);
                continue;
            }
            self.totals.work.timeouts += 1;
            let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
            connection.handle_timeout(cx);
            if connection.begins_anew() {
                self.begin_anew(now, index);
            }
            self.after(index);
        }
    }

    /// When to call [`Endpoint::handle_timeout`], or [`Endpoint::poll_transmit`] again: in the past if there is work
    /// right now.
    pub fn poll_timeout(&self) -> Time {
        if !self.ready.active.is_empty() || !self.replies.is_empty() || !self.costly.is_empty() {
            return Time::ZERO;
        }
        let due = self.wheel.next();
        self.share.as_ref().map_or(due, |share| due.min(share.due()))
    }

    /// A hint: in a round through many connections, this one's turn is soon. The hint only prefetches its memory into
    /// the processor's caches.
    pub fn prefetch(&self, peer: PeerId, step: Step) {
        self.slots.prefetch(peer.index, step);
    }

    /// The next event.
    pub fn poll_event(&mut self, now: Time) -> Option<Event> {
        if let Some(run) = self.events.unfinished_run() {
            return run.next();
        }
        let mut freed = EntryCost::default();
        let event = self.events.pop(&mut freed);
        match &event {
            Some(Event::Message { peer, .. }) if freed.window > 0 => {
                let has_news = self.slots.connection(*peer).is_some_and(|it| it.on_polled(now, freed));
                if has_news {
                    self.activate(peer.index);
                }
                self.on_taken(peer.index);
            }
            // The connection may have ended meanwhile, and another one may use its place.
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

    /// Whether [`Endpoint::poll_event`] will change the receivers of a broadcast to everyone.
    pub fn is_someone_coming_or_going(&self) -> bool {
        matches!(self.events.front(), Some(Event::Connected { .. } | Event::Closed { .. }))
    }

    /// A socket whose only connection has ended and which can be closed: a stream, or a client's own.
    pub fn poll_released(&mut self) -> Option<u32> {
        self.ready.released.pop_front()
    }
}
