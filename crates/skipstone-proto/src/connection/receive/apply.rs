//! The frames of a packet are applied one by one, and messages delivered.

use crate::channel::channels::MessageCursor;
use crate::channel::incoming::Arrival;
use crate::connection::event::{EntryCost, Event};
use crate::connection::inbound::Inbound;
use crate::connection::stats::DropReason;
use crate::connection::timers::INCOMPLETE_MAX;
use crate::connection::{Connection, Context};
use crate::time::{Duration, Time};
use crate::wire::frame::{Frame, Frames};
use crate::wire::limits::Limits;
use crate::wire::message::Message;
use crate::wire::settings::Settings;
use bytes::Bytes;
use core::ops::ControlFlow;

impl Connection {
    pub(in crate::connection) fn apply(&mut self, cx: &mut Context<'_>, number: u64, frames: &[u8], age: Duration) {
        let mut cursor = MessageCursor::new(age);
        // Each ACK and REPAIRED walks the packets in flight: one of each is all that a packet's sender needs.
        let (mut has_ack, mut has_repaired) = (false, false);
        let mut frames = Frames::new(frames);
        while let Some(Ok(frame)) = frames.next() {
            match frame {
                Frame::Message(message) if self.is_open() => self.on_message(cx, &mut cursor, &message, &mut frames),
                Frame::Message(_) => {}
                _ => {
                    self.channels.end_run(&mut cursor);
                    let is_repeated = match frame {
                        Frame::Ack(_) => core::mem::replace(&mut has_ack, true),
                        Frame::Repaired(_) => core::mem::replace(&mut has_repaired, true),
                        _ => false,
                    };
                    if is_repeated {
                        continue;
                    }
                    let ControlFlow::Continue(()) = self.apply_control(cx, number, frame) else { return };
                }
            }
        }
        self.channels.end_run(&mut cursor);
    }

    /// Applies a frame that is not a message.
    fn apply_control(&mut self, cx: &mut Context<'_>, number: u64, frame: Frame<'_>) -> ControlFlow<()> {
        match frame {
            Frame::Padding | Frame::Ping | Frame::Late { .. } | Frame::Extension { .. } | Frame::Message(_) => {}
            Frame::Repaired(repaired) => self.on_repaired(cx, &repaired),
            Frame::Repair(repair) if self.is_open() && !self.path.current.carrier.is_reliable => {
                self.receiving.received.on_repair(cx.now);
                self.on_repair(number, &repair);
            }
            Frame::Repair(_) => {}
            Frame::Ack(ack) => self.on_ack(cx, number, &ack),
            Frame::Connect { token, limits } => {
                if let Ok(limits) = Limits::decode(limits) {
                    self.on_connect(cx, token, limits);
                }
            }
            Frame::Accept { source, settings } => {
                if let Ok(settings) = Settings::decode(settings) {
                    self.on_accept(cx, source, &settings);
                }
            }
            Frame::Close { code, reason } => {
                self.on_close(cx, code, reason);
                return ControlFlow::Break(());
            }
            Frame::Closed => {
                self.on_closed(cx);
                return ControlFlow::Break(());
            }
            Frame::PathChallenge { token } => self.path.roaming.on_challenge(cx.now, token),
            Frame::PathResponse { token } => self.path.roaming.on_response(token),
            Frame::NewId { sequence, id } => self.identity.spare.on_given(sequence, id),
            Frame::TimeRequest { sent_us } => self.on_time_request(cx.now, sent_us),
            Frame::TimeResponse { sent_us, server_us, held_us } => {
                self.on_time_response(cx.now, sent_us, server_us, held_us);
            }
        }
        ControlFlow::Continue(())
    }

    /// Handles a message, and the messages that follow it in a run.
    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        cursor: &mut MessageCursor,
        message: &Message<'_>,
        behind: &mut Frames<'_>,
    ) {
        let inbound = self.check_inbound(cx, cursor, message);
        if inbound == Inbound::Closed {
            return;
        }
        let room = self.room_for_unreliable();
        let inbox = &mut cx.scratch.inbox;
        match self.channels.on_message(&self.terms.settings, cursor, message, room, inbox) {
            Arrival::NoRoom => self.stats.drops.count(DropReason::WindowExceeded),
            Arrival::Early | Arrival::Malformed if self.path.current.carrier.is_reliable => {
                self.channels.end_run(cursor);
                cx.scratch.inbox.messages.clear();
                return self.close_broken_stream(cx, DropReason::BadFrame);
            }
            Arrival::Taken | Arrival::Early => {}
            Arrival::Duplicate => self.stats.drops.count(DropReason::DuplicateMessage),
            Arrival::Stale => self.stats.drops.count(DropReason::StaleMessage),
            Arrival::Malformed => self.stats.drops.count(DropReason::BadFrame),
        }
        let (peer, channel, age) = (self.identity.peer, message.channel, cursor.age());
        if inbound == Inbound::Dropped {
            inbox.messages.clear();
        }
        if self.is_limited_inbound(channel) {
            self.deliver_limited(cx, cursor, channel);
            return;
        }
        for payload in inbox.messages.drain(..) {
            self.stats.received.messages += 1;
            self.stats.received.payload_bytes += payload.len() as u64;
            self.receiving.window.undelivered.add(EntryCost::of_message(payload.len()));
            cx.events.push(Event::Message { peer, channel, payload, age });
        }
        if let Some(messages) = self.channels.on_run(cursor, behind, inbox) {
            self.stats.received.messages += u64::from(messages.left);
            self.stats.received.payload_bytes += messages.payload_bytes as u64;
            self.receiving.window.undelivered.add(EntryCost::of_run(&messages));
            cx.events.push_run(peer, channel, age, messages);
        }
        self.expect_perishables(cx.now);
    }

    /// Delivers messages of a channel with an inbound rule, as far as its rate allows.
    fn deliver_limited(&mut self, cx: &mut Context<'_>, cursor: &mut MessageCursor, channel: u16) {
        let mut messages = core::mem::take(&mut cx.scratch.inbox.messages);
        for payload in messages.drain(..) {
            match self.admit_inbound(cx, cursor, channel) {
                Inbound::Allowed => self.deliver(cx, channel, payload, cursor.age()),
                Inbound::Dropped => {}
                Inbound::Closed => break,
            }
        }
        cx.scratch.inbox.messages = messages;
        self.expect_perishables(cx.now);
    }

    fn deliver(&mut self, cx: &mut Context<'_>, channel: u16, payload: Bytes, age: Duration) {
        self.stats.received.messages += 1;
        self.stats.received.payload_bytes += payload.len() as u64;
        self.receiving.window.undelivered.add(EntryCost::of_message(payload.len()));
        cx.events.push(Event::Message { peer: self.identity.peer, channel, payload, age });
    }

    fn expect_perishables(&mut self, now: Time) {
        if self.channels.has_perishables() && self.timers.expire_due == Time::NEVER {
            self.timers.expire_due = now + INCOMPLETE_MAX;
        }
    }
}
