//! The contents of sent packets, as records in the order of the packets, and the contents of the packet under
//! construction.

use crate::recovery::record::{Control, Record};
use crate::shrink_queue::shrink_queue;
use skipstone_prefetch::prefetch;
use std::collections::VecDeque;

/// The records of all packets that are not settled.
#[derive(Debug, Default)]
pub(super) struct Contents {
    records: VecDeque<Record>,
    /// Count of the records that were dropped from the front.
    base: u64,
    /// Records at the back that belong to the packet under construction.
    open: u16,
    /// The number of these that precede the records that are listed separately.
    before_part: u16,
}

/// The place of the records of one packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    /// Their start, counted over the connection's life.
    begin: u64,
    count: u16,
}

impl Span {
    pub(super) fn is_empty(self) -> bool {
        self.count == 0
    }
}

impl Contents {
    /// Prefetches both ends.
    pub(super) fn prefetch(&self) {
        self.records.front().into_iter().chain(self.records.back()).for_each(prefetch);
    }

    /// Releases memory beyond twice the present length, plus `kept` records.
    pub(super) fn shrink(&mut self, kept: usize) {
        shrink_queue(&mut self.records, kept);
    }

    /// Adds a record to the packet under construction. Consecutive whole messages are joined.
    #[inline]
    pub(super) fn add(&mut self, record: Record) {
        if self.open > self.before_part
            && let (
                Some(Record::Messages { channel, first, count }),
                Record::Messages { channel: new_channel, first: new_first, count: more },
            ) = (self.records.back_mut(), record)
            && *channel == new_channel
            && first.plus(u32::from(*count)) == new_first
            && let Some(sum) = count.checked_add(more)
        {
            *count = sum;
            return;
        }
        self.records.push_back(record);
        self.open += 1;
    }

    /// Begins a part: the records that are added to the packet from now on are listed separately from the earlier ones.
    pub(super) fn begin_part(&mut self) {
        self.before_part = self.open;
    }

    /// The records added since the part began.
    pub(super) fn part(&self) -> impl Iterator<Item = Record> + '_ {
        let count = usize::from(self.open - self.before_part);
        self.records.range(self.records.len() - count..).copied()
    }

    /// Ends the packet being written, and returns the place of its records.
    #[inline]
    pub(super) fn close(&mut self) -> Span {
        let count = core::mem::take(&mut self.open);
        self.before_part = 0;
        Span { begin: self.base + (self.records.len() - usize::from(count)) as u64, count }
    }

    /// Whether the packet that was closed last is a probe of the path's size.
    #[inline]
    pub(super) fn is_size_probe(&self, span: Span) -> bool {
        !span.is_empty() && matches!(self.records.back(), Some(Record::Control(Control::SizeProbe(_))))
    }

    /// The records of a packet.
    #[inline]
    pub(super) fn of(&self, span: Span) -> impl Iterator<Item = Record> + '_ {
        let begin = (span.begin - self.base) as usize;
        self.records.range(begin..begin + usize::from(span.count)).copied()
    }

    /// Whether a packet contained anything worth retransmitting.
    pub(super) fn are_worth_sending(&self, span: Span) -> bool {
        self.of(span).any(|record| !matches!(record, Record::Control(Control::Large(_) | Control::SizeProbe(_))))
    }

    /// Drops the records of the oldest packet.
    #[inline]
    pub(super) fn drop_first(&mut self, span: Span) {
        self.records.drain(..usize::from(span.count));
        self.base += u64::from(span.count);
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}
