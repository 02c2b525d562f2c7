//! Packets that come in: opened, checked as a whole, then applied frame by frame. WIRE.md sections 3 and 4.

use super::event::{EntryCost, Event, code};
use super::inbound::Inbound;
use super::packet_log::{LossTrigger, PacketEvent};
use super::stats::DropReason;
use super::timers::INCOMPLETE_MAX;
use super::{Connection, ConnectionState, Context};
use crate::channel::channels::MessageCursor;
use crate::channel::incoming::Arrival;
use crate::congestion::{AckSample, LossSample};
use crate::recovery::ledger::{AckedPackets, LostPackets};
use crate::recovery::{Control, Record, Resolved};
use crate::time::{Duration, Time};
use crate::wire::ack::{Ack, Repaired};
use crate::wire::cursor::Reader;
use crate::wire::datagram::HEADER_BYTES;
use crate::wire::frame::{Frame, Frames};
use crate::wire::limits::Limits;
use crate::wire::message::{Message, Sequence};
use crate::wire::settings::{DeliveryMode, Settings};
use bytes::Bytes;
use core::ops::{ControlFlow, Range};

/// Summary of all frames of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    is_ack_eliciting: bool,
    is_accept: bool,
    /// Age of the packet's messages: how late they already are.
    pub(super) age: Duration,
    /// Where the frames begin that a repair covers: behind acknowledgements.
    content_from: usize,
    has_repair: bool,
}

impl Connection {
    /// Handles a datagram for this connection, with a packet at `sealed`. Returns the packet's number, if the packet
    /// was authentic, new and valid.
    pub(crate) fn handle_packet(
        &mut self,
        cx: &mut Context<'_>,
        datagram: &mut [u8],
        sealed: Range<usize>,
    ) -> Option<u64> {
        let length = datagram.len();
        let header = sealed.start;
        match self.open(cx, &mut datagram[..sealed.end], header, length) {
            Ok(number) => {
                self.stats.received.datagrams += 1;
                self.stats.received.datagram_bytes += length as u64;
                self.stats.received.ip_bytes += length as u64 + u64::from(self.path.current.carrier.overhead_bytes);
                Some(number)
            }
            Err(reason) => {
                self.log(cx.now, || PacketEvent::Dropped { bytes: length, reason });
                self.stats.drops.count(reason);
                if header > HEADER_BYTES {
                    if reason == DropReason::Replay {
                        self.on_request_again(cx.now);
                    }
                } else {
                    self.close_broken_stream(cx, reason);
                }
                None
            }
        }
    }

    fn open(
        &mut self,
        cx: &mut Context<'_>,
        datagram: &mut [u8],
        header: usize,
        length: usize,
    ) -> Result<u64, DropReason> {
        if matches!(self.state, ConnectionState::Hello | ConnectionState::Dead) {
            return Err(DropReason::BadFrame);
        }
        if !self.security.is_established() {
            return Err(DropReason::TooEarly);
        }
        let reference = self.receiving.received.next();
        let Some(plaintext) = self.security.open(datagram, header, reference) else {
            return Err(if self.security.was_replay() { DropReason::Replay } else { DropReason::NotAuthentic });
        };
        let mut reader = Reader::new(&datagram[plaintext]);
        let number = reader.truncated().map_err(|_| DropReason::BadFrame)?.resolve(reference);
        if !self.receiving.received.is_new(number) {
            self.receiving.received.on_late(cx.now, number);
            return Err(DropReason::Replay);
        }
        let frames = reader.rest();
        let summary = self.check(number, frames)?;
        self.log_received(cx.now, number, length, frames);
        if cx.now.since(self.timers.last_received) >= REST_AFTER {
            self.channels.shrink();
            self.sending.ledger.shrink();
        }
        self.timers.last_received = cx.now;
        self.timers.gone_due = Time::NEVER;
        // This side takes no messages any more, so it must not acknowledge any.
        if !matches!(self.state, ConnectionState::Closing | ConnectionState::Drained) {
            let is_quiet = !self.path.current.carrier.is_reliable && self.is_quiet(cx.now);
            let delay = self.ack_delay(is_quiet);
            if is_quiet {
                // The sender does not rely on earlier packets either when it begins with repairs again.
                self.redundancy.forget_kept();
            }
            self.receiving.received.on_packet(cx.now, number, summary.is_ack_eliciting, delay);
        }
        self.apply(cx, number, frames, summary.age);
        if !self.path.current.carrier.is_reliable {
            if !summary.has_repair && summary.content_from < frames.len() {
                self.keep_for_repairs(number, &frames[summary.content_from..]);
            }
            self.take_recovered(cx);
        }
        // Only now: messages in the same packet were acknowledged with it and must be delivered.
        self.end_lingering_if_done(cx);
        if self.sending.ledger.is_ignored() {
            self.close(cx, code::PROTOCOL, "the peer acknowledges nothing".into(), Duration::ZERO);
        }
        Ok(number)
    }

    /// On a reliable carrier nothing waits for an acknowledgement but windows and receipts.
    fn ack_delay(&self, is_quiet: bool) -> Duration {
        let carrier = &self.path.current.carrier;
        match carrier.is_reliable {
            true if self.receiving.received.unacked() >= self.terms.unacked_max(carrier) => Duration::ZERO,
            true => RELIABLE_ACK_DELAY,
            false if is_quiet => self.terms.settings.greatest_ack_delay(),
            false => self.terms.settings.ack_delay,
        }
    }

    /// Whether no loss is known in either direction, and the peer expects none.
    fn is_quiet(&self, now: Time) -> bool {
        self.redundancy.is_adaptive()
            && !self.sending.ledger.has_lost_lately(now)
            && self.receiving.received.is_quiet(now)
    }

    /// Looks at every frame before the first is applied: a packet counts whole or not at all.
    pub(super) fn check(&self, number: u64, bytes: &[u8]) -> Result<Summary, DropReason> {
        let mut summary = Summary { is_ack_eliciting: bytes.is_empty(), ..Summary::default() };
        let mut frames = Frames::new(bytes);
        let mut is_behind_acks = false;
        while let Some(frame) = frames.next() {
            let frame = frame.map_err(|_| DropReason::BadFrame)?;
            summary.is_ack_eliciting |= frame.is_ack_eliciting();
            is_behind_acks |= !matches!(frame, Frame::Ack(_) | Frame::Repaired(_));
            if !is_behind_acks {
                summary.content_from = bytes.len() - frames.remaining();
            }
            match frame {
                Frame::Ack(ack) => self.check_ack(&ack)?,
                Frame::Repaired(repaired) => self.check_repaired(&repaired)?,
                Frame::Repair(repair) => {
                    let mut covers = repair.covers(number).map_err(|_| DropReason::BadFrame)?;
                    covers.all(|range| range.is_ok()).then_some(()).ok_or(DropReason::BadFrame)?;
                    summary.has_repair = true;
                }
                Frame::Late { age_ms } => summary.age = Duration::from_millis(age_ms.min(AGE_MS_MAX)),
                Frame::Accept { settings, .. } => {
                    Settings::decode(settings).map_err(|_| DropReason::BadFrame)?;
                    summary.is_accept = true;
                }
                Frame::Connect { limits, .. } => {
                    Limits::decode(limits).map_err(|_| DropReason::BadFrame)?;
                }
                // The client has not sent CONNECT yet, so there is nothing to close.
                Frame::Close { .. } | Frame::Closed if self.is_unasked() => return Err(DropReason::BadFrame),
                // The rules of the channels come with ACCEPT; messages that overtook it are retransmitted.
                Frame::Message(_) if self.state == ConnectionState::Opening && !summary.is_accept => {
                    return Err(DropReason::TooEarly);
                }
                Frame::Message(message) if self.state != ConnectionState::Opening => {
                    self.check_message(&message)?;
                    let run = frames.run();
                    if run.payload_bytes_max > self.terms.receives.message_bytes_max as usize {
                        return Err(DropReason::BadFrame);
                    }
                    frames.skip_run(&run);
                }
                _ => {}
            }
        }
        Ok(summary)
    }

    fn check_ack(&self, ack: &Ack<'_>) -> Result<(), DropReason> {
        let largest = ack.largest.resolve(self.sending.ledger.next());
        let all_fit = ack.ranges(largest).all(|range| range.is_ok());
        (largest < self.sending.ledger.next() && all_fit).then_some(()).ok_or(DropReason::BadFrame)
    }

    fn check_repaired(&self, repaired: &Repaired<'_>) -> Result<(), DropReason> {
        let largest = repaired.largest.resolve(self.sending.ledger.next());
        let all_fit = repaired.ranges(largest).all(|range| range.is_ok());
        (largest < self.sending.ledger.next() && all_fit).then_some(()).ok_or(DropReason::BadFrame)
    }

    fn check_message(&self, message: &Message<'_>) -> Result<(), DropReason> {
        let length = message.fragment.map_or(message.payload.len(), |fragment| fragment.total as usize);
        let rule = self.terms.settings.rule(message.channel).ok_or(DropReason::BadFrame)?;
        let is_allowed = length <= self.terms.receives.message_bytes_max as usize
            && (message.sequence != Sequence::None || rule.mode == DeliveryMode::Unreliable)
            && self.state != ConnectionState::Requested;
        if !is_allowed {
            return Err(DropReason::BadFrame);
        }
        // On a stream unreliable messages are dropped one by one, and reliable ones within the window always have room.
        let is_dropped_alone = self.path.current.carrier.is_reliable && !rule.mode.is_reliable();
        let has_room = is_dropped_alone || self.receive_room() > 0;
        has_room.then_some(()).ok_or(DropReason::WindowExceeded)
    }

    /// Window cost that may still arrive before the receiver drops data: whole packets with messages, which the peer
    /// retransmits, or, on a reliable carrier, where nothing is retransmitted, unreliable messages. A peer that obeys
    /// its window can have filled twice the window; unreliable messages have no window.
    fn receive_room(&self) -> u64 {
        let taken = self.channels.held_bytes() + self.receiving.window.undelivered.window;
        (3 * u64::from(self.terms.receives.window_bytes) + 1).saturating_sub(taken)
    }

    /// The same for unreliable messages on a stream: they leave one window free for reliable messages, which a peer
    /// that obeys its window may have in flight. On other carriers, whole packets are dropped.
    fn room_for_unreliable(&self) -> u64 {
        match self.path.current.carrier.is_reliable {
            true => self.receive_room().saturating_sub(self.terms.receives.window_bytes.into()),
            false => u64::MAX,
        }
    }

    /// Closes a connection on a stream that brought an invalid packet. A stream delivers all bytes in order, so no
    /// valid peer sends a packet that must be dropped, and nobody would retransmit it.
    fn close_broken_stream(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        if self.path.current.carrier.is_reliable && self.is_open() {
            let reason = format!("a packet on a stream breaks the rules: {}", reason.name());
            self.close(cx, code::PROTOCOL, reason.into(), Duration::ZERO);
        }
    }

    /// Whether this is a server's side whose client has not sent CONNECT yet.
    pub(crate) fn is_unasked(&self) -> bool {
        self.state == ConnectionState::Requested && !self.is_requested()
    }

    pub(super) fn apply(&mut self, cx: &mut Context<'_>, number: u64, frames: &[u8], age: Duration) {
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

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, ConnectionState::Established | ConnectionState::Lingering)
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

    /// Delivers messages of a channel that an inbound rule holds, as far as its rate allows.
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

    fn on_ack(&mut self, cx: &mut Context<'_>, number: u64, ack: &Ack<'_>) {
        let largest = ack.largest.resolve(self.sending.ledger.next());
        let mut acked = AckedPackets::default();
        for range in ack.ranges(largest).flatten() {
            self.sending.ledger.on_ack(cx.now, range, &mut acked, &mut cx.scratch.resolved);
        }
        if let Some(sample) = acked.rtt_sample() {
            // The delay may be greater than the settings allow: an acknowledgement that was lost is repeated later.
            let ack_delay = Duration::from_micros(ack.delay_us);
            if self.path.current.carrier.is_reliable {
                // Every acknowledgement is delayed there, so the smallest sample contains a delay, too, and the caution
                // of RFC 9002 would never subtract it. The peer's value is only used for statistics, because nothing is
                // retransmitted on a stream.
                self.path.rtt.on_sample(sample.saturating_sub(ack_delay), Duration::ZERO);
            } else {
                let greatest = self.terms.settings.greatest_ack_delay();
                self.stats.acks_overdue += u64::from(ack_delay > greatest + ACK_DELAY_TOLERANCE);
                self.path.rtt.on_delayed_sample(sample, ack_delay, greatest);
            }
        }
        if number >= self.sending.window_from {
            self.sending.window_from = number;
            self.channels.on_window(ack.window.unwrap_or(u64::from(self.terms.sends.window_bytes)));
        }
        if let Some((sent_at, stamp)) = acked.latest {
            self.path.congestion.on_ack(&AckSample {
                now: cx.now,
                bytes: acked.bytes,
                sent_at,
                stamp,
                rtt: acked.rtt_sample().map(|_| self.path.rtt.latest()),
                smoothed: self.path.rtt.smoothed(),
                bytes_in_flight: self.sending.ledger.bytes_in_flight(),
            });
        }
        self.stats.packets_spurious += u64::from(acked.spurious);
        if acked.spurious > 0 {
            self.log(cx.now, || PacketEvent::Spurious { packets: acked.spurious });
        }
        self.note_sizes_acked(&cx.scratch.resolved);
        self.settle_arrived(cx);
        if !self.path.current.carrier.is_reliable {
            self.detect_losses(cx);
        }
        let is_paused = acked.suspected && self.has_peer_paused(cx.now);
        self.sending.ledger.on_ack_done(cx.now, &acked, &self.path.rtt, is_paused);
        self.log_metrics(cx.now);
    }

    /// Packets that were suspected lost had arrived: either their acknowledgement was lost, or the peer's machine paused.
    fn has_peer_paused(&self, now: Time) -> bool {
        let is_ack_lost = self.receiving.received.had_gap(now, self.path.rtt.probe_timeout(self.peers_delay()) * 2);
        self.is_calm(now) && !is_ack_lost
    }

    /// The content of lost packets that the peer recovered has arrived, but the packets still count as losses of the
    /// path.
    fn on_repaired(&mut self, cx: &mut Context<'_>, repaired: &Repaired<'_>) {
        let largest = repaired.largest.resolve(self.sending.ledger.next());
        let mut lost = LostPackets::default();
        for range in repaired.ranges(largest).flatten() {
            lost.add(self.sending.ledger.on_repaired(cx.now, range, &mut cx.scratch.resolved));
        }
        self.note_sizes_recovered(&cx.scratch.resolved);
        // Repairs do not recover acknowledgements: the peer has not received those in the lost packets.
        let is_ack = |resolved: &Resolved| matches!(resolved.record, Record::Control(Control::AckUpTo(_)));
        let are_acks_lost = cx.scratch.resolved.iter().any(is_ack);
        cx.scratch.resolved.retain(|resolved| !is_ack(resolved));
        if are_acks_lost && self.receiving.window.news_from.is_some() {
            self.tell_window(cx.now);
        }
        if lost.packets > 0 {
            self.log_lost(cx.now, LossTrigger::RepairedByPeer);
            self.stats.packets_lost += u64::from(lost.packets);
            self.stats.redundancy.packets_recovered_by_peer += u64::from(lost.packets);
            self.path.congestion.on_loss(cx.now, LossSample { bytes: lost.bytes, sent_at: lost.last_sent });
        }
        self.settle_arrived(cx);
    }

    /// Everything resolved has arrived at the peer.
    fn settle_arrived(&mut self, cx: &mut Context<'_>) {
        for resolved in cx.scratch.resolved.drain(..) {
            match resolved.record {
                Record::Control(Control::AckUpTo(number)) => {
                    self.receiving.received.on_ack_confirmed(resolved.packet, number);
                    self.receiving.window.news_from =
                        self.receiving.window.news_from.filter(|from| resolved.packet < *from);
                }
                Record::Control(Control::Accept) => {
                    self.timers.is_confirmed = true;
                    self.sending.pending.accept = false;
                }
                Record::Control(Control::Connect | Control::NewId(_)) => {}
                _ => self.channels.on_acked(resolved, &mut cx.scratch.receipts),
            }
        }
        self.push_receipts(cx);
    }
}

/// After such a silence, memory that is kept for reuse is freed: the connection may be idle.
const REST_AFTER: Duration = Duration::from_secs(5);
/// Greatest age of a message, in ms; a greater one counts as this.
const AGE_MS_MAX: u64 = 60_000;
/// An acknowledgement leaves so much later than agreed without being overdue: machines are busy now and then.
const ACK_DELAY_TOLERANCE: Duration = Duration::from_millis(10);
/// Longest delay of an acknowledgement on a reliable carrier: with a longer delay, queues and windows, which count
/// content that is not acknowledged, would be full of content that has long arrived.
const RELIABLE_ACK_DELAY: Duration = Duration::from_millis(100);
