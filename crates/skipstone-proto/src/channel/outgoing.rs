//! The sending side of a channel: messages that wait, that are in flight, and that must be retransmitted. `send` writes
//! them into packets, `fate` handles acknowledgement and loss.
//!
//! A message gets its sequence when its first byte is sent, so that a message which was never sent can be dropped
//! without a gap.

mod content;
mod fate;
mod flight;
mod send;

use super::encoded_batch::{BatchSlice, EncodedBatch};
use super::packet::SendWindow;
use super::transfers::{OutgoingTransfer, Transfers};
use super::{GivenUp, MessageId, Submission, window_cost};
use crate::seq::Seq;
use crate::shrink_queue::shrink_queue;
use crate::wire::redundancy::RedundancyMode;
use crate::wire::settings::{ChannelRule, DeliveryMode, Overflow};
use bytes::Bytes;
use content::Content;
use flight::{Flight, MessageState, PendingMessages};
use skipstone_prefetch::prefetch;
use std::collections::VecDeque;
use std::sync::Arc;

/// The messages of a channel that wait to be sent or acknowledged.
#[derive(Debug)]
pub(crate) struct Outgoing {
    channel: u16,
    mode: DeliveryMode,
    wants_receipts: bool,
    /// Whether the channel is unreliable and the next packets repeat the messages of a packet: payloads are kept for
    /// that.
    is_repeating: bool,
    /// Sequence of the next message whose first byte is sent.
    next: Seq,
    /// Sequence of `flight[0]`.
    first: Seq,
    /// The greatest sequence that the peer acknowledged, plus one.
    acked_to: Seq,
    pending: VecDeque<PendingMessages>,
    flight: VecDeque<Flight>,
    lost: VecDeque<Seq>,
    /// The newest message in flight, while some of its fragments have never been sent.
    is_partly_sent: bool,
    queued_bytes: usize,
    /// The part of these bytes that is in `pending`.
    pending_bytes: usize,
    /// Messages in `pending`.
    pending_messages: usize,
}

/// The fate of a message, if its sender requested a receipt or must be informed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// The message.
    pub id: MessageId,
    /// Its channel.
    pub channel: u16,
    /// Whether it was acknowledged, or why it was given up.
    pub fate: Result<(), GivenUp>,
}

/// The result of queueing a new message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The message waits for its turn.
    Queued,
    /// The message waits, and the oldest waiting one was dropped for it.
    QueuedForOldest,
    /// The message was refused.
    Refused,
    /// The message was refused, and the channel's rule is to disconnect.
    Disconnect,
}

/// Why sending stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Nothing is left.
    Empty,
    /// The packet has no room for the next message.
    PacketFull,
    /// The channel has had its turn.
    TurnOver,
    /// The peer cannot hold more.
    WindowFull,
}

/// Distance by which the receiver of a channel without retransmission may be behind before the channel keeps its state.
const UNCERTAIN_MAX: u32 = 4_096;
/// Assumed distance when such a channel wakes. Below `UNCERTAIN_MAX`, so that losses that no acknowledgement will ever
/// follow do not keep the state of a channel that has nothing to send.
const UNCERTAIN_AT_WAKE: u32 = 2_048;
/// Messages of one channel in flight; a quarter of what the receiving side accepts.
const FLIGHT_MAX: usize = 1 << 16;
/// Approximate bytes of a message's header.
const HEADER_BYTES: usize = 5;
/// The capacity that a recycled queue keeps, in entries: a channel that alternates between idle and active each tick
/// allocates nothing.
const CAPACITY_KEPT: usize = 64;
/// The same for an active queue, beyond twice its content.
const CAPACITY_TRIMMED: usize = 8;

impl Outgoing {
    /// Prefetches the queues: the waiting messages, and both ends of those in flight.
    pub(crate) fn prefetch(&self) {
        prefetch(self.pending.as_slices().0);
        self.flight.front().into_iter().chain(self.flight.back()).for_each(prefetch);
    }

    /// A channel whose next message has this sequence. Its class determines its redundancy.
    pub(crate) fn new(channel: u16, rule: &ChannelRule, redundancy: RedundancyMode, next: Seq) -> Self {
        let mut outgoing = Outgoing {
            channel,
            mode: rule.mode,
            wants_receipts: false,
            is_repeating: false,
            next,
            first: next,
            acked_to: next,
            pending: VecDeque::new(),
            flight: VecDeque::new(),
            lost: VecDeque::new(),
            is_partly_sent: false,
            queued_bytes: 0,
            pending_bytes: 0,
            pending_messages: 0,
        };
        outgoing.reuse(channel, rule, redundancy, next);
        outgoing
    }

    /// Reuses an idle channel's state for another one; its queues keep a little memory.
    pub(crate) fn reuse(&mut self, channel: u16, rule: &ChannelRule, redundancy: RedundancyMode, next: Seq) {
        debug_assert!(self.pending.is_empty() && self.flight.is_empty(), "only an idle channel is reused");
        self.pending.shrink_to(CAPACITY_KEPT);
        self.flight.shrink_to(CAPACITY_KEPT);
        self.lost.clear();
        self.lost.shrink_to(CAPACITY_KEPT);
        self.channel = channel;
        self.mode = rule.mode;
        self.wants_receipts = rule.receipts;
        self.is_repeating = matches!(redundancy, RedundancyMode::Repeat { .. }) && !rule.mode.is_reliable();
        (self.next, self.first) = (next, next);
        let is_certain = next == Seq(0) || !self.mode.is_sequenced();
        self.acked_to = if is_certain { next } else { next.plus(UNCERTAIN_AT_WAKE.wrapping_neg()) };
    }

    /// Releases memory if there is room for many more messages than needed.
    pub(crate) fn trim(&mut self) {
        shrink_queue(&mut self.pending, CAPACITY_TRIMMED);
        shrink_queue(&mut self.flight, CAPACITY_TRIMMED);
        shrink_queue(&mut self.lost, CAPACITY_TRIMMED);
    }

    /// The sequence of the next message: the only state that is kept of an idle channel.
    pub(crate) fn next(&self) -> Seq {
        self.next
    }

    /// Whether only the counter must be kept.
    pub(crate) fn is_idle(&self) -> bool {
        let is_certain = !self.mode.is_sequenced() || self.next.distance_from(self.acked_to) <= UNCERTAIN_MAX as i32;
        self.pending.is_empty() && self.flight.is_empty() && is_certain
    }

    /// Messages that wait or are in flight.
    pub(crate) fn queued_messages(&self) -> usize {
        self.pending_messages + self.flying()
    }

    /// Bytes of the messages that wait or are in flight.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// Whether a message waits to be sent for the first time.
    pub(crate) fn has_new(&self) -> bool {
        !self.pending.is_empty() || self.is_partly_sent
    }

    /// Its new messages, and the approximate bytes that they will take in packets.
    pub(crate) fn new_size(&self) -> (usize, usize) {
        let unfinished = self.flight.back().filter(|_| self.is_partly_sent).map_or(0, |flight| {
            let sent_to = flight.fragments.as_ref().map_or(0, |fragments| fragments.sent_to as usize);
            flight.content.payload_bytes() - sent_to
        });
        let messages = self.pending_messages + usize::from(self.is_partly_sent);
        (messages, unfinished + self.pending_bytes + messages * HEADER_BYTES)
    }

    /// Whether its next message waits until the peer can hold it.
    pub(crate) fn is_held_back(&self, window: &SendWindow) -> bool {
        let is_too_long = |next: &PendingMessages| {
            let cost = window_cost(next.content.first().len());
            self.mode.is_reliable() && !window.admits(cost) || self.flying() >= FLIGHT_MAX
        };
        !self.is_partly_sent && self.pending.front().is_some_and(is_too_long)
    }

    /// Whether something reliable has not been acknowledged.
    pub(crate) fn owes(&self) -> bool {
        self.mode.is_reliable() && (!self.pending.is_empty() || !self.flight.is_empty())
    }

    /// Queues a message, or returns the rule's reaction to a full queue.
    pub(crate) fn queue(
        &mut self,
        rule: &ChannelRule,
        message: Submission,
        window: &mut SendWindow,
        receipts: &mut Vec<Receipt>,
    ) -> Admission {
        let Submission { payload, id, age } = message;
        let age_ms = if age.is_zero() { 0 } else { u16::try_from(age.as_millis()).unwrap_or(u16::MAX) };
        let is_sequenced = self.mode == DeliveryMode::ReliableSequenced;
        if !is_sequenced && !self.is_full(rule, payload.len(), (0, 0)) {
            self.push_pending(PendingMessages { content: Content::One(payload), id, age_ms });
            return Admission::Queued;
        }
        let waiting = (self.pending_messages, self.pending_bytes);
        // A newer sequenced message replaces all waiting ones, which makes room for it.
        let room_made = if is_sequenced { waiting } else { (0, 0) };
        let mut admission = Admission::Queued;
        if self.is_full(rule, payload.len(), room_made) {
            match rule.overflow {
                Overflow::Refuse => return Admission::Refused,
                Overflow::Disconnect => return Admission::Disconnect,
                // Dropping is of no use if the message would not fit even then.
                Overflow::DropOldest if self.is_full(rule, payload.len(), waiting) => return Admission::Refused,
                Overflow::DropOldest => admission = Admission::QueuedForOldest,
            }
        }
        if is_sequenced {
            self.supersede(window, receipts);
        }
        while self.is_full(rule, payload.len(), (0, 0)) {
            let oldest = self.pop_pending().expect("without what waits there is room");
            self.give_up(oldest.1, GivenUp::Dropped, receipts);
        }
        self.push_pending(PendingMessages { content: Content::One(payload), id, age_ms });
        admission
    }

    /// Queues all messages of a batch together. Returns `false` if each must be queued by itself, because the channel
    /// has receipts, a newer message replaces an older one, or there is not enough room for all.
    pub(crate) fn queue_batch(&mut self, rule: &ChannelRule, batch: &Arc<EncodedBatch>) -> bool {
        let part = BatchSlice::all(batch);
        let (messages, bytes) = (self.queued_messages() + part.count(), self.queued_bytes + part.payload_bytes());
        let has_room = messages <= rule.queue_messages_max as usize && bytes <= rule.queue_bytes_max as usize;
        let are_alike = self.is_ordinal() && !self.wants_receipts && has_room;
        if are_alike {
            self.push_pending(PendingMessages { content: Content::Slice(part), id: MessageId::default(), age_ms: 0 });
        }
        are_alike
    }

    fn push_pending(&mut self, pending: PendingMessages) {
        let bytes = pending.content.payload_bytes();
        self.queued_bytes += bytes;
        self.pending_bytes += bytes;
        self.pending_messages += pending.content.count();
        self.pending.push_back(pending);
    }

    /// Messages in flight, including those whose fate is decided.
    fn flying(&self) -> usize {
        self.next.distance_from(self.first) as usize
    }

    /// Adds the unacknowledged messages of at least this many bytes.
    pub(crate) fn list_transfers(&self, bytes_min: usize, transfers: &mut Transfers) {
        let channel = self.channel;
        let mut add = |id, payload: &Bytes, acknowledged_bytes| {
            if payload.len() >= bytes_min && transfers.has_room() {
                let total_bytes = payload.len() as u32;
                transfers.outgoing.push(OutgoingTransfer { id, channel, acknowledged_bytes, total_bytes });
            }
        };
        for flight in self.flight.iter().filter(|flight| flight.state != MessageState::Done) {
            if let Content::One(payload) = &flight.content {
                let acked = flight.fragments.as_ref().map_or(0, |fragments| fragments.acked.len());
                add(flight.id, payload, acked as u32);
            }
        }
        for pending in &self.pending {
            match &pending.content {
                Content::One(payload) => add(pending.id, payload, 0),
                Content::Slice(slice) => slice.named().for_each(|(payload, id)| add(id, payload, 0)),
            }
        }
    }

    /// Whether lost messages wait for retransmission.
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The connection ended: every message that waits or is in flight is given up.
    pub(crate) fn give_up_all(&mut self, receipts: &mut Vec<Receipt>) {
        if self.wants_receipts {
            let flying = self.flight.iter().filter(|flight| flight.state != MessageState::Done).map(|flight| flight.id);
            let waiting = self.pending.iter().map(|pending| pending.id);
            let (channel, fate) = (self.channel, Err(GivenUp::Closed));
            receipts.extend(flying.chain(waiting).map(|id| Receipt { id, channel, fate }));
        }
    }

    /// Reliable ordered and unordered: the receiver's reference is the first that it lacks.
    fn is_ordinal(&self) -> bool {
        matches!(self.mode, DeliveryMode::ReliableOrdered | DeliveryMode::ReliableUnordered)
    }

    /// Whether there is no room for a message of this length, once `(messages, bytes)` of the others are gone.
    fn is_full(&self, rule: &ChannelRule, length: usize, (messages, bytes): (usize, usize)) -> bool {
        self.queued_messages() - messages >= rule.queue_messages_max as usize
            || self.queued_bytes - bytes + length > rule.queue_bytes_max as usize
    }

    /// Removes and returns the oldest message that was never sent.
    fn pop_pending(&mut self) -> Option<(Bytes, MessageId)> {
        let (payload, id, _) = self.take_pending()?;
        self.queued_bytes -= payload.len();
        Some((payload, id))
    }

    /// The next message that waits, on its way into a packet or out of the queue.
    fn take_pending(&mut self) -> Option<(Bytes, MessageId, u16)> {
        let PendingMessages { content, id, age_ms } = self.pending.front_mut()?;
        let age_ms = *age_ms;
        let (payload, own_id, is_last) = content.pop();
        let id = own_id.unwrap_or(*id);
        if is_last {
            self.pending.pop_front();
        }
        self.pending_bytes -= payload.len();
        self.pending_messages -= 1;
        Some((payload, id, age_ms))
    }

    /// Reports that a message is given up: on a reliable channel always, since it was accepted.
    pub(super) fn give_up(&self, id: MessageId, why: GivenUp, receipts: &mut Vec<Receipt>) {
        if self.wants_receipts || self.mode.is_reliable() {
            receipts.push(Receipt { id, channel: self.channel, fate: Err(why) });
        }
    }
}
