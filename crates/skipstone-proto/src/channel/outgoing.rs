//! The sending side of a channel: what waits, what is in flight, what must be sent again.
//!
//! A message gets its sequence when its first byte is sent, so that one which never left can be dropped without a gap.

use super::packet::{Packet, Window};
use super::{GivenUp, MessageId, window_cost};
use crate::ranges::RangeSet;
use crate::recovery::Record;
use crate::seq::Seq;
use crate::wire::message::FragmentHeader;
use crate::wire::number::Truncated;
use crate::wire::settings::{ChannelRule, Mode, Overflow};
use bytes::Bytes;
use std::collections::VecDeque;

/// What a channel has still to send, or still to hear of.
#[derive(Debug)]
pub struct Outgoing {
    mode: Mode,
    wants_receipts: bool,
    /// Sequence of the next message whose first byte is sent.
    next: Seq,
    /// Sequence of `flight[0]`.
    first: Seq,
    /// The greatest sequence that the peer acknowledged, plus one.
    acked_to: Seq,
    pending: VecDeque<Pending>,
    flight: VecDeque<Flight>,
    lost: VecDeque<Seq>,
    /// The newest message in flight, while some of its fragments have never been sent.
    is_unfinished: bool,
    queued_bytes: usize,
    /// Of these, bytes in `pending`.
    pending_bytes: usize,
}

#[derive(Debug)]
struct Pending {
    payload: Bytes,
    id: MessageId,
}

#[derive(Debug)]
struct Flight {
    payload: Bytes,
    id: MessageId,
    /// The last packet that held it.
    sent_in: u64,
    state: State,
    fragments: Option<Box<Fragments>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    /// Acknowledged or given up.
    Done,
}

#[derive(Debug, Default)]
struct Fragments {
    /// Bytes below were sent at least once.
    sent_to: u32,
    acked: RangeSet,
    lost: RangeSet,
}

/// The fate of a message whose sender asked for it.
pub type Receipt = (MessageId, Result<(), GivenUp>);

/// What a full queue does to a new message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits for its turn.
    Queued,
    /// It waits, and the oldest waiting one was dropped for it.
    QueuedForOldest,
    /// It was not taken.
    Refused,
    /// It was not taken, and the channel's rule is that the connection ends.
    Disconnect,
}

/// Why sending stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing is left.
    Empty,
    /// The packet has no room for the next message.
    PacketFull,
    /// The channel has had its turn.
    TurnOver,
    /// The peer cannot hold more.
    WindowFull,
}

/// Messages of one channel in flight; a quarter of what the receiving side accepts.
const FLIGHT_MAX: usize = 1 << 16;
/// How far the receiver of a channel without retransmission may be behind before the channel keeps its state.
const UNCERTAIN_MAX: u32 = 4_096;
/// How far it is taken to be behind when such a channel wakes. Below `UNCERTAIN_MAX`, so that the losses that no
/// acknowledgement will ever follow do not keep the state of a channel that has nothing to send.
const UNCERTAIN_AT_WAKE: u32 = 2_048;
/// Messages of a channel that may overtake a late copy of one before its truncated sequence stands for another.
const OVERTAKING_MAX: u32 = 4_000;
/// Only fragments of an unreliable channel have a sequence, so its receiver may be far behind.
const UNRELIABLE_SEQUENCE_BITS: u8 = 28;
/// A fragment smaller than this is not worth the rest of a packet.
const FRAGMENT_BYTES_MIN: usize = 64;
/// How many entries a recycled queue keeps room for.
const CAPACITY_KEPT: usize = 16;

impl Outgoing {
    /// A channel whose next message has this sequence.
    pub fn new(rule: &ChannelRule, next: Seq) -> Self {
        let mut outgoing = Outgoing {
            mode: rule.mode,
            wants_receipts: false,
            next,
            first: next,
            acked_to: next,
            pending: VecDeque::new(),
            flight: VecDeque::new(),
            lost: VecDeque::new(),
            is_unfinished: false,
            queued_bytes: 0,
            pending_bytes: 0,
        };
        outgoing.reuse(rule, next);
        outgoing
    }

    /// Makes an idle channel's state serve another one; its queues keep a little memory.
    pub fn reuse(&mut self, rule: &ChannelRule, next: Seq) {
        debug_assert!(self.pending.is_empty() && self.flight.is_empty(), "only an idle channel is reused");
        self.pending.shrink_to(CAPACITY_KEPT);
        self.flight.shrink_to(CAPACITY_KEPT);
        self.lost.clear();
        self.lost.shrink_to(CAPACITY_KEPT);
        self.mode = rule.mode;
        self.wants_receipts = rule.receipts;
        (self.next, self.first) = (next, next);
        let is_certain = next == Seq(0) || !self.mode.is_sequenced();
        self.acked_to = if is_certain { next } else { next.plus(UNCERTAIN_AT_WAKE.wrapping_neg()) };
    }

    /// The sequence of the next message: what is kept of an idle channel.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// Whether only the counter need be kept.
    pub fn is_idle(&self) -> bool {
        let is_certain = !self.mode.is_sequenced() || self.next.distance_from(self.acked_to) <= UNCERTAIN_MAX as i32;
        self.pending.is_empty() && self.flight.is_empty() && is_certain
    }

    /// Messages that wait or are in flight.
    pub fn queued_messages(&self) -> usize {
        self.pending.len() + self.flight.len()
    }

    /// Bytes of the messages that wait or are in flight.
    pub fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// Whether a message waits to be sent for the first time.
    pub fn has_new(&self) -> bool {
        !self.pending.is_empty() || self.is_unfinished
    }

    /// Whether something reliable has not been acknowledged.
    pub fn owes(&self) -> bool {
        self.mode.is_reliable() && (!self.pending.is_empty() || !self.flight.is_empty())
    }

    /// Queues a message, or says what the rule does instead.
    pub fn queue(
        &mut self,
        rule: &ChannelRule,
        payload: Bytes,
        id: MessageId,
        window: &mut Window,
        receipts: &mut Vec<Receipt>,
    ) -> Admission {
        let is_sequenced = self.mode == Mode::ReliableSequenced;
        let waiting = (self.pending.len(), self.pending_bytes);
        // What a newer message takes the place of makes room for it.
        let room_made = if is_sequenced { waiting } else { (0, 0) };
        let mut admission = Admission::Queued;
        if self.is_full(rule, payload.len(), room_made) {
            match rule.overflow {
                Overflow::Refuse => return Admission::Refused,
                Overflow::Disconnect => return Admission::Disconnect,
                // Nothing is dropped in vain.
                Overflow::DropOldest if self.is_full(rule, payload.len(), waiting) => return Admission::Refused,
                Overflow::DropOldest => admission = Admission::QueuedForOldest,
            }
        }
        if is_sequenced {
            self.supersede(window, receipts);
        }
        while self.is_full(rule, payload.len(), (0, 0)) {
            let oldest = self.pop_pending().expect("without what waits there is room");
            self.give_up(oldest.id, GivenUp::Dropped, receipts);
        }
        self.queued_bytes += payload.len();
        self.pending_bytes += payload.len();
        self.pending.push_back(Pending { payload, id });
        admission
    }

    /// Writes messages that were never sent, until the packet, the window or the turn (in bytes) ends.
    pub fn send_new(&mut self, packet: &mut Packet<'_>, window: &mut Window, turn: &mut i64) -> Stopped {
        loop {
            if *turn <= 0 && self.has_new() {
                return Stopped::TurnOver;
            }
            if self.is_unfinished {
                if !self.send_fragment(packet, turn) {
                    return Stopped::PacketFull;
                }
                self.finish_unreliable();
                continue;
            }
            let Some(front) = self.pending.front() else { return Stopped::Empty };
            let length = front.payload.len();
            if self.mode.is_reliable() && !window.admits(window_cost(length)) || self.flight.len() >= FLIGHT_MAX {
                return Stopped::WindowFull;
            }
            let (channel, sequence) = (packet.channel, self.wire_sequence(self.next));
            let header = packet.run.header_len(channel, sequence, None, length);
            if header + length > packet.room() && header + length <= packet.capacity {
                return Stopped::PacketFull;
            }
            let Pending { payload, id } = self.pending.pop_front().expect("it is the front");
            self.pending_bytes -= length;
            let sequence_number = self.next;
            self.next = self.next.next();
            packet.messages += 1;
            if self.mode.is_reliable() {
                window.taken += window_cost(length);
            }
            if header + length > packet.room() {
                self.is_unfinished = true;
                let fragments = Some(Box::default());
                let sent_in = packet.number;
                self.flight.push_back(Flight { payload, id, sent_in, state: State::InFlight, fragments });
                continue;
            }
            packet.message(sequence, None, &payload);
            packet.new_payload_bytes += length as u32;
            *turn -= (header + length) as i64;
            self.track(packet, sequence_number, payload, id);
        }
    }

    /// Writes messages and fragments that were lost, until the packet is full. True if none is left.
    pub fn resend(&mut self, packet: &mut Packet<'_>) -> bool {
        while let Some(sequence) = self.lost.front().copied() {
            let index = sequence.distance_from(self.first);
            let is_wanted =
                index >= 0 && self.flight.get(index as usize).is_some_and(|flight| flight.state == State::Lost);
            if is_wanted && !self.resend_one(packet, index as usize, sequence) {
                return false;
            }
            self.lost.pop_front();
        }
        true
    }

    /// A packet that held this was acknowledged.
    pub fn on_acked(&mut self, record: Record, window: &mut Window, receipts: &mut Vec<Receipt>) {
        match record {
            Record::Messages { first, count, .. } => {
                let beyond = first.plus(u32::from(count));
                if beyond.is_after(self.acked_to) {
                    self.acked_to = beyond;
                }
                for step in 0..u32::from(count) {
                    if let Some(index) = self.flight_index(first.plus(step)) {
                        self.done(index, Ok(()), window, receipts);
                    }
                }
            }
            Record::Fragment { sequence, offset, length, .. } => {
                if sequence.next().is_after(self.acked_to) {
                    self.acked_to = sequence.next();
                }
                if let Some(index) = self.flight_index(sequence)
                    && let Some(fragments) = &mut self.flight[index].fragments
                {
                    fragments.acked.insert_range(u64::from(offset)..=u64::from(offset + length - 1));
                    if fragments.acked.len() == self.flight[index].payload.len() as u64 {
                        self.done(index, Ok(()), window, receipts);
                    }
                }
            }
            Record::Control(_) => {}
        }
        self.drop_done();
    }

    /// A packet that held this is lost.
    pub fn on_lost(&mut self, packet: u64, record: Record, window: &mut Window, receipts: &mut Vec<Receipt>) {
        match record {
            Record::Messages { first, count, .. } => {
                for step in 0..u32::from(count) {
                    if let Some(index) = self.flight_index(first.plus(step))
                        && self.flight[index].sent_in == packet
                        && self.flight[index].state == State::InFlight
                    {
                        self.lose(index, first.plus(step), window, receipts);
                    }
                }
            }
            Record::Fragment { sequence, offset, length, .. } => {
                let Some(index) = self.flight_index(sequence) else { return };
                if let Some(fragments) = &mut self.flight[index].fragments {
                    fragments.lost.insert_range(u64::from(offset)..=u64::from(offset + length - 1));
                    if self.flight[index].state == State::InFlight {
                        self.lose(index, sequence, window, receipts);
                    }
                }
            }
            Record::Control(_) => {}
        }
        self.drop_done();
    }

    /// A packet that held this is doubted, and its content wanted once more. What is not sent again waits for certainty.
    pub fn on_doubted(&mut self, packet: u64, record: Record, window: &mut Window, receipts: &mut Vec<Receipt>) {
        if self.mode.is_reliable() {
            self.on_lost(packet, record, window, receipts);
        }
    }

    /// Whether lost messages wait to be sent again.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The connection ended: every message that waits or is in flight is given up.
    pub fn give_up_all(&mut self, receipts: &mut Vec<Receipt>) {
        if self.wants_receipts {
            let flying = self.flight.iter().filter(|flight| flight.state != State::Done).map(|flight| flight.id);
            let waiting = self.pending.iter().map(|pending| pending.id);
            receipts.extend(flying.chain(waiting).map(|id| (id, Err(GivenUp::Closed))));
        }
    }

    /// Reliable ordered and unordered: the receiver's reference is the first that it lacks.
    fn is_ordinal(&self) -> bool {
        matches!(self.mode, Mode::ReliableOrdered | Mode::ReliableUnordered)
    }

    /// Whether there is no room for a message of this length, once `(messages, bytes)` of the others are gone.
    fn is_full(&self, rule: &ChannelRule, length: usize, (messages, bytes): (usize, usize)) -> bool {
        self.queued_messages() - messages >= rule.queue_messages_max as usize
            || self.queued_bytes - bytes + length > rule.queue_bytes_max as usize
    }

    /// The oldest message that was never sent; it counts no longer.
    fn pop_pending(&mut self) -> Option<Pending> {
        let oldest = self.pending.pop_front()?;
        self.queued_bytes -= oldest.payload.len();
        self.pending_bytes -= oldest.payload.len();
        Some(oldest)
    }

    /// The sequence as the wire has it; none for whole messages of an unreliable channel.
    fn wire_sequence(&self, sequence: Seq) -> Option<(u32, Truncated)> {
        (self.mode != Mode::Unreliable).then(|| self.truncated(sequence))
    }

    fn truncated(&self, sequence: Seq) -> (u32, Truncated) {
        if self.mode == Mode::Unreliable {
            let truncated = Truncated::with_bits_at_least(u64::from(sequence.0), 0, UNRELIABLE_SEQUENCE_BITS);
            return (sequence.0, truncated);
        }
        let oldest = if self.is_ordinal() { self.first } else { self.acked_to };
        let newest = if sequence.is_after(self.next) { sequence } else { self.next };
        let distance = newest.distance_from(oldest).unsigned_abs() + 1 + OVERTAKING_MAX;
        (sequence.0, Truncated::new(u64::from(sequence.0), u64::from(distance)))
    }

    /// Remembers a whole message that was just written, if its fate matters.
    fn track(&mut self, packet: &mut Packet<'_>, sequence: Seq, payload: Bytes, id: MessageId) {
        let matters = self.mode.is_reliable() || self.wants_receipts;
        packet.is_ack_eliciting = true;
        if matters || self.mode != Mode::Unreliable {
            packet.record(Record::Messages { channel: packet.channel, first: sequence, count: 1 });
        }
        if !matters {
            self.queued_bytes -= payload.len();
            self.push_done();
            return;
        }
        let kept = if self.mode.is_reliable() {
            payload
        } else {
            self.queued_bytes -= payload.len();
            Bytes::new()
        };
        let flight = Flight { payload: kept, id, sent_in: packet.number, state: State::InFlight, fragments: None };
        self.flight.push_back(flight);
    }

    /// A message of no further interest was sent: the sequences in flight stay contiguous.
    fn push_done(&mut self) {
        if self.flight.is_empty() {
            self.first = self.next;
            return;
        }
        let (payload, id, sent_in) = (Bytes::new(), MessageId::default(), 0);
        self.flight.push_back(Flight { payload, id, sent_in, state: State::Done, fragments: None });
    }

    /// Writes the next fragment of the newest message in flight. False if the packet has no room for one.
    fn send_fragment(&mut self, packet: &mut Packet<'_>, turn: &mut i64) -> bool {
        let sequence = self.next.plus(u32::MAX);
        let wire = self.truncated(sequence);
        let flight = self.flight.back_mut().expect("an unfinished message is in flight");
        let fragments = flight.fragments.as_mut().expect("an unfinished message has fragments");
        let rest = fragments.sent_to..flight.payload.len() as u32;
        let Some(end) = packet.fragment(sequence, wire, rest.clone(), &flight.payload) else { return false };
        packet.new_payload_bytes += end - rest.start;
        flight.sent_in = packet.number;
        fragments.sent_to = end;
        *turn -= i64::from(end - rest.start);
        self.is_unfinished = end < rest.end;
        true
    }

    /// An unreliable message whose last fragment left needs its payload no longer.
    fn finish_unreliable(&mut self) {
        if self.mode.is_reliable() || self.is_unfinished || self.wants_receipts {
            return;
        }
        let last = self.flight.back_mut().expect("it was just sent");
        last.state = State::Done;
        self.queued_bytes -= core::mem::take(&mut last.payload).len();
        last.fragments = None;
        self.drop_done();
    }

    fn resend_one(&mut self, packet: &mut Packet<'_>, index: usize, sequence: Seq) -> bool {
        let wire = self.truncated(sequence);
        let flight = &mut self.flight[index];
        if let Some(fragments) = &mut flight.fragments {
            fragments.acked.iter().for_each(|acked| fragments.lost.remove_range(acked));
            while let Some(range) = fragments.lost.first_range() {
                let rest = *range.start() as u32..*range.end() as u32 + 1;
                let Some(end) = packet.fragment(sequence, wire, rest, &flight.payload) else { return false };
                packet.resent += 1;
                flight.sent_in = packet.number;
                fragments.lost.remove_below(u64::from(end));
            }
        } else {
            let header = packet.run.header_len(packet.channel, Some(wire), None, flight.payload.len());
            if header + flight.payload.len() > packet.room() {
                if header + flight.payload.len() <= packet.capacity {
                    return false;
                }
                // Packets have become smaller since: from now on it goes in fragments.
                let mut fragments = Fragments { sent_to: flight.payload.len() as u32, ..Fragments::default() };
                fragments.lost.insert_range(0..=flight.payload.len() as u64 - 1);
                flight.fragments = Some(Box::new(fragments));
                return self.resend_one(packet, index, sequence);
            }
            packet.message(Some(wire), None, &flight.payload);
            packet.record(Record::Messages { channel: packet.channel, first: sequence, count: 1 });
            packet.resent += 1;
            flight.sent_in = packet.number;
        }
        self.flight[index].state = State::InFlight;
        true
    }

    fn lose(&mut self, index: usize, sequence: Seq, window: &mut Window, receipts: &mut Vec<Receipt>) {
        let is_newest = sequence.next() == self.next && self.pending.is_empty();
        match self.mode {
            Mode::Unreliable | Mode::UnreliableSequenced => {
                if sequence.next() == self.next {
                    self.is_unfinished = false;
                }
                self.done(index, Err(GivenUp::Lost), window, receipts);
            }
            // What went out in part is finished: the receiver holds the rest of it.
            Mode::ReliableSequenced if !is_newest && self.flight[index].fragments.is_none() => {
                self.done(index, Err(GivenUp::Superseded), window, receipts);
            }
            _ => {
                self.flight[index].state = State::Lost;
                self.lost.push_back(sequence);
            }
        }
    }

    /// Reliable-sequenced: a newer message comes, so what has not arrived need not.
    fn supersede(&mut self, window: &mut Window, receipts: &mut Vec<Receipt>) {
        while let Some(older) = self.pop_pending() {
            self.give_up(older.id, GivenUp::Superseded, receipts);
        }
        // A message of which a part has left is finished. Else its receiver would hold parts that nobody accounts for,
        // and a sender that is always interrupted would never deliver.
        for index in 0..self.flight.len() {
            if self.flight[index].state == State::Lost && self.flight[index].fragments.is_none() {
                self.done(index, Err(GivenUp::Superseded), window, receipts);
            }
        }
        let (first, flight) = (self.first, &self.flight);
        self.lost.retain(|sequence| {
            let index = sequence.distance_from(first);
            index >= 0 && flight.get(index as usize).is_some_and(|flight| flight.state == State::Lost)
        });
        self.drop_done();
    }

    fn flight_index(&self, sequence: Seq) -> Option<usize> {
        let index = sequence.distance_from(self.first);
        (index >= 0 && (index as usize) < self.flight.len()).then_some(index as usize)
    }

    fn done(&mut self, index: usize, fate: Result<(), GivenUp>, window: &mut Window, receipts: &mut Vec<Receipt>) {
        let flight = &mut self.flight[index];
        if flight.state == State::Done {
            return;
        }
        flight.state = State::Done;
        flight.fragments = None;
        let length = core::mem::take(&mut flight.payload).len();
        self.queued_bytes -= length;
        if self.mode.is_reliable() {
            window.taken -= window_cost(length);
        }
        if self.wants_receipts {
            receipts.push((flight.id, fate));
        }
    }

    fn drop_done(&mut self) {
        while self.flight.front().is_some_and(|flight| flight.state == State::Done) {
            self.flight.pop_front();
            self.first = self.first.next();
        }
    }

    fn give_up(&self, id: MessageId, why: GivenUp, receipts: &mut Vec<Receipt>) {
        if self.wants_receipts {
            receipts.push((id, Err(why)));
        }
    }
}

impl Packet<'_> {
    fn message(&mut self, sequence: Option<(u32, Truncated)>, fragment: Option<FragmentHeader>, payload: &[u8]) {
        let channel = self.channel;
        self.run.encode_header(&mut self.writer, channel, sequence, fragment, payload.len());
        self.writer.bytes(payload);
    }

    /// Writes as much of `rest` of a message as fits and returns where it ended; `None` if that is too little.
    fn fragment(
        &mut self,
        sequence: Seq,
        wire: (u32, Truncated),
        rest: core::ops::Range<u32>,
        payload: &[u8],
    ) -> Option<u32> {
        let header = Some(FragmentHeader { offset: rest.start, total: payload.len() as u32 });
        let wanted = (rest.end - rest.start) as usize;
        let overhead = self.run.header_len(self.channel, Some(wire), header, wanted.min(self.room()));
        let length = wanted.min(self.room().saturating_sub(overhead));
        if length < wanted.min(FRAGMENT_BYTES_MIN) || length == 0 {
            return None;
        }
        let end = rest.start + length as u32;
        self.message(Some(wire), header, &payload[rest.start as usize..end as usize]);
        let channel = self.channel;
        self.record(Record::Fragment { channel, sequence, offset: rest.start, length: length as u32 });
        Some(end)
    }
}
