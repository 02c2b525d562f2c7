//! Packets that come in: opened, checked as a whole, then applied frame by frame. WIRE.md sections 3 and 4.

use super::event::{Event, code};
use super::redundancy::Further;
use super::stats::Drop;
use super::timer::QUIET_ACK_DELAY;
use super::timer::UNFINISHED_MAX;
use super::{Connection, Context, State};
use crate::channel::incoming::Arrival;
use crate::channel::lanes::{Cursor, Lanes};
use crate::channel::outgoing::Receipt;
use crate::channel::window_cost;
use crate::congestion::{AckSample, LossSample};
use crate::recovery::ledger::{Acked, Lost};
use crate::recovery::{Control, Record, Resolved};
use crate::time::{Duration, Time};
use crate::wire::ack::{Ack, Repaired};
use crate::wire::cursor::Reader;
use crate::wire::datagram::OPEN_HEADER_BYTES;
use crate::wire::frame::{Frame, Frames};
use crate::wire::message::{Message, Sequence};
use crate::wire::settings::{Mode, Settings};
use core::ops::{ControlFlow, Range};

/// What the frames of a packet, taken together, ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    is_ack_eliciting: bool,
    is_accept: bool,
    /// Its messages should have come so much earlier.
    pub(super) age: Duration,
    /// Where the frames begin that a repair covers: behind acknowledgements.
    content_from: usize,
    has_repair: bool,
}

impl Connection {
    /// Takes a datagram that came for this connection, with a packet at `sealed`. Its number, if it was authentic, new and
    /// made sense.
    pub(crate) fn handle_packet(
        &mut self,
        cx: &mut Context<'_>,
        datagram: &mut [u8],
        sealed: Range<usize>,
    ) -> Option<u64> {
        let length = datagram.len();
        let header = sealed.start;
        match self.open(cx, &mut datagram[..sealed.end], header) {
            Ok(number) => {
                self.stats.received.datagrams += 1;
                self.stats.received.datagram_bytes += length as u64;
                self.stats.received.ip_bytes += length as u64 + u64::from(self.path.carrier.overhead_bytes);
                Some(number)
            }
            Err(reason) => {
                self.stats.drops.count(reason);
                if reason == Drop::Replay && header == OPEN_HEADER_BYTES {
                    self.on_open_again(cx.now);
                }
                None
            }
        }
    }

    fn open(&mut self, cx: &mut Context<'_>, datagram: &mut [u8], header: usize) -> Result<u64, Drop> {
        if matches!(self.state, State::Hello | State::Dead) {
            return Err(Drop::BadFrame);
        }
        if !self.security.is_established() {
            return Err(Drop::TooEarly);
        }
        let plaintext = self.security.open(datagram, header).ok_or(Drop::NotAuthentic)?;
        let mut reader = Reader::new(&datagram[plaintext]);
        let number = reader.truncated().map_err(|_| Drop::BadFrame)?.resolve(self.received.next());
        if !self.received.is_new(number) {
            return Err(Drop::Replay);
        }
        let frames = reader.rest();
        let summary = self.check(number, frames)?;
        if cx.now.since(self.timers.last_received) >= REST_AFTER {
            self.lanes.forget_spare();
            self.ledger.forget_spare();
        }
        self.timers.last_received = cx.now;
        // Nobody takes messages any more, so nothing may be acknowledged.
        if !matches!(self.state, State::Closing | State::Drained) {
            let is_quiet = self.is_quiet(cx.now);
            let delay = self.ack_delay(is_quiet);
            if is_quiet {
                // Nor does the sender count on what came before, should it begin with repairs again.
                self.redundancy.forget_kept();
            }
            self.received.on_packet(cx.now, number, summary.is_ack_eliciting, delay);
        }
        self.apply(cx, number, frames, summary.age);
        if !self.path.carrier.is_reliable {
            if !summary.has_repair && summary.content_from < frames.len() {
                self.keep_for_repairs(number, &frames[summary.content_from..]);
            }
            self.take_repaired(cx);
        }
        // Only now: what came in the same packet was acknowledged with it and must be delivered.
        self.end_lingering_if_done(cx);
        if self.ledger.is_ignored() {
            self.close(cx, code::PROTOCOL, "the peer acknowledges nothing".into(), Duration::ZERO);
        }
        Ok(number)
    }

    /// On a reliable carrier nothing waits for an acknowledgement but windows and receipts.
    fn ack_delay(&self, is_quiet: bool) -> Duration {
        match self.path.carrier.is_reliable {
            true if self.received.unacked() >= RELIABLE_UNACKED_MAX => Duration::ZERO,
            true => RELIABLE_ACK_DELAY,
            false if is_quiet => self.settings.ack_delay.max(QUIET_ACK_DELAY),
            false => self.settings.ack_delay,
        }
    }

    /// Whether nothing is lost in either direction, as far as is known, and the peer does not fear for it.
    fn is_quiet(&self, now: Time) -> bool {
        self.redundancy.is_adaptive() && !self.ledger.has_lost_lately(now) && self.received.is_quiet(now)
    }

    /// Looks at every frame before the first is applied: a packet counts whole or not at all.
    pub(super) fn check(&self, number: u64, bytes: &[u8]) -> Result<Summary, Drop> {
        let mut summary = Summary { is_ack_eliciting: bytes.is_empty(), ..Summary::default() };
        let mut frames = Frames::new(bytes);
        let mut is_behind_acks = false;
        while let Some(frame) = frames.next() {
            let frame = frame.map_err(|_| Drop::BadFrame)?;
            summary.is_ack_eliciting |= frame.is_ack_eliciting();
            is_behind_acks |= !matches!(frame, Frame::Ack(_) | Frame::Repaired(_));
            if !is_behind_acks {
                summary.content_from = bytes.len() - frames.remaining();
            }
            match frame {
                Frame::Ack(ack) => self.check_ack(&ack)?,
                Frame::Repaired(repaired) => self.check_repaired(&repaired)?,
                Frame::Repair(repair) => {
                    let mut covers = repair.covers(number).map_err(|_| Drop::BadFrame)?;
                    covers.all(|range| range.is_ok()).then_some(()).ok_or(Drop::BadFrame)?;
                    summary.has_repair = true;
                }
                Frame::Late { age_ms } => summary.age = Duration::from_millis(age_ms.min(AGE_MS_MAX)),
                Frame::Accept { settings, .. } => {
                    Settings::decode(settings).map_err(|_| Drop::BadFrame)?;
                    summary.is_accept = true;
                }
                // Nobody has asked to be let in yet, so there is nothing to end.
                Frame::Close { .. } | Frame::Closed if self.is_unasked() => return Err(Drop::BadFrame),
                // Their rules come with ACCEPT; what overtook it is sent again.
                Frame::Message(_) if self.state == State::Opening && !summary.is_accept => return Err(Drop::BadFrame),
                Frame::Message(message) if self.state != State::Opening => {
                    self.check_message(&message)?;
                    let row = frames.row();
                    if row.payload_bytes_max > self.settings.message_bytes_max as usize {
                        return Err(Drop::BadFrame);
                    }
                    frames.skip_row(&row);
                }
                _ => {}
            }
        }
        Ok(summary)
    }

    fn check_ack(&self, ack: &Ack<'_>) -> Result<(), Drop> {
        let largest = ack.largest.resolve(self.ledger.next());
        let all_fit = ack.ranges(largest).all(|range| range.is_ok());
        (largest < self.ledger.next() && all_fit).then_some(()).ok_or(Drop::BadFrame)
    }

    fn check_repaired(&self, repaired: &Repaired<'_>) -> Result<(), Drop> {
        let largest = repaired.largest.resolve(self.ledger.next());
        let all_fit = repaired.ranges(largest).all(|range| range.is_ok());
        (largest < self.ledger.next() && all_fit).then_some(()).ok_or(Drop::BadFrame)
    }

    fn check_message(&self, message: &Message<'_>) -> Result<(), Drop> {
        let length = message.fragment.map_or(message.payload.len(), |fragment| fragment.total as usize);
        let rule = self.settings.rule(message.channel).ok_or(Drop::BadFrame)?;
        let is_allowed = length <= self.settings.message_bytes_max as usize
            && (message.sequence != Sequence::None || rule.mode == Mode::Unreliable)
            && self.state != State::Requested;
        if !is_allowed {
            return Err(Drop::BadFrame);
        }
        let has_room = self.path.carrier.is_reliable || self.receive_room() > 0;
        has_room.then_some(()).ok_or(Drop::WindowExceeded)
    }

    /// What may still arrive before packets with messages are dropped, which are sent again, or on a carrier where
    /// nothing is, unreliable messages. Twice the window is what a peer that keeps to it can have filled; unreliable
    /// messages know no window.
    fn receive_room(&self) -> u64 {
        let taken = self.lanes.held_bytes() + self.receive_window.undelivered;
        (3 * u64::from(self.settings.window_bytes) + 1).saturating_sub(taken)
    }

    /// A server's side whose client has not said yet that it wants to be let in.
    pub(crate) fn is_unasked(&self) -> bool {
        self.state == State::Requested && !self.is_requested()
    }

    pub(super) fn apply(&mut self, cx: &mut Context<'_>, number: u64, frames: &[u8], age: Duration) {
        let mut cursor = Cursor::new(age);
        let mut frames = Frames::new(frames);
        while let Some(Ok(frame)) = frames.next() {
            match frame {
                Frame::Message(message) if self.is_open() => self.on_message(cx, &mut cursor, &message, &mut frames),
                Frame::Message(_) => {}
                _ => {
                    self.lanes.end_run(&mut cursor);
                    let ControlFlow::Continue(()) = self.apply_control(cx, number, frame) else { return };
                }
            }
        }
        self.lanes.end_run(&mut cursor);
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Established | State::Lingering)
    }

    /// Everything but messages.
    fn apply_control(&mut self, cx: &mut Context<'_>, number: u64, frame: Frame<'_>) -> ControlFlow<()> {
        match frame {
            Frame::Padding | Frame::Ping | Frame::Late { .. } | Frame::Message(_) => {}
            Frame::Repaired(repaired) => self.on_repaired(cx, &repaired),
            Frame::Repair(repair) if self.is_open() && !self.path.carrier.is_reliable => {
                self.received.on_repair(cx.now);
                self.on_repair(number, &repair);
            }
            Frame::Repair(_) => {}
            Frame::Ack(ack) => self.on_ack(cx, number, &ack),
            Frame::Connect { token } => self.on_connect(cx, token),
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
            Frame::PathChallenge { token } => self.roaming.on_challenge(token),
            Frame::PathResponse { token } => self.roaming.on_response(token),
        }
        ControlFlow::Continue(())
    }

    /// Takes a message, and with it those that follow it in a row.
    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        cursor: &mut Cursor,
        message: &Message<'_>,
        behind: &mut Frames<'_>,
    ) {
        let room = if self.path.carrier.is_reliable { self.receive_room() } else { u64::MAX };
        let inbox = &mut cx.scratch.inbox;
        match self.lanes.on_message(&self.settings, cursor, message, room, inbox) {
            Arrival::NoRoom => self.stats.drops.count(Drop::WindowExceeded),
            Arrival::Taken => {}
            Arrival::Duplicate => self.stats.drops.count(Drop::DuplicateMessage),
            Arrival::Stale => self.stats.drops.count(Drop::StaleMessage),
            Arrival::Malformed => self.stats.drops.count(Drop::BadFrame),
        }
        let (peer, channel, age) = (self.peer, message.channel, cursor.age());
        for payload in inbox.messages.drain(..) {
            self.stats.received.messages += 1;
            self.stats.received.payload_bytes += payload.len() as u64;
            self.receive_window.undelivered += window_cost(payload.len());
            cx.events.push(Event::Message { peer, channel, payload, age });
        }
        if let Some(messages) = self.lanes.on_row(cursor, behind, inbox) {
            self.stats.received.messages += u64::from(messages.left);
            self.stats.received.payload_bytes += messages.payload_bytes as u64;
            self.receive_window.undelivered += messages.window_cost;
            cx.events.push_row(peer, channel, age, messages);
        }
        if self.lanes.has_perishables() && self.timers.expire_due == Time::NEVER {
            self.timers.expire_due = cx.now + UNFINISHED_MAX;
        }
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, number: u64, ack: &Ack<'_>) {
        let largest = ack.largest.resolve(self.ledger.next());
        let mut acked = Acked::default();
        for range in ack.ranges(largest).flatten() {
            self.ledger.on_ack(cx.now, range, &mut acked, &mut cx.scratch.resolved);
        }
        if let Some(sample) = acked.rtt_sample {
            // Not only what the settings allow: an acknowledgement that was lost is said again later.
            self.rtt.on_sample(sample, Duration::from_micros(ack.delay_us));
        }
        if number >= self.window_from {
            self.window_from = number;
            self.lanes.on_window(ack.window.unwrap_or(u64::from(self.settings.window_bytes)));
        }
        if let Some((sent_at, stamp)) = acked.latest {
            self.congestion.on_ack(&AckSample {
                now: cx.now,
                bytes: acked.bytes,
                sent_at,
                stamp,
                rtt: acked.rtt_sample.map(|_| self.rtt.latest()),
                smoothed: self.rtt.smoothed(),
                bytes_in_flight: self.ledger.bytes_in_flight(),
            });
        }
        self.stats.packets_spurious += u64::from(acked.spurious);
        self.note_sizes_acked(&cx.scratch.resolved);
        self.settle_arrived(cx);
        if !self.path.carrier.is_reliable {
            self.detect_losses(cx);
        }
        let is_calm = self.is_calm(cx.now);
        self.ledger.on_ack_done(cx.now, &acked, &self.rtt, is_calm);
    }

    /// What was lost and made again has arrived; the path has lost it all the same.
    fn on_repaired(&mut self, cx: &mut Context<'_>, repaired: &Repaired<'_>) {
        let largest = repaired.largest.resolve(self.ledger.next());
        let mut lost = Lost::default();
        for range in repaired.ranges(largest).flatten() {
            lost.add(self.ledger.on_repaired(cx.now, range, &mut cx.scratch.resolved));
        }
        self.note_sizes_repaired(&cx.scratch.resolved);
        // Repairs bring back no acknowledgements: those that the lost packets held were not heard.
        let is_ack = |resolved: &Resolved| matches!(resolved.record, Record::Control(Control::AckUpTo(_)));
        let are_acks_lost = cx.scratch.resolved.iter().any(is_ack);
        cx.scratch.resolved.retain(|resolved| !is_ack(resolved));
        if are_acks_lost && self.receive_window.news_from.is_some() {
            self.tell_window(cx.now);
        }
        if lost.packets > 0 {
            self.stats.packets_lost += u64::from(lost.packets);
            self.stats.redundancy.packets_saved += u64::from(lost.packets);
            self.congestion.on_loss(cx.now, LossSample { bytes: lost.bytes, sent_at: lost.last_sent });
        }
        self.settle_arrived(cx);
    }

    /// Everything resolved has arrived at the peer.
    fn settle_arrived(&mut self, cx: &mut Context<'_>) {
        for resolved in cx.scratch.resolved.drain(..) {
            match resolved.record {
                Record::Control(Control::AckUpTo(number)) => {
                    self.received.on_ack_confirmed(resolved.packet, number);
                    self.receive_window.news_from =
                        self.receive_window.news_from.filter(|from| resolved.packet < *from);
                }
                Record::Control(Control::Accept) => {
                    self.timers.is_confirmed = true;
                    self.pending.accept = false;
                }
                Record::Control(Control::Connect) => {}
                _ => self.lanes.on_acked(resolved, &mut cx.scratch.receipts),
            }
        }
        self.push_receipts(cx);
    }

    /// Finds out what is lost by now and lets it be sent again.
    pub(super) fn detect_losses(&mut self, cx: &mut Context<'_>) {
        let lost = self.ledger.detect_losses(cx.now, &self.rtt, &mut cx.scratch.resolved);
        if lost.packets > 0 {
            self.stats.packets_lost += u64::from(lost.packets);
            if lost.packets > self.note_sizes_lost(cx.now, &cx.scratch.resolved) {
                self.congestion.on_loss(cx.now, LossSample { bytes: lost.bytes, sent_at: lost.last_sent });
            }
            self.take_back(cx, Further::AsLossesAsk, Lanes::on_lost);
        }
    }

    /// Lets everything resolved as lost, or doubted, be sent again, and copies further.
    pub(super) fn take_back(
        &mut self,
        cx: &mut Context<'_>,
        further: Further,
        take: impl Fn(&mut Lanes, Resolved, &mut Vec<Receipt>),
    ) {
        let mut is_window_news_lost = false;
        for resolved in cx.scratch.resolved.drain(..) {
            match resolved.record {
                Record::Control(Control::Accept) => self.pending.accept = !self.timers.is_confirmed,
                Record::Control(Control::AckUpTo(_)) => is_window_news_lost |= self.receive_window.news_from.is_some(),
                Record::Control(Control::Connect) => {}
                _ => {
                    let class = self.lanes.class_of(resolved.record);
                    take(&mut self.lanes, resolved, &mut cx.scratch.receipts);
                    if let Some(class) = class.filter(|_| self.lanes.has_lost()) {
                        self.on_late(class, resolved.born, further);
                    }
                }
            }
        }
        if is_window_news_lost {
            self.tell_window(cx.now);
        }
        self.push_receipts(cx);
    }
}

/// After such a silence, memory that waits to be used again goes: it may be a connection that idles.
const REST_AFTER: Duration = Duration::from_secs(5);
/// Nothing is taken for older than this.
const AGE_MS_MAX: u64 = 60_000;
/// How long an acknowledgement may wait for company on a carrier that loses nothing: for longer, queues and windows, which
/// count what is not acknowledged, would be full of what has long arrived.
const RELIABLE_ACK_DELAY: Duration = Duration::from_millis(100);
/// So many packets of a reliable carrier wait for their acknowledgement, before the next asks for it at once.
const RELIABLE_UNACKED_MAX: u32 = 31;
