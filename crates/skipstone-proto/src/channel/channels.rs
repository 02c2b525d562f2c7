//! All channels of a connection: the order in which they send, the peer's receive window, and the messages that are
//! sent and received.
//!
//! No operation walks all channels of a connection: only those with something to send are touched.

mod queueing;

use super::classes::{ClassId, Classes};
use super::inbox::{Inbox, Messages};
use super::incoming::Arrival;
use super::outgoing::{Outgoing, Receipt, Stopped};
use super::packet::{Packet, SendWindow};
use super::schedule::Schedule;
use super::table::ChannelTable;
use super::transfers::Transfers;
use super::window_cost;
use crate::recovery::{Record, Resolved};
use crate::seq::Seq;
use crate::time::Duration;
use crate::wire::frame::Frames;
use crate::wire::message::{Message, Sequence};
use crate::wire::settings::Settings;
pub(crate) use queueing::Queued;
use skipstone_prefetch::Step;
use std::collections::VecDeque;

/// The channels of one connection.
#[derive(Debug)]
pub(crate) struct Channels {
    table: ChannelTable,
    schedule: Schedule,
    classes: Classes,
    resending: VecDeque<u32>,
    window: SendWindow,
    /// Window cost of messages that arrived and cannot be delivered yet.
    held_bytes: u64,
    /// Memory of these.
    held_footprint: u64,
    /// Whether a channel may hold incomplete unreliable messages.
    has_perishables: bool,
}

/// The position in the message frames of a packet, from which a frame without channel or sequence continues.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageCursor {
    sequence: Option<Seq>,
    age: Duration,
    /// The channel of the previous message, which stays active until the run ends.
    last_used: Option<(u16, u32)>,
}

impl MessageCursor {
    /// The beginning of a packet whose messages are late by this time.
    pub(crate) fn new(age: Duration) -> Self {
        MessageCursor { sequence: None, age, last_used: None }
    }

    /// Age of the packet's messages.
    pub(crate) fn age(&self) -> Duration {
        self.age
    }
}

impl Channels {
    /// No channel in use, and a peer with this receive window.
    pub(crate) fn new(window_bytes: u32, classes: Classes) -> Self {
        Channels {
            table: ChannelTable::default(),
            schedule: Schedule::default(),
            classes,
            resending: VecDeque::new(),
            window: SendWindow { taken: 0, limit: u64::from(window_bytes) },
            held_bytes: 0,
            held_footprint: 0,
            has_perishables: false,
        }
    }

    /// Whether a lost message waits for retransmission.
    pub(crate) fn has_lost(&self) -> bool {
        !self.resending.is_empty()
    }

    /// Whether a lost message of one of these classes waits for retransmission.
    pub(crate) fn has_lost_of(&self, is_wanted: impl Fn(ClassId) -> bool) -> bool {
        self.resending.iter().any(|slot| is_wanted(self.classes.of(self.table.peek(*slot).rule)))
    }

    /// Whether a message waits to be sent for the first time.
    pub(crate) fn has_new(&self) -> bool {
        !self.schedule.is_empty()
    }

    /// The class of the next packet with new messages; `None` if the peer can hold none of them. If there is only one
    /// class, the result is that class.
    #[inline]
    pub(crate) fn next_class(&self) -> Option<ClassId> {
        if self.classes.is_one() { Some(0) } else { self.next_class_of_several() }
    }

    fn next_class_of_several(&self) -> Option<ClassId> {
        let mut window = self.window;
        let level = (0..self.schedule.level_count()).find(|level| self.may_leave(*level, &mut window))?;
        Some(self.schedule.class(level))
    }

    /// Whether a message of this level may leave. The first message that the peer cannot hold closes the window: no
    /// other overtakes it.
    fn may_leave(&self, level: usize, window: &mut SendWindow) -> bool {
        self.schedule.slots(level).any(|slot| {
            let outgoing = &self.table.peek(slot).outgoing;
            let is_held_back = outgoing.is_held_back(window);
            if is_held_back {
                window.limit = window.taken;
            }
            !is_held_back && outgoing.has_new()
        })
    }

    /// Prefetches the channel that was used last; if that is cached, its queues.
    pub(crate) fn prefetch(&self, step: Step) {
        self.table.prefetch(step);
    }

    /// The class of the channel of a record, if that channel has work. If there is only one class, the result is that
    /// class.
    pub(crate) fn class_of(&self, record: Record) -> Option<ClassId> {
        if self.classes.is_one() {
            return Some(0);
        }
        Some(self.classes.of(self.table.peek(self.slot_of(record)?).rule))
    }

    /// Whether a message of this class waits to be sent for the first time.
    pub(crate) fn has_new_of(&self, class: ClassId) -> bool {
        self.schedule.slots_of(class).next().is_some()
    }

    /// Number of messages of a class that wait to be sent for the first time, and the approximate bytes that they will
    /// take in packets.
    pub(crate) fn new_size(&self, class: ClassId) -> (usize, usize) {
        let sizes = self.schedule.slots_of(class).map(|slot| self.table.peek(slot).outgoing.new_size());
        sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1))
    }

    /// Whether something reliable has not been acknowledged.
    pub(crate) fn owes(&self) -> bool {
        self.table.iter().any(|channel| channel.outgoing.owes())
    }

    /// Writes the lost messages of these classes, the oldest first. Returns `false` if the packet has no room for all
    /// of it.
    pub(crate) fn resend(&mut self, packet: &mut Packet<'_>, is_wanted: impl Fn(ClassId) -> bool) -> bool {
        let mut at = 0;
        while let Some(slot) = self.resending.get(at).copied() {
            let channel = self.table.slot(slot);
            if !is_wanted(self.classes.of(channel.rule)) {
                at += 1;
                continue;
            }
            packet.channel = channel.id;
            if !channel.outgoing.resend(packet) {
                return false;
            }
            channel.is_resending = false;
            self.resending.remove(at);
            self.table.release_if_idle(slot);
        }
        true
    }

    /// Writes new messages of one class by priority and turn, as long as no other class is next. True if the packet has
    /// no room for the next one.
    pub(crate) fn send_new(&mut self, packet: &mut Packet<'_>, settings: &Settings, class: ClassId) -> bool {
        // A message that the peer cannot hold yet keeps its place: nothing reliable overtakes it in this packet.
        let mut window = self.window;
        let (mut from, mut stuck, mut is_full) = (0, 0, false);
        while let Some((level, slot)) = self.schedule.front(from) {
            if level != from {
                (from, stuck) = (level, 0);
            }
            if self.schedule.class(level) != class {
                if self.may_leave(level, &mut window) {
                    break;
                }
                from = level + 1;
                continue;
            }
            let channel = self.table.slot(slot);
            packet.channel = channel.id;
            let turn = self.schedule.turn(level, settings.channels[usize::from(channel.rule)].weight);
            let before = packet.writer.len();
            let stopped = channel.outgoing.send_new(packet, &mut window, turn);
            if packet.writer.len() > before {
                self.schedule.serve(level);
            }
            match stopped {
                Stopped::PacketFull => {
                    is_full = true;
                    break;
                }
                Stopped::TurnOver => {
                    self.schedule.rotate(level);
                    stuck = 0;
                }
                Stopped::Empty => {
                    channel.is_scheduled = false;
                    self.schedule.pop(level);
                    self.table.release_if_idle(slot);
                }
                Stopped::WindowFull => {
                    window.limit = window.taken;
                    self.schedule.rotate(level);
                    stuck += 1;
                    if stuck >= self.schedule.waiting(level) {
                        (from, stuck) = (level + 1, 0);
                    }
                }
            }
        }
        self.schedule.end_packet();
        self.window.taken = window.taken;
        is_full
    }

    /// Writes messages in flight again.
    pub(crate) fn repeat(&mut self, packet: &mut Packet<'_>, record: Record) {
        let Some(slot) = self.slot_of(record) else { return };
        let channel = self.table.slot(slot);
        packet.channel = channel.id;
        channel.outgoing.repeat(packet, record);
    }

    /// No packet repeats these messages any more.
    pub(crate) fn end_repeats(&mut self, record: Record) {
        let Some(slot) = self.slot_of(record) else { return };
        self.table.slot(slot).outgoing.end_repeats(record);
        self.table.release_if_idle(slot);
    }

    /// Approximate bytes that this would take.
    pub(crate) fn repeat_size(&self, record: Record) -> usize {
        self.slot_of(record).map_or(0, |slot| self.table.peek(slot).outgoing.repeat_size(record))
    }

    /// A packet that contained this record was acknowledged.
    pub(crate) fn on_acked(&mut self, resolved: Resolved, receipts: &mut Vec<Receipt>) {
        let Some(slot) = self.slot_of(resolved.record) else { return };
        self.table.slot(slot).outgoing.on_acked(resolved.record, &mut self.window, receipts);
        self.table.release_if_idle(slot);
    }

    /// A packet that contained this record is lost.
    pub(crate) fn on_lost(&mut self, resolved: Resolved, receipts: &mut Vec<Receipt>) {
        self.requeue(resolved, receipts, Outgoing::on_lost);
    }

    /// A packet that contained this record is suspected lost, and its content is retransmitted.
    pub(crate) fn on_suspected(&mut self, resolved: Resolved, receipts: &mut Vec<Receipt>) {
        self.requeue(resolved, receipts, Outgoing::on_suspected);
    }

    fn requeue(
        &mut self,
        resolved: Resolved,
        receipts: &mut Vec<Receipt>,
        take: impl FnOnce(&mut Outgoing, Resolved, &mut SendWindow, &mut Vec<Receipt>),
    ) {
        let Some(slot) = self.slot_of(resolved.record) else { return };
        let channel = self.table.slot(slot);
        take(&mut channel.outgoing, resolved, &mut self.window, receipts);
        if channel.outgoing.has_lost() && !channel.is_resending {
            channel.is_resending = true;
            self.resending.push_back(slot);
        }
        // The rest of a message that is given up half-way does not leave.
        if channel.is_scheduled && !channel.outgoing.has_new() {
            channel.is_scheduled = false;
            self.schedule.remove(slot);
        }
        self.table.release_if_idle(slot);
    }

    /// Sets the receive window that the peer's newest acknowledgement states.
    pub(crate) fn on_window(&mut self, limit: u64) {
        self.window.limit = limit;
    }

    /// Handles a message frame; whole messages that may be delivered go into the `inbox`. The caller has checked that a
    /// rule covers the channel, and calls [`Channels::end_run`] before anything else. `room` is the window cost that
    /// unreliable messages may still take.
    pub(crate) fn on_message(
        &mut self,
        settings: &Settings,
        cursor: &mut MessageCursor,
        message: &Message<'_>,
        room: u64,
        inbox: &mut Inbox,
    ) -> Arrival {
        let slot = match cursor.last_used {
            Some((channel, slot)) if channel == message.channel => slot,
            _ => {
                self.end_run(cursor);
                let Some(slot) = self.table.activate(message.channel, settings) else { return Arrival::Malformed };
                cursor.last_used = Some((message.channel, slot));
                slot
            }
        };
        let channel = self.table.slot(slot);
        cursor.sequence = match message.sequence {
            Sequence::None => None,
            Sequence::Next => cursor.sequence.map(Seq::next),
            Sequence::Truncated(truncated) => Some(Seq(truncated.resolve_seq(channel.incoming.next().0))),
        };
        // A fragment costs one piece, plus, once its message is whole, the cost of any whole message.
        let whole = message.fragment.map_or(0, |fragment| u64::from(fragment.total) / 16);
        let cost = window_cost(message.payload.len()) + window_cost(0) + whole;
        if room < cost && !settings.channels[usize::from(channel.rule)].mode.is_reliable() {
            return Arrival::NoRoom;
        }
        let footprint = channel.incoming.footprint();
        let arrival = channel.incoming.on_message(
            cursor.sequence,
            message.fragment,
            message.payload,
            inbox,
            &mut self.held_bytes,
        );
        self.held_footprint = self.held_footprint + channel.incoming.footprint() - footprint;
        self.has_perishables |= channel.incoming.has_perishable();
        arrival
    }

    /// Reads the next run of messages, if there is one and all of it is delivered at once. Else they must be read one
    /// by one.
    pub(crate) fn on_run(
        &mut self,
        cursor: &mut MessageCursor,
        frames: &mut Frames<'_>,
        inbox: &mut Inbox,
    ) -> Option<Messages> {
        let (Some((_, slot)), Some(sequence)) = (cursor.last_used, cursor.sequence) else { return None };
        let incoming = &mut self.table.slot(slot).incoming;
        if !incoming.is_straight(sequence.next()) {
            return None;
        }
        let run = frames.run();
        frames.skip_run(&run);
        incoming.advance(run.count);
        cursor.sequence = Some(sequence.plus(run.count));
        (run.count > 0).then(|| inbox.copy_run(&run))
    }

    /// Ends a run of messages: another frame follows, or the packet ends.
    pub(crate) fn end_run(&mut self, cursor: &mut MessageCursor) {
        if let Some((_, slot)) = cursor.last_used.take() {
            self.table.release_if_idle(slot);
        }
    }

    /// Releases memory that a backlog needed.
    pub(crate) fn trim(&mut self) {
        self.table.iter_mut().for_each(|channel| channel.outgoing.trim());
    }

    /// Releases memory that is kept for reuse.
    pub(crate) fn shrink(&mut self) {
        self.table.shrink();
        self.resending.shrink_to_fit();
    }

    /// Window cost of messages that arrived and cannot be delivered yet.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Memory of the peer's messages: messages that wait for earlier ones, and channels with state.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.held_footprint + self.table.memory_bytes()
    }

    /// Whether incomplete unreliable messages are held, whose fragments may never all arrive.
    pub(crate) fn has_perishables(&self) -> bool {
        self.has_perishables
    }

    /// Drops unreliable messages that were incomplete at the last call already; returns how many.
    pub(crate) fn expire(&mut self) -> u32 {
        self.has_perishables = false;
        let mut count = 0;
        for slot in 0..self.table.slot_count() {
            if self.table.is_in_use(slot) {
                let incoming = &mut self.table.slot(slot).incoming;
                let footprint = incoming.footprint();
                let (messages, cost) = incoming.expire();
                count += messages;
                self.held_bytes -= cost;
                self.held_footprint = self.held_footprint + incoming.footprint() - footprint;
                self.has_perishables |= incoming.has_perishable();
                self.table.release_if_idle(slot);
            }
        }
        count
    }

    /// The connection ended: everything not acknowledged is given up.
    pub(crate) fn give_up_all(&mut self, receipts: &mut Vec<Receipt>) {
        self.table.iter_mut().for_each(|channel| channel.outgoing.give_up_all(receipts));
    }

    /// Messages and their bytes that wait on a channel or are in flight.
    pub(crate) fn queued(&self, channel: u16) -> (u64, u64) {
        self.table.find(channel).map_or((0, 0), |slot| {
            let outgoing = &self.table.peek(slot).outgoing;
            (outgoing.queued_messages() as u64, outgoing.queued_bytes() as u64)
        })
    }

    /// The messages in transfer with at least this many bytes.
    pub(crate) fn transfers(&self, bytes_min: usize) -> Transfers {
        let mut transfers = Transfers::default();
        for channel in self.table.iter() {
            channel.outgoing.list_transfers(bytes_min, &mut transfers);
            channel.incoming.list_transfers(channel.id, bytes_min, &mut transfers);
        }
        transfers
    }

    /// Messages and bytes that wait or are in flight, and how many channels are active.
    pub(crate) fn depth(&self) -> Depth {
        let mut depth = Depth { channels: self.table.active(), held_bytes: self.held_bytes, ..Depth::default() };
        for channel in self.table.iter() {
            depth.messages += channel.outgoing.queued_messages() as u64;
            depth.bytes += channel.outgoing.queued_bytes() as u64;
        }
        depth
    }

    fn slot_of(&self, record: Record) -> Option<u32> {
        match record {
            Record::Messages { channel, .. } | Record::Fragment { channel, .. } => self.table.find(channel),
            Record::Control(_) => None,
        }
    }
}

/// Fill level of a connection's queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Depth {
    /// Messages that wait or are in flight.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Channels that have state.
    pub channels: u32,
    /// Window cost of messages that arrived and cannot be delivered yet.
    pub held_bytes: u64,
}
