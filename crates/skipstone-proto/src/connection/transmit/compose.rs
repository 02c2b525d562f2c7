//! Composing: writes the frames of a datagram as decided, as far as they find room.

use super::decide::{Decision, RetransmitScope};
use crate::channel::channels::Channels;
use crate::channel::packet::Packet;
use crate::connection::Connection;
use crate::connection::client_handshake::ClientHandshake;
use crate::connection::close::{Answer, Ending};
use crate::connection::identity::{ConnectionIds, write_new_id};
use crate::connection::redundancy::{AGE_ROOM, Redundant, note_repeatable, write_repair, write_repeats};
use crate::recovery::{Control, Received, Record};
use crate::time::Time;
use crate::wire::cursor::Writer;
use crate::wire::grease::Grease;
use crate::wire::limits::Limits;
use crate::wire::settings::Settings;
use crate::wire::{ack, datagram, frame, varint};
use core::ops::Range;

/// The packet that was composed.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) number: u64,
    /// The place in the buffer of the frames that repairs cover; they end at the seal.
    pub(super) content: Range<usize>,
    /// The greatest packet number that the packet acknowledges.
    pub(super) acked_up_to: Option<u64>,
    /// The receive window that the packet reports.
    pub(super) window: Option<u64>,
    /// A message did not fit into the packet.
    pub(super) is_full: bool,
    pub(super) is_ack_eliciting: bool,
    pub(super) is_repair: bool,
    /// The packet holds nothing that justifies a datagram.
    pub(super) is_void: bool,
    /// Age of the packet's oldest message, in ms.
    pub(super) age_ms: u16,
    /// New messages whose first byte is in the packet.
    pub(super) messages: u32,
    pub(super) new_payload_bytes: u32,
    /// Messages and fragments retransmitted.
    pub(super) resent: u32,
    /// Bytes of messages of earlier packets.
    pub(super) repeated_bytes: usize,
}

/// Room in addition to the ranges of an acknowledgement: its other fields, a PING, a CLOSE without reason.
const BYTES_BESIDE_ACK: usize = 64;
/// Room that REPAIRED leaves: for the ACK after it with some ranges, and for the ACK's other fields. A datagram that is
/// too short for both has only the ACK.
const BYTES_BEHIND_REPAIRED: usize = 2 * BYTES_BESIDE_ACK;
/// A packet that would be a little too short to be one of equal segments is padded, by this fraction of it at most.
const PADDING_PART_MAX: usize = 16;

impl Connection {
    /// Writes the frames. Nothing is sent yet: [`Connection::settle`] must follow, unless the packet is void.
    #[inline]
    pub(super) fn compose(&mut self, now: Time, buffer: &mut [u8], decision: &Decision) -> Composed {
        let Decision { overhead, ending, .. } = *decision;
        let mut writer = Writer::new(&mut buffer[..decision.space.bytes - overhead]);
        datagram::encode_packet_header(&mut writer, self.remote_id());
        writer.truncated(decision.number);
        let capacity = writer.room();
        let tells_time = self.is_open() && ending.is_none();
        let mut packet = Packet::new(writer, &mut self.sending.ledger, capacity + decision.beyond());
        let pending = &mut self.sending.pending;

        let taken = self.channels.held_bytes() + self.receiving.window.undelivered.window;
        let (received, window) = (&mut self.receiving.received, free_window(self.terms.receives, taken));
        let acked_up_to = if decision.ack { write_ack(now, &mut packet, received, window) } else { None };
        packet.messages_from = packet.writer.len();
        pending.ping |= acked_up_to.is_some() && decision.asks_back;

        let has_ended = ending.is_some_and(|answer| write_ending(&mut packet, answer, self.ending.as_deref()));
        if pending.accept {
            pending.accept = !write_accept(&mut packet, self.identity.ids, &self.terms.settings);
        }
        if pending.connect {
            pending.connect = !write_connect(&mut packet, self.handshake.as_deref());
        }
        let has_time = tells_time && self.time.write(now, &mut packet);
        let (channels, redundancy, settings) = (&mut self.channels, &mut self.redundancy, &self.terms.settings);
        let Written { is_full, repeated_bytes } = write_messages(&mut packet, channels, redundancy, settings, decision);
        if packet.room() > 0 && core::mem::take(&mut pending.ping) && !packet.is_ack_eliciting && ending.is_none() {
            write_ping(&mut packet, capacity);
        }
        if pending.new_id && packet.is_ack_eliciting {
            pending.new_id = !write_new_id(&mut packet, &self.identity.spare);
        }
        let ip_overhead = overhead + usize::from(self.path.current.carrier.overhead_bytes);
        let is_last_chance = decision.beyond() == 0 && acked_up_to.is_none();
        let is_repair = decision.repair
            && !packet.is_ack_eliciting
            && ending.is_none()
            && write_repair(now, &mut self.redundancy, &mut packet, ip_overhead, is_last_chance);
        // Nothing fits, or only an acknowledgement that was sent before would be written: the window is full, or the
        // budget is spent.
        let has_point = is_repair || has_time || decision.has_ack_news && acked_up_to.is_some() || has_ended;
        let is_void = !packet.is_ack_eliciting && (!has_point || packet.room() == capacity);
        if is_full && !is_void {
            pad(&mut packet, decision);
        }
        Composed {
            number: packet.number,
            content: packet.messages_from..packet.writer.len(),
            acked_up_to,
            window,
            is_full,
            is_ack_eliciting: packet.is_ack_eliciting,
            is_repair,
            is_void,
            age_ms: packet.age_ms,
            messages: packet.messages,
            new_payload_bytes: packet.new_payload_bytes,
            resent: packet.resent,
            repeated_bytes,
        }
    }
}

/// The messages that found room.
struct Written {
    is_full: bool,
    repeated_bytes: usize,
}

/// Writes retransmissions, messages of earlier packets, and new ones, in this order; then how late they are.
#[inline]
fn write_messages(
    packet: &mut Packet<'_>,
    channels: &mut Channels,
    redundancy: &mut Redundant,
    settings: &Settings,
    decision: &Decision,
) -> Written {
    let Decision { retransmission, reserve, class, .. } = *decision;
    let has_copies = retransmission == RetransmitScope::WithCopies;
    packet.reserve = if has_copies { AGE_ROOM } else { reserve.saturating_sub(decision.beyond()) };
    // A message that fits only without the reserve is fragmented, or it would wait forever.
    packet.capacity = packet.capacity.saturating_sub(if has_copies { AGE_ROOM } else { reserve });
    let mut written = Written { is_full: false, repeated_bytes: 0 };
    if retransmission != RetransmitScope::Nothing {
        written.is_full = !channels.resend(packet, |class| !has_copies || redundancy.sends_copies(class));
    }
    if let Some(class) = class.filter(|_| !written.is_full) {
        packet.target = decision.target;
        if decision.repeats {
            written.repeated_bytes = write_repeats(redundancy, channels, packet, class);
        }
        packet.ledger.begin_part();
        written.is_full = channels.send_new(packet, settings, class);
        note_repeatable(redundancy, channels, packet, class);
    }
    packet.reserve = 0;
    if has_copies && packet.resent > 0 {
        packet.age_ms = packet.age_ms.max(decision.age_ms);
    }
    if packet.age_ms > 0 && packet.room() >= AGE_ROOM {
        frame::encode_late(&mut packet.writer, packet.age_ms);
    }
    written
}

/// The receive window to report to the peer: none while the whole window is free.
fn free_window(limits: Limits, taken: u64) -> Option<u64> {
    let window = u64::from(limits.window_bytes);
    (taken > window).then(|| (2 * window).saturating_sub(taken))
}

/// Writes the numbers of the received packets, and returns the largest; `None` if there is nothing to acknowledge.
fn write_ack(now: Time, packet: &mut Packet<'_>, received: &mut Received, window: Option<u64>) -> Option<u64> {
    let delay_us = received.delay(now).as_micros() as u64;
    // The greatest number that we saw may be this far behind the peer's next number: the peer keeps fewer in flight.
    const DISTANCE: u64 = 8_000;
    ack::encode_repaired(&mut packet.writer, received.repaired(), DISTANCE, BYTES_BEHIND_REPAIRED);
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
    let is_written = ack::encode_ack(&mut packet.writer, affordable, DISTANCE, delay_us, window);
    if !is_written {
        return None;
    }
    received.on_ack_sent(packet.number);
    received.next().checked_sub(1)
}

/// Writes CLOSE or CLOSED; false if it has no room.
fn write_ending(packet: &mut Packet<'_>, answer: Answer, ending: Option<&Ending>) -> bool {
    match (answer, ending) {
        (Answer::Close, Some(ending)) => {
            // A reason that does not fit next to an acknowledgement is cut at a character boundary.
            let mut reason = ending.reason();
            while packet.room() < frame::close_len(ending.code(), reason) && !reason.is_empty() {
                reason = &reason[..reason.floor_char_boundary(reason.len() - 1)];
            }
            let has_room = packet.room() >= frame::close_len(ending.code(), reason);
            if has_room {
                frame::encode_close(&mut packet.writer, ending.code(), reason);
            }
            has_room
        }
        _ => {
            let has_room = packet.room() >= frame::CLOSED_BYTES;
            if has_room {
                frame::encode_closed(&mut packet.writer);
            }
            has_room
        }
    }
}

/// Writes the settings; false if they have no room.
fn write_accept(packet: &mut Packet<'_>, ids: ConnectionIds, settings: &Settings) -> bool {
    let grease = Grease::new(u64::from(ids.local) << 24 | u64::from(ids.remote));
    let settings = grease.append_entry(settings.encode());
    if packet.room() < frame::accept_len(&settings) + Grease::FRAME_BYTES_MAX {
        return false;
    }
    frame::encode_accept(&mut packet.writer, ids.local, &settings);
    grease.write_frame(&mut packet.writer);
    packet.record(Record::Control(Control::Accept));
    true
}

/// Writes CONNECT: the client's token and limits; false if they have no room.
fn write_connect(packet: &mut Packet<'_>, handshake: Option<&ClientHandshake>) -> bool {
    let Some(handshake) = handshake else { return true };
    if packet.room() < frame::connect_len(handshake.token(), handshake.limits()) + Grease::FRAME_BYTES_MAX {
        return false;
    }
    frame::encode_connect(&mut packet.writer, handshake.token(), handshake.limits());
    handshake.grease().write_frame(&mut packet.writer);
    packet.record(Record::Control(Control::Connect));
    true
}

/// Makes the packet ask for an acknowledgement: by a PING after other frames; a packet without frames does so anyway.
fn write_ping(packet: &mut Packet<'_>, capacity: usize) {
    if packet.room() < capacity {
        frame::encode_ping(&mut packet.writer);
    }
    packet.is_ack_eliciting = true;
}

/// Pads a packet to the length of the others, if little is missing.
#[inline]
fn pad(packet: &mut Packet<'_>, decision: &Decision) {
    let Some(length) = decision.space.equal_to else { return };
    let missing = (length - decision.overhead).saturating_sub(packet.writer.len());
    // Padding is covered by repairs, too, and must leave them as much room as messages do.
    let room = packet.room().saturating_sub(decision.reserve.saturating_sub(decision.beyond()));
    if missing <= length / PADDING_PART_MAX {
        packet.writer.zeros(missing.min(room));
    }
}
