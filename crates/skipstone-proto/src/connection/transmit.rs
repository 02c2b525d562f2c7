//! Packets that go out: what is due, packed until the datagram is full, sealed.

use super::close::Answer;
use super::redundancy::{LATE_ROOM, PACKET_BYTES, note_repeatable, write_repair, write_repeats};
use super::{Connection, Pending, State};
use crate::channel::packet::Packet;
use crate::delivery::Stamp;
use crate::recovery::{Control, Leaving, Record};
use crate::time::Time;
use crate::wire::ack;
use crate::wire::cursor::Writer;
use crate::wire::datagram::{self, HEADER_BYTES};
use crate::wire::frame;
use crate::wire::number::Truncated;
use crate::wire::settings::{Merging, Settings};
use crate::wire::varint;

/// Datagrams written by one call: all but the last of `segment_bytes`, so that one system call can send them (GSO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// Bytes written.
    pub(crate) bytes: usize,
    /// Bytes of each datagram but the last.
    pub(crate) segment_bytes: usize,
    /// Nothing else is due now.
    pub(crate) is_all: bool,
}

/// What this moment asks for.
#[derive(Clone, Copy, Debug)]
struct Wants {
    ack: bool,
    /// The acknowledgement may not wait for company.
    ack_is_due: bool,
    control: bool,
    lost: bool,
    new: bool,
    /// A repair for what left before.
    repair: bool,
}

/// Whether an acknowledgement that was said before may be said again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    Allowed,
    /// It leaves no room for the message, or the repair, that is next.
    InTheWay,
}

/// Linux sends at most 64 segments by one call, and at most 64 KiB.
const SEGMENTS_MAX: usize = 32;
/// Packets that may overtake one before its truncated number stands for another.
pub(super) const OVERTAKING_MAX: u64 = 4_000;
/// A packet number has at least so many bits, so that no copy of it is taken for a later one (WIRE.md section 1).
pub(super) const NUMBER_BITS_MIN: u8 = 14;
/// Packets that nobody acknowledged, because all were acknowledgements, after which one asks for it.
const UNCONFIRMED_MAX: u64 = 1_000;
/// Ranges of an acknowledgement that nobody confirmed after which one asks for it, or acknowledgements would grow long.
const RANGES_UNCONFIRMED_MAX: usize = 8;
/// What must find room beside the ranges of an acknowledgement: its other fields, a PING, a CLOSE without reason.
const BYTES_BESIDE_ACK: usize = 64;
/// A packet that would be a little too short to be one of equal segments is padded up to this part of it.
const PADDING_PART_MAX: usize = 16;

impl Connection {
    /// Writes what is due into `buffer`; `None` if nothing is.
    pub(crate) fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Segments> {
        let max = usize::from(self.datagram_bytes()).min(buffer.len());
        self.congestion.set_datagram_bytes(max as u16);
        self.timers.merge.on_write(now);
        if let Some(bytes) = self.poll_crypto(now, buffer) {
            self.count_sent(bytes);
            return Some(Segments { bytes, segment_bytes: bytes, is_all: false });
        }
        if matches!(self.state, State::Hello | State::Opening) {
            let bytes = self
                .poll_handshake(now, buffer)
                .or_else(|| self.write_datagram(now, &mut buffer[..max], max, None, Repeat::Allowed))?;
            self.count_sent(bytes);
            return Some(Segments { bytes, segment_bytes: bytes, is_all: false });
        }
        let segments_max = if self.path.carrier.is_reliable { 1 } else { SEGMENTS_MAX };
        let mut written = Segments { bytes: 0, segment_bytes: max, is_all: false };
        for segment in 0..segments_max {
            let rest = &mut buffer[written.bytes..];
            if rest.len() < written.segment_bytes {
                break;
            }
            let equal_to = (segment > 0).then_some(written.segment_bytes);
            let segment_buffer = &mut rest[..written.segment_bytes];
            let class = self.lanes.next_class();
            let Some(bytes) = self.write_datagram(now, segment_buffer, max, equal_to, Repeat::Allowed) else { break };
            self.count_sent(bytes);
            written.bytes += bytes;
            if segment == 0 {
                written.segment_bytes = bytes;
            } else if bytes < written.segment_bytes {
                break;
            }
            // A burst that is cut into packets goes on at this size; else what comes next deserves a larger packet, and so
            // does what is of another class.
            if bytes * 2 < max && !self.is_in_burst()
                || bytes < max && self.lanes.next_class().is_some_and(|next| Some(next) != class)
            {
                break;
            }
        }
        (written.bytes > 0).then(|| Segments { is_all: self.has_said_all(now), ..written })
    }

    /// Whether it stands and nothing is due now, of any kind: no more than a look, so in doubt it is false.
    pub(crate) fn is_silent(&self, now: Time) -> bool {
        self.has_said_all(now) && !self.roaming.has_errand(now) && self.ending.is_none()
    }

    /// Whether, as things stand, another call would write nothing: no more than a look, so in doubt it is false.
    fn has_said_all(&self, now: Time) -> bool {
        let Pending { accept, connect, ping, probes } = self.pending;
        let has_control = accept || connect || ping || probes > 0 || self.received.ack_due() <= now;
        let has_messages = self.lanes.has_new() || self.lanes.has_lost() || self.redundancy.has_repairs(now);
        self.state == State::Established && !has_control && !has_messages && !self.mtu.is_searching(now)
    }

    /// Numbers the packet that was written.
    pub(super) fn commit(&mut self, now: Time, bytes: usize, is_ack_eliciting: bool, age_ms: u16) {
        let in_flight = self.ledger.bytes_in_flight();
        let stamp = match is_ack_eliciting {
            true => self.congestion.on_sent(now, bytes as u32, in_flight),
            false => {
                self.congestion.on_sent_untracked(now, bytes as u32);
                Stamp::default()
            }
        };
        self.ledger.commit(now, Leaving { bytes, is_ack_eliciting, age_ms, stamp });
        if self.ledger.is_time_to_trim() {
            self.ledger.forget_spare();
            self.lanes.trim();
        }
    }

    pub(super) fn count_sent(&mut self, bytes: usize) {
        self.stats.sent.datagrams += 1;
        self.stats.sent.datagram_bytes += bytes as u64;
        self.stats.sent.ip_bytes += bytes as u64 + u64::from(self.path.carrier.overhead_bytes);
    }

    /// Whether new messages may leave by the merging setting.
    fn is_merged(&self, now: Time) -> bool {
        self.merging == Merging::Immediate || self.timers.merge.is_over(now)
    }

    fn wants(&mut self, now: Time) -> Wants {
        let is_open = matches!(self.state, State::Established | State::Lingering);
        let in_flight = u64::from(self.ledger.bytes_in_flight());
        let has_new = is_open && self.lanes.has_new() && self.is_merged(now);
        let has_room = in_flight < self.congestion.window() && self.ledger.has_room();
        let pace = self.congestion.next_send(now, u32::from(self.datagram_bytes()));
        let may_send = self.pending.probes > 0 || has_room && pace <= now;
        if !has_room {
            self.redundancy.drop_repairs_due(now);
        } else if pace > now {
            self.redundancy.defer_repairs(pace);
        }
        let has_repairs = is_open && self.redundancy.has_repairs(now);
        let has_any = has_new || is_open && self.lanes.has_lost() || has_repairs;
        self.pace_due = if has_any && has_room && pace > now { pace } else { Time::NEVER };
        self.is_limited = has_new && !may_send;
        Wants {
            ack: self.received.has_news(),
            ack_is_due: self.received.ack_due() <= now,
            control: self.pending.accept || self.pending.connect || self.pending.ping,
            lost: is_open && may_send && self.lanes.has_lost(),
            new: has_new && may_send,
            repair: has_repairs && may_send,
        }
    }

    /// Writes one datagram and returns its length; with `equal_to`, one that more shall follow is padded to that length
    /// if little is missing. A message that `max` bytes would hold is not cut because this datagram is to be shorter.
    fn write_datagram(
        &mut self,
        now: Time,
        buffer: &mut [u8],
        max: usize,
        equal_to: Option<usize>,
        repeat: Repeat,
    ) -> Option<usize> {
        if !self.security.is_established() {
            return None;
        }
        let mut wants = self.wants(now);
        let answer = self.poll_ending(now);
        let has_reason = wants.ack_is_due || wants.control || wants.lost || wants.new || wants.repair;
        if answer.is_none() && (!has_reason || self.state == State::Drained) || self.ids.remote == 0 {
            return None;
        }
        let (is_waiting, is_unconfirmed) = (self.ledger.is_waiting(), self.ledger.distance() > UNCONFIRMED_MAX);
        let is_standing = matches!(self.state, State::Established | State::Lingering);
        // What is late travels alone, so that its copies are small.
        let is_late = wants.lost && self.lanes.has_lost_of(|class| self.redundancy.sends_copies(class));
        let next = if wants.new && !is_late { self.lanes.next_class() } else { None };
        let class = next.filter(|class| !(wants.repair && self.redundancy.repairs_come_first(now, *class)));
        // Messages that wait for the peer's window must not keep repairs waiting.
        let has_ack_news = wants.ack;
        if repeat == Repeat::Allowed {
            wants.ack |= wants.repair && !wants.lost && class.is_none() && self.redundancy.repeats_ack(now);
            wants.ack |= class.is_some_and(|class| self.repeats_ack(class));
        }
        let distance = self.ledger.distance() + OVERTAKING_MAX;
        let number = Truncated::with_bits_at_least(self.ledger.next(), distance, NUMBER_BITS_MIN);
        let overhead = self.security.overhead();
        let (reserve, late_age_ms) = (self.redundancy.reserve(class), self.redundancy.age_ms(now));
        let (end, beyond) = (buffer.len() - overhead, max - buffer.len());
        let capacity_max = max.saturating_sub(overhead + PACKET_BYTES + reserve);
        let target = class.map_or(usize::MAX, |class| {
            let packet_overhead = overhead + PACKET_BYTES;
            self.burst_target(now, class, packet_overhead, capacity_max)
        });
        let mut writer = Writer::new(&mut buffer[..end]);
        datagram::encode_packet_header(&mut writer, self.ids.remote);
        writer.truncated(number);
        let capacity = writer.room();
        let mut packet = Packet::new(writer, &mut self.ledger, capacity + beyond);

        let told = free_window(&self.settings, self.lanes.held_bytes() + self.receive_window.undelivered);
        let acked_up_to = if wants.ack && write_ack(now, &mut packet, &mut self.received, told) {
            self.received.next().checked_sub(1)
        } else {
            None
        };
        let content_from = packet.writer.len();
        packet.messages_from = content_from;
        // Whoever only acknowledges asks for an acknowledgement now and then, or its numbers would grow out of their bits.
        self.pending.ping |= acked_up_to.is_some()
            && !is_waiting
            && (is_unconfirmed || self.received.range_count() > RANGES_UNCONFIRMED_MAX)
            && is_standing;
        if let Some(answer) = answer {
            write_ending(&mut packet, answer, self.ending.as_deref());
        }
        if self.pending.accept {
            let settings = self.settings.encode();
            if packet.room() >= frame::accept_len(&settings) {
                frame::encode_accept(&mut packet.writer, self.ids.local, &settings);
                packet.record(Record::Control(Control::Accept));
                self.pending.accept = false;
            }
        }
        if core::mem::take(&mut self.pending.connect)
            && let Some(handshake) = &self.handshake
        {
            frame::encode_connect(&mut packet.writer, handshake.token());
            packet.record(Record::Control(Control::Connect));
        }
        let mut is_full = false;
        packet.reserve = if is_late { LATE_ROOM } else { reserve.saturating_sub(beyond) };
        // What would only fit without the reserve is cut, or it would wait for ever.
        packet.capacity = packet.capacity.saturating_sub(if is_late { LATE_ROOM } else { reserve });
        if wants.lost {
            is_full = !self.lanes.resend(&mut packet, |class| !is_late || self.redundancy.sends_copies(class));
        }
        let mut repeated_bytes = 0;
        if let Some(class) = class.filter(|_| !is_full) {
            packet.target = target;
            if self.redundancy.repeats(class) && !self.path.carrier.is_reliable && !self.congestion.is_congested(now) {
                repeated_bytes = write_repeats(&mut self.redundancy, &mut self.lanes, &mut packet, class);
            }
            packet.ledger.begin_part();
            is_full = self.lanes.send_new(&mut packet, &self.settings, class);
            note_repeatable(&mut self.redundancy, &packet, class);
        }
        packet.reserve = 0;
        let is_late_wanted = is_late;
        let is_late = is_late && packet.resent > 0;
        if is_late {
            packet.age_ms = packet.age_ms.max(late_age_ms);
        }
        if packet.age_ms > 0 && packet.room() >= LATE_ROOM {
            frame::encode_late(&mut packet.writer, packet.age_ms);
        }
        if core::mem::take(&mut self.pending.ping) && !packet.is_ack_eliciting && answer.is_none() {
            if packet.room() < capacity {
                frame::encode_ping(&mut packet.writer);
            }
            packet.is_ack_eliciting = true;
        }
        let ip_overhead = overhead + usize::from(self.path.carrier.overhead_bytes);
        let is_repair = wants.repair
            && !packet.is_ack_eliciting
            && answer.is_none()
            && write_repair(now, &mut self.redundancy, &mut packet, ip_overhead, beyond == 0 && acked_up_to.is_none());
        // Nothing fits, or an acknowledgement that was said before would be all: the window is full, or the budget spent.
        let is_void = !is_repair && !has_ack_news && answer.is_none();
        if !packet.is_ack_eliciting && (is_void || packet.room() == capacity) {
            let is_in_the_way = (is_full || wants.repair) && acked_up_to.is_some() && repeat == Repeat::Allowed;
            let are_repairs_dropped = wants.repair && !self.redundancy.has_repairs(now);
            // What waited to be sent again has arrived meanwhile: it has kept back what is new.
            let is_late_gone = is_late_wanted && !self.lanes.has_lost_of(|class| self.redundancy.sends_copies(class));
            if !self.lanes.has_lost() {
                self.redundancy.on_nothing_late();
            }
            let again = is_in_the_way || are_repairs_dropped || is_late_gone;
            return if again { self.write_datagram(now, buffer, max, equal_to, Repeat::InTheWay) } else { None };
        }
        if let Some(number) = acked_up_to {
            self.receive_window.told = told;
            packet.ledger.record(Record::Control(Control::AckUpTo(number)));
        }
        if is_full && let Some(length) = equal_to {
            let missing = (length - overhead).saturating_sub(packet.writer.len());
            // Padding is covered by repairs, too, and must leave them as much room as messages do.
            let room = packet.room().saturating_sub(reserve.saturating_sub(beyond));
            if missing <= length / PADDING_PART_MAX {
                packet.writer.zeros(missing.min(room));
            }
        }
        let length = packet.writer.len();
        let content = content_from..length;
        let (is_ack_eliciting, age_ms, number) = (packet.is_ack_eliciting, packet.age_ms, packet.number);
        let has_new = packet.new_payload_bytes > 0 || packet.messages > 0;
        self.stats.sent.messages += u64::from(packet.messages);
        self.stats.sent.payload_bytes += u64::from(packet.new_payload_bytes);
        self.stats.resent += u64::from(packet.resent);
        let source = class.filter(|_| has_new);
        if let Some(class) = source {
            self.note_burst_packet(class, acked_up_to.is_some());
        }
        let sealed = length + overhead;
        if is_full && target == usize::MAX {
            self.mtu.on_full();
        }
        if let Some(record) = self.size_record(sealed).filter(|_| is_ack_eliciting) {
            self.ledger.record(record);
        }
        self.commit(now, sealed, is_ack_eliciting, age_ms);
        if let Some(class) = source.filter(|_| !self.path.carrier.is_reliable) {
            self.redundancy.earn(sealed - repeated_bytes + usize::from(self.path.carrier.overhead_bytes));
            let content = if age_ms == 0 { content } else { 0..0 };
            self.on_source(now, class, number, &buffer[content]);
        }
        if repeated_bytes > 0 {
            self.stats.redundancy.copies_sent += 1;
            self.stats.redundancy.bytes_sent += repeated_bytes as u64;
        }
        if age_ms > 0 || is_late {
            self.plan_copies(now, number, class.filter(|_| !is_late), sealed);
        }
        if !self.lanes.has_lost() {
            self.redundancy.on_nothing_late();
        }
        if is_repair {
            self.ledger.on_repair_sent(now);
            self.stats.redundancy.repairs_sent += 1;
            self.stats.redundancy.bytes_sent += (sealed + usize::from(self.path.carrier.overhead_bytes)) as u64;
        }
        if is_ack_eliciting {
            self.pending.probes = self.pending.probes.saturating_sub(1);
        }
        Some(self.security.seal(buffer, HEADER_BYTES..length))
    }
}

/// What of the receive window to tell the peer: nothing while all of it is free.
fn free_window(settings: &Settings, taken: u64) -> Option<u64> {
    let window = u64::from(settings.window_bytes);
    (taken > window).then(|| (2 * window).saturating_sub(taken))
}

fn write_ack(
    now: Time,
    packet: &mut Packet<'_>,
    received: &mut crate::recovery::Received,
    window: Option<u64>,
) -> bool {
    let delay_us = received.delay(now).as_micros() as u64;
    // How far behind the peer's next number the greatest that we saw may be: the peer keeps fewer than this in flight.
    const DISTANCE: u64 = 8_000;
    let mut budget = packet.room().saturating_sub(BYTES_BESIDE_ACK);
    let mut smallest = None;
    let affordable = received.ranges().take_while(|range| {
        let gap = smallest.map_or(0, |smallest: u64| smallest - range.end());
        let cost = varint::len(gap) + varint::len(range.end() - range.start());
        smallest = Some(*range.start());
        let is_affordable = cost <= budget;
        budget = budget.saturating_sub(cost);
        is_affordable
    });
    ack::encode_repaired(&mut packet.writer, received.repaired(), DISTANCE);
    let is_written = ack::encode_ack(&mut packet.writer, affordable, DISTANCE, delay_us, window);
    if is_written {
        received.on_ack_sent(packet.number);
    }
    is_written
}

fn write_ending(packet: &mut Packet<'_>, answer: Answer, ending: Option<&super::close::Ending>) {
    match (answer, ending) {
        (Answer::Close, Some(ending)) => {
            // A reason that does not fit beside an acknowledgement is cut, at a character's border.
            let mut reason = ending.reason();
            while packet.room() < frame::close_len(ending.code(), reason) && !reason.is_empty() {
                reason = &reason[..reason.floor_char_boundary(reason.len() - 1)];
            }
            if packet.room() >= frame::close_len(ending.code(), reason) {
                frame::encode_close(&mut packet.writer, ending.code(), reason);
            }
        }
        _ => frame::encode_closed(&mut packet.writer),
    }
}
