//! Writing messages into packets: new ones, whole or in fragments, and retransmissions.

use super::content::Content;
use super::flight::{Flight, Fragments, MessageState, PendingMessages};
use super::{FLIGHT_MAX, HEADER_BYTES, Outgoing, Stopped};
use crate::channel::encoded_batch::RunLimits;
use crate::channel::packet::{Packet, SendWindow};
use crate::channel::{MessageId, window_cost};
use crate::recovery::Record;
use crate::seq::Seq;
use crate::wire::number::Truncated;
use crate::wire::settings::DeliveryMode;
use bytes::Bytes;

/// Number of messages that may overtake a late copy before its truncated sequence is restored as another one.
const OVERTAKING_MAX: u32 = 4_000;
/// Only fragments and repeated messages of an unreliable channel have a sequence, so its receiver may be far behind.
const UNRELIABLE_SEQUENCE_BITS: u8 = 28;

impl Outgoing {
    /// Writes messages that were never sent, until the packet, the window or the turn (in bytes) ends.
    pub(crate) fn send_new(&mut self, packet: &mut Packet<'_>, window: &mut SendWindow, turn: &mut i64) -> Stopped {
        loop {
            self.send_following(packet, window, turn);
            if *turn <= 0 && self.has_new() {
                return Stopped::TurnOver;
            }
            if packet.is_at_target() && self.has_new() {
                return Stopped::PacketFull;
            }
            if self.is_partly_sent {
                if !self.send_fragment(packet, turn) {
                    return Stopped::PacketFull;
                }
                self.finish_unreliable();
                continue;
            }
            let Some(front) = self.pending.front() else { return Stopped::Empty };
            let (length, is_part) = (front.content.first().len(), matches!(front.content, Content::Slice(_)));
            if self.is_held_back(window) {
                return Stopped::WindowFull;
            }
            let (channel, sequence) = (packet.channel, self.wire_sequence(self.next));
            let header = packet.run.header_len(channel, sequence, None, length);
            if header + length > packet.room() && header + length <= packet.capacity {
                return Stopped::PacketFull;
            }
            if is_part && header + length <= packet.room() {
                self.send_slice(packet, window, turn);
                continue;
            }
            let (payload, id, age_ms) = self.take_pending().expect("it is the front");
            let sequence_number = self.next;
            self.next = self.next.next();
            packet.age_ms = packet.age_ms.max(age_ms);
            if self.mode.is_reliable() {
                window.taken += window_cost(length);
            }
            if header + length > packet.room() {
                self.is_partly_sent = true;
                let flight = Flight::one(sequence_number, payload, id, packet.number);
                self.flight.push_back(Flight { fragments: Some(Box::default()), ..flight });
                continue;
            }
            packet.message(sequence, None, &payload);
            packet.messages += 1;
            packet.new_payload_bytes += length as u32;
            *turn -= (header + length) as i64;
            self.track(packet, sequence_number, payload, id);
        }
    }

    /// Writes whole messages that follow the one before them in the packet, as far as possible: the fast path for most
    /// messages. The caller determines the reason for a stop.
    fn send_following(&mut self, packet: &mut Packet<'_>, window: &mut SendWindow, turn: &mut i64) {
        if !self.is_ordinal() || self.is_partly_sent {
            return;
        }
        let (first, mut count, mut bytes) = (self.next, 0, 0);
        while *turn > 0
            && count < u16::MAX
            && self.flying() < FLIGHT_MAX
            && packet.run.is_next(packet.channel, self.next.0)
            && !packet.is_at_target()
            && let Some(PendingMessages { content: Content::One(payload), .. }) = self.pending.front()
        {
            let length = payload.len();
            let (cost, wire_bytes) = (window_cost(length), packet.run.next_len(length));
            if !window.admits(cost) || wire_bytes > packet.room() {
                break;
            }
            let Some(PendingMessages { content: Content::One(payload), id, age_ms }) = self.pending.pop_front() else {
                break;
            };
            packet.run.encode_next(&mut packet.writer, &payload);
            packet.age_ms = packet.age_ms.max(age_ms);
            window.taken += cost;
            *turn -= wire_bytes as i64;
            bytes += length;
            count += 1;
            self.flight.push_back(Flight::one(self.next, payload, id, packet.number));
            self.next = self.next.next();
        }
        if count > 0 {
            self.pending_bytes -= bytes;
            self.pending_messages -= usize::from(count);
            packet.new_payload_bytes += bytes as u32;
            packet.messages += u32::from(count);
            packet.record(Record::Messages { channel: packet.channel, first, count });
        }
    }

    /// Writes messages of the next batch, the first of which may leave and fits: the first with its own header, the
    /// others as encoded in the batch.
    fn send_slice(&mut self, packet: &mut Packet<'_>, window: &mut SendWindow, turn: &mut i64) {
        let (first, flying, wire) = (self.next, self.flying(), self.wire_sequence(self.next));
        let Some(PendingMessages { content: Content::Slice(part), .. }) = self.pending.front_mut() else { return };
        let before = packet.writer.len();
        packet.message(wire, None, part.payload(0));
        *turn -= (packet.writer.len() - before) as i64;
        let written = packet.writer.len() - packet.messages_from;
        let following = part.following(RunLimits {
            begun_within: packet
                .target
                .saturating_sub(written)
                .min(usize::try_from((*turn).max(0)).unwrap_or(usize::MAX)),
            room: packet.room(),
            cost: window.limit.saturating_sub(window.taken + window_cost(part.payload(0).len())),
            messages: FLIGHT_MAX - flying - 1,
        });
        let frames = part.frames_following(following);
        *turn -= frames.len() as i64;
        packet.run.copy_next(&mut packet.writer, frames, following, part.payload(following).len());
        let sent = match part.split_front(following + 1) {
            Some(front) => Content::Slice(front),
            None => self.pending.pop_front().expect("it is the front").content,
        };
        let (count, bytes) = (sent.count() as u16, sent.payload_bytes());
        window.taken += sent.cost();
        self.pending_bytes -= bytes;
        self.pending_messages -= usize::from(count);
        self.next = first.plus(u32::from(count));
        packet.new_payload_bytes += bytes as u32;
        packet.messages += u32::from(count);
        packet.record(Record::Messages { channel: packet.channel, first, count });
        let flight = Flight::one(first, Bytes::new(), MessageId::default(), packet.number);
        self.flight.push_back(Flight { content: sent, count, ..flight });
    }

    /// Writes messages and fragments that were lost, until the packet is full. True if none is left.
    pub(crate) fn resend(&mut self, packet: &mut Packet<'_>) -> bool {
        while let Some(sequence) = self.lost.front().copied() {
            let lost = self.flight_index(sequence).filter(|index| self.flight[*index].state == MessageState::Lost);
            if lost.is_some_and(|index| !self.resend_one(packet, index, sequence)) {
                return false;
            }
            self.lost.pop_front();
        }
        true
    }

    /// Writes messages in flight again, without a sign of loss: whole ones that fit. From now on the loss of this
    /// packet decides about them.
    pub(crate) fn repeat(&mut self, packet: &mut Packet<'_>, record: Record) {
        let Record::Messages { channel, first, count } = record else { return };
        self.fall_apart(first, count);
        for sequence in (0..u32::from(count)).map(|step| first.plus(step)) {
            let Some(index) = self.repeatable(sequence) else { continue };
            let wire = Some(self.truncated(sequence));
            let flight = &mut self.flight[index];
            let payload = flight.content.first();
            let length = packet.run.header_len(channel, wire, None, payload.len()) + payload.len();
            if flight.sent_in != packet.number && length <= packet.room() {
                packet.message(wire, None, payload);
                packet.record(Record::Messages { channel, first: sequence, count: 1 });
                flight.sent_in = packet.number;
            }
        }
    }

    /// Approximate bytes that this would take.
    pub(crate) fn repeat_size(&self, record: Record) -> usize {
        let Record::Messages { first, count, .. } = record else { return 0 };
        let sequences = (0..u32::from(count)).map(|step| first.plus(step));
        let wanted = sequences.filter_map(|sequence| Some((sequence, self.repeatable(sequence)?)));
        let length = |(sequence, index): (Seq, usize)| self.flight[index].payload_at(sequence).len();
        wanted.map(|message| length(message) + HEADER_BYTES).sum()
    }

    /// A message that may be repeated. A message that a newer one replaces is not needed, and a long one is not urgent.
    fn repeatable(&self, sequence: Seq) -> Option<usize> {
        let index = self.flight_index(sequence).filter(|_| self.is_ordinal() || self.is_repeating)?;
        // The peer has a newer one, which makes this one stale.
        if self.mode.is_sequenced() && !sequence.next().is_after(self.acked_to) {
            return None;
        }
        let flight = &self.flight[index];
        let is_whole = flight.state == MessageState::InFlight && flight.fragments.is_none();
        is_whole.then_some(index)
    }

    /// The sequence for the wire; none for whole messages of an unreliable channel that repeats nothing.
    fn wire_sequence(&self, sequence: Seq) -> Option<(u32, Truncated)> {
        (self.mode != DeliveryMode::Unreliable || self.is_repeating).then(|| self.truncated(sequence))
    }

    fn truncated(&self, sequence: Seq) -> (u32, Truncated) {
        if self.mode == DeliveryMode::Unreliable {
            let truncated = Truncated::with_bits_at_least(u64::from(sequence.0), 0, UNRELIABLE_SEQUENCE_BITS);
            return (sequence.0, truncated);
        }
        let oldest = if self.is_ordinal() { self.first } else { self.acked_to };
        let newest = if sequence.is_after(self.next) { sequence } else { self.next };
        let distance = newest.distance_from(oldest).unsigned_abs() + 1 + OVERTAKING_MAX;
        (sequence.0, Truncated::new(u64::from(sequence.0), u64::from(distance)))
    }

    /// Records a whole message that was just written, if its fate matters.
    fn track(&mut self, packet: &mut Packet<'_>, sequence: Seq, payload: Bytes, id: MessageId) {
        let matters = self.mode.is_reliable() || self.wants_receipts || self.is_repeating;
        packet.is_ack_eliciting = true;
        if matters || self.mode != DeliveryMode::Unreliable {
            packet.record(Record::Messages { channel: packet.channel, first: sequence, count: 1 });
        }
        if !matters {
            self.queued_bytes -= payload.len();
            self.push_done();
            return;
        }
        let kept = if self.mode.is_reliable() || self.is_repeating {
            payload
        } else {
            self.queued_bytes -= payload.len();
            Bytes::new()
        };
        self.flight.push_back(Flight::one(sequence, kept, id, packet.number));
    }

    /// A message that is no longer needed was sent: the sequences in flight stay contiguous.
    fn push_done(&mut self) {
        if self.flight.is_empty() {
            self.first = self.next;
            return;
        }
        let last = Flight::one(self.next.plus(u32::MAX), Bytes::new(), MessageId::default(), 0);
        self.flight.push_back(Flight { state: MessageState::Done, ..last });
    }

    /// Writes the next fragment of the newest message in flight. False if the packet has no room for one.
    fn send_fragment(&mut self, packet: &mut Packet<'_>, turn: &mut i64) -> bool {
        let sequence = self.next.plus(u32::MAX);
        let wire = self.truncated(sequence);
        let flight = self.flight.back_mut().expect("a partly sent message is in flight");
        let fragments = flight.fragments.as_mut().expect("a partly sent message has fragments");
        let payload = flight.content.first();
        let rest = fragments.sent_to..payload.len() as u32;
        let Some(end) = packet.fragment(sequence, wire, rest.clone(), payload) else { return false };
        packet.messages += u32::from(rest.start == 0);
        packet.new_payload_bytes += end - rest.start;
        flight.sent_in = packet.number;
        fragments.sent_to = end;
        *turn -= i64::from(end - rest.start);
        self.is_partly_sent = end < rest.end;
        true
    }

    /// An unreliable message whose last fragment left needs its payload no longer.
    fn finish_unreliable(&mut self) {
        if self.mode.is_reliable() || self.is_partly_sent || self.wants_receipts {
            return;
        }
        let last = self.flight.back_mut().expect("it was just sent");
        last.state = MessageState::Done;
        self.queued_bytes -= core::mem::take(&mut last.content).payload_bytes();
        last.fragments = None;
        self.drop_done();
    }

    fn resend_one(&mut self, packet: &mut Packet<'_>, index: usize, sequence: Seq) -> bool {
        let wire = self.truncated(sequence);
        let flight = &mut self.flight[index];
        let payload = flight.content.first();
        if let Some(fragments) = &mut flight.fragments {
            fragments.acked.iter().for_each(|acked| fragments.lost.remove_range(acked));
            while let Some(range) = fragments.lost.first_range() {
                let rest = *range.start() as u32..*range.end() as u32 + 1;
                let Some(end) = packet.fragment(sequence, wire, rest, payload) else { return false };
                packet.resent += 1;
                flight.sent_in = packet.number;
                fragments.lost.remove_below(u64::from(end));
            }
        } else {
            let header = packet.run.header_len(packet.channel, Some(wire), None, payload.len());
            if header + payload.len() > packet.room() {
                if header + payload.len() <= packet.capacity {
                    return false;
                }
                // Packets have become smaller since: from now on it goes in fragments.
                let mut fragments = Fragments { sent_to: payload.len() as u32, ..Fragments::default() };
                fragments.lost.insert_range(0..=payload.len() as u64 - 1);
                flight.fragments = Some(Box::new(fragments));
                return self.resend_one(packet, index, sequence);
            }
            packet.message(Some(wire), None, payload);
            packet.record(Record::Messages { channel: packet.channel, first: sequence, count: 1 });
            packet.resent += 1;
            flight.sent_in = packet.number;
        }
        self.flight[index].state = MessageState::InFlight;
        true
    }
}
