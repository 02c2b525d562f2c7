//! The fate of messages: acknowledged, lost, superseded.

use super::content::Content;
use super::flight::{Flight, MessageState};
use super::{Outgoing, Receipt};
use crate::channel::packet::SendWindow;
use crate::channel::{GivenUp, MessageId};
use crate::recovery::{Record, Resolved};
use crate::seq::Seq;
use crate::wire::settings::DeliveryMode;

impl Outgoing {
    /// A packet that contained this record was acknowledged.
    pub(crate) fn on_acked(&mut self, record: Record, window: &mut SendWindow, receipts: &mut Vec<Receipt>) {
        match record {
            Record::Messages { first, count, .. } => {
                let beyond = first.plus(u32::from(count));
                if beyond.is_after(self.acked_to) {
                    self.acked_to = beyond;
                }
                let count = u32::from(count);
                let mut step = self.acked_in_front(first, count, window);
                while step < count {
                    step += match self.flight_index(first.plus(step)) {
                        Some(index) => {
                            self.done(index, Ok(()), window, receipts);
                            u32::from(self.flight[index].count)
                        }
                        None => 1,
                    };
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
                    if fragments.acked.len() == self.flight[index].content.payload_bytes() as u64 {
                        self.done(index, Ok(()), window, receipts);
                    }
                }
            }
            Record::Control(_) => {}
        }
        self.drop_done();
    }

    /// Removes whole messages that were acknowledged in the order of sending, as most are. Returns their number.
    fn acked_in_front(&mut self, first: Seq, count: u32, window: &mut SendWindow) -> u32 {
        let mut gone = 0;
        if first != self.first || !self.is_ordinal() || self.wants_receipts {
            return gone;
        }
        while gone < count
            && self
                .flight
                .front()
                .is_some_and(|flight| flight.state == MessageState::InFlight && flight.fragments.is_none())
            && let Some(Flight { content, count, .. }) = self.flight.pop_front()
        {
            self.queued_bytes -= content.payload_bytes();
            window.taken -= content.cost();
            gone += u32::from(count);
        }
        self.first = self.first.plus(gone);
        gone
    }

    /// A packet that contained this record is lost.
    pub(crate) fn on_lost(&mut self, resolved: Resolved, window: &mut SendWindow, receipts: &mut Vec<Receipt>) {
        // Content that was suspected lost was already retransmitted; that retransmission has its own fate.
        if !(resolved.was_suspected && self.mode.is_reliable()) {
            self.requeue_record(resolved.packet, resolved.record, window, receipts);
        }
    }

    fn requeue_record(&mut self, packet: u64, record: Record, window: &mut SendWindow, receipts: &mut Vec<Receipt>) {
        match record {
            Record::Messages { first, count, .. } => {
                self.fall_apart(first, count);
                for step in 0..u32::from(count) {
                    if let Some(index) = self.flight_index(first.plus(step))
                        && self.flight[index].sent_in == packet
                        && self.flight[index].state == MessageState::InFlight
                    {
                        self.lose(index, first.plus(step), window, receipts);
                    }
                }
            }
            Record::Fragment { sequence, offset, length, .. } => {
                let Some(index) = self.flight_index(sequence) else { return };
                if let Some(fragments) = &mut self.flight[index].fragments {
                    fragments.lost.insert_range(u64::from(offset)..=u64::from(offset + length - 1));
                    if self.flight[index].state == MessageState::InFlight {
                        self.lose(index, sequence, window, receipts);
                    }
                }
            }
            Record::Control(_) => {}
        }
        self.drop_done();
    }

    /// A packet that contained this record is suspected lost, and its content is retransmitted. Content that is not
    /// retransmitted waits until the packet is acknowledged or lost.
    pub(crate) fn on_suspected(&mut self, resolved: Resolved, window: &mut SendWindow, receipts: &mut Vec<Receipt>) {
        if self.mode.is_reliable() {
            self.requeue_record(resolved.packet, resolved.record, window, receipts);
        }
    }

    pub(super) fn lose(&mut self, index: usize, sequence: Seq, window: &mut SendWindow, receipts: &mut Vec<Receipt>) {
        let is_newest = sequence.next() == self.next && self.pending.is_empty();
        match self.mode {
            DeliveryMode::Unreliable | DeliveryMode::UnreliableSequenced => {
                if sequence.next() == self.next {
                    self.is_partly_sent = false;
                }
                self.done(index, Err(GivenUp::Lost), window, receipts);
            }
            // A message that was sent in part is completed: the receiver holds the rest of it.
            DeliveryMode::ReliableSequenced if !is_newest && self.flight[index].fragments.is_none() => {
                self.done(index, Err(GivenUp::Superseded), window, receipts);
            }
            _ => {
                self.flight[index].state = MessageState::Lost;
                self.lost.push_back(sequence);
            }
        }
    }

    /// Reliable-sequenced: a newer message is queued, so older ones that have not arrived are given up.
    pub(super) fn supersede(&mut self, window: &mut SendWindow, receipts: &mut Vec<Receipt>) {
        while let Some(older) = self.pop_pending() {
            self.give_up(older.1, GivenUp::Superseded, receipts);
        }
        // A message that was sent in part is completed. Otherwise its receiver would hold fragments that no window
        // counts, and a sender that is always interrupted would never deliver a message.
        for index in 0..self.flight.len() {
            if self.flight[index].state == MessageState::Lost && self.flight[index].fragments.is_none() {
                self.done(index, Err(GivenUp::Superseded), window, receipts);
            }
        }
        let (first, flight) = (self.first, &self.flight);
        self.lost.retain(|sequence| {
            let index = sequence.distance_from(first);
            index >= 0 && flight.get(index as usize).is_some_and(|flight| flight.state == MessageState::Lost)
        });
        self.drop_done();
    }

    /// The place of a message in flight: single, or in a batch slice.
    pub(super) fn flight_index(&self, sequence: Seq) -> Option<usize> {
        let distance = usize::try_from(sequence.distance_from(self.first)).ok()?;
        let is_flying = distance < self.flying();
        if self.flight.len() == self.flying() {
            return is_flying.then_some(distance);
        }
        is_flying.then(|| self.flight.partition_point(|flight| !flight.sequence.is_after(sequence)) - 1)
    }

    /// Splits the batch slices that hold these messages: from now on each message has its own fate.
    pub(super) fn fall_apart(&mut self, first: Seq, count: u16) {
        let mut step = 0;
        while step < count && self.flight.len() != self.flying() {
            let index = self.flight_index(first.plus(u32::from(step)));
            step += index.map_or(1, |index| self.flight[index].count);
            // A slice of a single message has its own fate, and perhaps fragments.
            let is_slice = |index: &usize| {
                self.flight[*index].count > 1 && matches!(self.flight[*index].content, Content::Slice(_))
            };
            let Some(index) = index.filter(is_slice) else { continue };
            self.flight.rotate_left(index);
            let Some(Flight { sequence, content: Content::Slice(part), sent_in, .. }) = self.flight.pop_front() else {
                break;
            };
            for step in (0..part.count()).rev() {
                let (sequence, payload) = (sequence.plus(step as u32), part.payload(step).clone());
                self.flight.push_front(Flight::one(sequence, payload, MessageId::default(), sent_in));
            }
            self.flight.rotate_right(index);
        }
    }

    /// No packet repeats this record any more: a message that is only repeated, and not retransmitted, no longer needs
    /// its payload.
    pub(crate) fn end_repeats(&mut self, record: Record) {
        let Record::Messages { first, count, .. } = record else { return };
        if !self.is_repeating {
            return;
        }
        for sequence in (0..u32::from(count)).map(|step| first.plus(step)) {
            let Some(index) = self.flight_index(sequence) else { continue };
            let flight = &mut self.flight[index];
            if flight.fragments.is_none() {
                self.queued_bytes -= core::mem::take(&mut flight.content).payload_bytes();
                if !self.wants_receipts {
                    flight.state = MessageState::Done;
                }
            }
        }
        self.drop_done();
    }

    pub(super) fn done(
        &mut self,
        index: usize,
        fate: Result<(), GivenUp>,
        window: &mut SendWindow,
        receipts: &mut Vec<Receipt>,
    ) {
        let flight = &mut self.flight[index];
        if flight.state == MessageState::Done {
            return;
        }
        flight.state = MessageState::Done;
        flight.fragments = None;
        let content = core::mem::take(&mut flight.content);
        self.queued_bytes -= content.payload_bytes();
        if self.mode.is_reliable() {
            window.taken -= content.cost();
        }
        let is_told = self.wants_receipts || fate.is_err() && self.mode.is_reliable();
        if is_told {
            receipts.push(Receipt { id: flight.id, channel: self.channel, fate });
        }
    }

    pub(super) fn drop_done(&mut self) {
        while self.flight.front().is_some_and(|flight| flight.state == MessageState::Done) {
            let count = self.flight.pop_front().map_or(0, |flight| flight.count);
            self.first = self.first.plus(u32::from(count));
        }
    }
}
