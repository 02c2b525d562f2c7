//! The receiving side of a channel: its delivery rule. WIRE.md section 4.2.
//!
//! Sequences are extended to 64 bits here, so that the maps of early messages keep their order through a wrap.

use super::footprint::{allocated, map_bytes};
use super::inbox::Inbox;
use super::reassembly::Reassembly;
use super::recent::Recent;
use super::transfers::{IncomingTransfer, TRANSFERS_MAX, Transfers};
use super::window_cost;
use crate::seq::Seq;
use crate::sparse_ranges::SparseRanges;
use crate::wire::message::FragmentHeader;
use crate::wire::settings::DeliveryMode;
use bytes::Bytes;
use std::collections::BTreeMap;

/// The messages that a channel has received and cannot deliver yet.
#[derive(Debug)]
pub(crate) struct Incoming {
    mode: DeliveryMode,
    /// Reliable ordered and unordered: the next sequence in order. Others: the greatest received, plus one.
    next: u64,
    held: Option<Box<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    /// Ordered: whole messages that wait for an earlier one.
    early: BTreeMap<u64, Bytes>,
    /// Unordered: sequences above `next` that were delivered.
    delivered: SparseRanges,
    /// Unreliable: the delivered messages with a sequence, while one below the greatest is missing.
    recent: Option<Recent>,
    partial: BTreeMap<u64, Reassembly>,
    /// Memory of the bytes of early messages, and of the pieces of incomplete ones.
    content_bytes: u64,
}

impl Held {
    /// Memory of all that is held.
    fn footprint(&self) -> u64 {
        let maps = map_bytes::<u64, Bytes>(self.early.len()) + map_bytes::<u64, Reassembly>(self.partial.len());
        let records =
            map_bytes::<u64, u64>(self.delivered.range_count()) + self.recent.as_ref().map_or(0, Recent::footprint);
        allocated(size_of::<Held>()) + maps + records + self.content_bytes
    }
}

/// The result of receiving a message frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The frame was accepted: its message is delivered, or held until it is complete.
    Taken,
    /// The frame was accepted, and an earlier one of its reliable channel has not arrived; a carrier that keeps the
    /// order excludes this.
    Early,
    /// The frame had been accepted before.
    Duplicate,
    /// A newer message had been delivered on this sequenced channel.
    Stale,
    /// The message is unreliable, and the application has not taken the earlier ones.
    NoRoom,
    /// The frame is invalid: too far above the next sequence, without a sequence, or a fragment that contradicts
    /// another.
    Malformed,
}

/// The greatest distance of a sequence above the next in order; a sender keeps to a quarter of this distance.
const SEQUENCE_GAP_MAX: u64 = 1 << 18;
/// Incomplete messages of an unreliable channel; the oldest goes first.
const PARTIAL_MAX: usize = 16;

impl Incoming {
    /// A channel whose next sequence is this.
    pub(crate) fn new(mode: DeliveryMode, next: Seq) -> Self {
        // Half the range is added, so that a sequence before the first has a place too.
        Incoming { mode, next: u64::from(next.0) + (1 << 32), held: None }
    }

    /// The reference for truncated sequences, and the only state that is kept of an idle channel.
    pub(crate) fn next(&self) -> Seq {
        Seq(self.next as u32)
    }

    /// Adds the partly received messages of at least this many bytes.
    pub(crate) fn list_transfers(&self, channel: u16, bytes_min: usize, transfers: &mut Transfers) {
        for partial in self.held.iter().flat_map(|held| held.partial.values()) {
            let (received_bytes, total_bytes) = (partial.received(), partial.total());
            if total_bytes as usize >= bytes_min && transfers.incoming.len() < TRANSFERS_MAX {
                transfers.incoming.push(IncomingTransfer { channel, received_bytes, total_bytes });
            }
        }
    }

    /// Whether nothing is held.
    pub(crate) fn is_idle(&self) -> bool {
        self.held.is_none()
    }

    /// Memory of the held messages.
    pub(crate) fn footprint(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.footprint())
    }

    /// Whether an unreliable message, or fragments of it, may never arrive.
    pub(crate) fn has_perishable(&self) -> bool {
        !self.mode.is_reliable() && self.held.is_some()
    }

    /// Drops unreliable messages that were incomplete at the last call already; returns how many, and their cost of the
    /// window.
    pub(crate) fn expire(&mut self) -> (u32, u64) {
        let (mut count, mut cost) = (0, 0);
        if self.has_perishable()
            && let Some(held) = &mut self.held
        {
            held.partial.retain(|_, partial| {
                let is_over = partial.grow_old();
                if is_over {
                    count += 1;
                    cost += partial.cost();
                    held.content_bytes -= partial.footprint();
                }
                !is_over
            });
            if let Some(recent) = &mut held.recent {
                let before = recent.cost();
                recent.grow_old(self.next);
                cost += before - recent.cost();
            }
        }
        self.release_if_empty();
        (count, cost)
    }

    /// Whether whole messages from this sequence on would all be delivered at once: nothing is missing, nothing is
    /// held.
    pub(crate) fn is_straight(&self, from: Seq) -> bool {
        self.mode == DeliveryMode::ReliableOrdered && self.held.is_none() && from == self.next()
    }

    /// This number of them was delivered.
    pub(crate) fn advance(&mut self, count: u32) {
        self.next += u64::from(count);
    }

    /// Handles one message frame. Whole messages that may be delivered go into the `inbox`; `held_bytes` is the
    /// connection's count of window cost held here, kept up to date.
    pub(crate) fn on_message(
        &mut self,
        sequence: Option<Seq>,
        fragment: Option<FragmentHeader>,
        payload: &[u8],
        inbox: &mut Inbox,
        held_bytes: &mut u64,
    ) -> Arrival {
        let Some(sequence) = sequence else {
            if self.mode != DeliveryMode::Unreliable || fragment.is_some() {
                return Arrival::Malformed;
            }
            inbox.deliver(payload);
            return Arrival::Taken;
        };
        let number = self.next.wrapping_add_signed(i64::from(sequence.distance_from(self.next())));
        let is_ordinal = matches!(self.mode, DeliveryMode::ReliableOrdered | DeliveryMode::ReliableUnordered);
        if is_ordinal && number >= self.next + SEQUENCE_GAP_MAX {
            return Arrival::Malformed;
        }
        if let Some(refusal) = self.refusal(number, fragment) {
            return refusal;
        }
        let taken = if is_ordinal && number > self.next { Arrival::Early } else { Arrival::Taken };
        let whole = match fragment {
            None => {
                self.drop_partial(number, held_bytes);
                if self.is_early(number) { Bytes::copy_from_slice(payload) } else { inbox.copy(payload) }
            }
            Some(header) => match self.on_fragment(number, header, payload, held_bytes) {
                Ok(Some(whole)) => whole,
                Ok(None) => return taken,
                Err(arrival) => {
                    self.release_if_empty();
                    return arrival;
                }
            },
        };
        self.on_whole(number, whole, &mut inbox.messages, held_bytes);
        self.release_if_empty();
        taken
    }

    /// Whether a message of this number waits for an earlier one.
    fn is_early(&self, number: u64) -> bool {
        self.mode == DeliveryMode::ReliableOrdered && number > self.next
    }

    /// Why a message of this number is discarded, if it is.
    fn refusal(&self, number: u64, fragment: Option<FragmentHeader>) -> Option<Arrival> {
        let is_below = number < self.next;
        match self.mode {
            // Fragments are not repeated.
            DeliveryMode::Unreliable if fragment.is_some() => None,
            DeliveryMode::Unreliable => {
                let recent = self.held.as_ref().and_then(|held| held.recent.as_ref());
                recent.map_or(is_below, |recent| recent.contains(number)).then_some(Arrival::Duplicate)
            }
            DeliveryMode::UnreliableSequenced | DeliveryMode::ReliableSequenced => is_below.then_some(Arrival::Stale),
            DeliveryMode::ReliableOrdered => {
                let is_early = self.held.as_ref().is_some_and(|held| held.early.contains_key(&number));
                (is_below || is_early).then_some(Arrival::Duplicate)
            }
            DeliveryMode::ReliableUnordered => {
                let is_done = self.held.as_ref().is_some_and(|held| held.delivered.contains(number));
                (is_below || is_done).then_some(Arrival::Duplicate)
            }
        }
    }

    fn on_fragment(
        &mut self,
        number: u64,
        header: FragmentHeader,
        payload: &[u8],
        held_bytes: &mut u64,
    ) -> Result<Option<Bytes>, Arrival> {
        let held = self.held.get_or_insert_default();
        if !self.mode.is_reliable() && !held.partial.contains_key(&number) && held.partial.len() >= PARTIAL_MAX {
            let oldest = held.partial.first_entry().expect("it is not empty");
            if *oldest.key() > number {
                return Err(Arrival::Stale);
            }
            let oldest = oldest.remove();
            *held_bytes -= oldest.cost();
            held.content_bytes -= oldest.footprint();
        }
        let partial = held.partial.entry(number).or_insert_with(|| {
            let fresh = Reassembly::new(header.total);
            *held_bytes += fresh.cost();
            fresh
        });
        if partial.total() != header.total {
            return Err(Arrival::Malformed);
        }
        let (cost_before, before) = (partial.cost(), partial.footprint());
        let fresh = partial.insert(header.offset, payload);
        let (cost, footprint) = (partial.cost(), partial.footprint());
        *held_bytes += cost - cost_before;
        held.content_bytes += footprint - before;
        let Some(whole) = partial.take_if_complete() else {
            return if fresh > 0 { Ok(None) } else { Err(Arrival::Duplicate) };
        };
        *held_bytes -= cost;
        held.content_bytes -= footprint;
        held.partial.remove(&number);
        Ok(Some(whole))
    }

    /// A late message arrived complete, and fragments of it had been sent meanwhile.
    fn drop_partial(&mut self, number: u64, held_bytes: &mut u64) {
        let Some(held) = &mut self.held else { return };
        if let Some(partial) = held.partial.remove(&number) {
            *held_bytes -= partial.cost();
            held.content_bytes -= partial.footprint();
        }
    }

    fn on_whole(&mut self, number: u64, whole: Bytes, deliver: &mut Vec<Bytes>, held_bytes: &mut u64) {
        match self.mode {
            DeliveryMode::Unreliable => {
                self.note_recent(number, held_bytes);
                self.next = self.next.max(number + 1);
                deliver.push(whole);
            }
            DeliveryMode::UnreliableSequenced | DeliveryMode::ReliableSequenced => {
                self.next = number + 1;
                deliver.push(whole);
                if let Some(held) = &mut self.held {
                    let newer = held.partial.split_off(&self.next);
                    let stale = core::mem::replace(&mut held.partial, newer);
                    *held_bytes -= stale.values().map(Reassembly::cost).sum::<u64>();
                    held.content_bytes -= stale.values().map(Reassembly::footprint).sum::<u64>();
                }
            }
            DeliveryMode::ReliableOrdered if self.is_early(number) => {
                *held_bytes += window_cost(whole.len());
                let held = self.held.get_or_insert_default();
                held.content_bytes += allocated(whole.len());
                held.early.insert(number, whole);
            }
            DeliveryMode::ReliableOrdered => {
                self.next += 1;
                deliver.push(whole);
                let Some(held) = &mut self.held else { return };
                while let Some(entry) = held.early.first_entry().filter(|entry| *entry.key() == self.next) {
                    let message = entry.remove();
                    *held_bytes -= window_cost(message.len());
                    held.content_bytes -= allocated(message.len());
                    self.next += 1;
                    deliver.push(message);
                }
            }
            DeliveryMode::ReliableUnordered => {
                deliver.push(whole);
                let before = self.range_cost();
                if number > self.next {
                    self.held.get_or_insert_default().delivered.insert(number);
                } else {
                    self.next += 1;
                    self.skip_delivered();
                }
                *held_bytes = *held_bytes + self.range_cost() - before;
            }
        }
    }

    /// Unreliable: records that a message of this number was delivered. As long as none is missing, `next` is the whole
    /// record.
    fn note_recent(&mut self, number: u64, held_bytes: &mut u64) {
        let is_in_order = number <= self.next;
        if is_in_order && self.held.as_ref().is_none_or(|held| held.recent.is_none()) {
            return;
        }
        let recent = self.held.get_or_insert_default().recent.get_or_insert_with(|| Recent::above(self.next));
        let before = recent.cost();
        recent.insert(number);
        *held_bytes = *held_bytes + recent.cost() - before;
    }

    /// Unordered: messages that were delivered early are now in order.
    fn skip_delivered(&mut self) {
        let Some(held) = &mut self.held else { return };
        if held.delivered.first_range().is_some_and(|range| *range.start() == self.next) {
            self.next = held.delivered.pop_first_range().expect("it was there").end() + 1;
        }
    }

    /// Unordered: bytes of the receive window that the record of the gaps occupies. A sender within its window has paid
    /// for each gap.
    fn range_cost(&self) -> u64 {
        let ranges = self.held.as_ref().map_or(0, |held| held.delivered.range_count());
        window_cost(0) * ranges as u64
    }

    fn release_if_empty(&mut self) {
        if let Some(held) = &mut self.held {
            held.recent.take_if(|recent| recent.is_empty());
        }
        let is_empty = |held: &Held| {
            held.early.is_empty() && held.partial.is_empty() && held.delivered.is_empty() && held.recent.is_none()
        };
        if self.held.as_deref().is_some_and(is_empty) {
            self.held = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(mode: DeliveryMode, sequences: &[u32]) -> (Vec<u8>, Vec<Arrival>, Incoming, u64) {
        let mut incoming = Incoming::new(mode, Seq(u32::MAX - 1));
        let (mut inbox, mut held_bytes) = (Inbox::default(), 0);
        let arrivals = sequences
            .iter()
            .map(|sequence| {
                let wrapped = Seq(u32::MAX - 1).plus(*sequence);
                incoming.on_message(Some(wrapped), None, &[*sequence as u8], &mut inbox, &mut held_bytes)
            })
            .collect();
        (inbox.messages.iter().map(|message| message[0]).collect(), arrivals, incoming, held_bytes)
    }

    #[test]
    fn ordered_delivers_each_message_once_in_order_across_the_wrap() {
        let (delivered, arrivals, incoming, held_bytes) =
            receive(DeliveryMode::ReliableOrdered, &[1, 0, 3, 3, 0, 2, 4]);
        assert_eq!(delivered, [0, 1, 2, 3, 4]);
        assert_eq!(arrivals[3..5], [Arrival::Duplicate, Arrival::Duplicate]);
        assert!(incoming.is_idle());
        assert_eq!(held_bytes, 0);
    }

    #[test]
    fn unordered_delivers_each_message_once_on_arrival() {
        let (delivered, arrivals, incoming, _) = receive(DeliveryMode::ReliableUnordered, &[2, 0, 2, 1, 0, 3]);
        assert_eq!(delivered, [2, 0, 1, 3]);
        assert_eq!(arrivals[2], Arrival::Duplicate);
        assert!(incoming.is_idle());
    }

    #[test]
    fn sequenced_delivers_only_newer_messages() {
        for mode in [DeliveryMode::UnreliableSequenced, DeliveryMode::ReliableSequenced] {
            let (delivered, arrivals, _, _) = receive(mode, &[1, 0, 1, 5, 3]);
            assert_eq!(delivered, [1, 5]);
            assert_eq!(arrivals[1], Arrival::Stale);
        }
    }

    #[test]
    fn unreliable_messages_with_a_sequence_are_delivered_once_in_any_order() {
        let (delivered, arrivals, incoming, held_bytes) =
            receive(DeliveryMode::Unreliable, &[0, 1, 1, 4, 3, 3, 0, 2, 4, 5]);
        assert_eq!(delivered, [0, 1, 4, 3, 2, 5]);
        let duplicates = arrivals.iter().filter(|arrival| **arrival == Arrival::Duplicate).count();
        assert_eq!((duplicates, held_bytes, incoming.is_idle()), (4, 0, true));
        let (_, _, mut incoming, held_bytes) = receive(DeliveryMode::Unreliable, &[0, 5]);
        assert_eq!((held_bytes, incoming.expire()), (window_cost(0), (0, 0)));
        assert_eq!(incoming.expire(), (0, window_cost(0)));
        assert!(incoming.is_idle(), "what is missing is too old");
    }

    #[test]
    fn a_whole_message_after_one_of_its_fragments_frees_the_fragment() {
        for mode in [DeliveryMode::ReliableOrdered, DeliveryMode::ReliableUnordered, DeliveryMode::ReliableSequenced] {
            let mut incoming = Incoming::new(mode, Seq(0));
            let (mut inbox, mut held_bytes) = (Inbox::default(), 0);
            let fragment = Some(FragmentHeader { offset: 0, total: 20 });
            incoming.on_message(Some(Seq(0)), fragment, &[0; 10], &mut inbox, &mut held_bytes);
            incoming.on_message(Some(Seq(0)), None, &[0; 20], &mut inbox, &mut held_bytes);
            assert_eq!((inbox.messages.len(), held_bytes, incoming.is_idle()), (1, 0, true), "{mode:?}");
        }
    }

    #[test]
    fn a_message_too_far_ahead_is_refused() {
        let (delivered, arrivals, ..) = receive(DeliveryMode::ReliableOrdered, &[SEQUENCE_GAP_MAX as u32]);
        assert!(delivered.is_empty());
        assert_eq!(arrivals, [Arrival::Malformed]);
    }

    #[test]
    fn incomplete_unreliable_messages_are_bounded_and_expire() {
        let mut incoming = Incoming::new(DeliveryMode::Unreliable, Seq(0));
        let (mut inbox, mut held_bytes) = (Inbox::default(), 0);
        for sequence in 0..100 {
            let fragment = Some(FragmentHeader { offset: 0, total: 20 });
            incoming.on_message(Some(Seq(sequence)), fragment, &[0; 10], &mut inbox, &mut held_bytes);
        }
        assert_eq!(held_bytes, PARTIAL_MAX as u64 * (10 + 2 * 64));
        assert_eq!(incoming.expire(), (0, 0), "they get a second chance");
        assert_eq!(incoming.expire(), (PARTIAL_MAX as u32, held_bytes));
        assert!(incoming.is_idle());
    }
}
