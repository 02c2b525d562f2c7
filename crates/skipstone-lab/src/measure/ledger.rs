//! The proof: every receiver received every line of every sender once and in order. It is exact, with four bytes for
//! each pair and at most eight for each gap in the arrived lines.

use std::collections::BTreeMap;
use std::ops::Range;

use derive_more::{Add, AddAssign, Sum};
use serde::{Deserialize, Serialize};

use crate::measure::ledger::gaps::Gaps;

mod gaps;
mod record;

pub use record::LedgerRecord;

/// The meaning of one line to the receiver that got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOutcome {
    /// Newer than all earlier lines from this sender. Lines that it overtook are missing until they arrive.
    InOrder,
    /// Seen before.
    Duplicate,
    /// Arrived for the first time, after a later one.
    Reordered,
    /// From a sender or to a receiver that the run does not have.
    Unexpected,
}

/// The proof of one run. Clients send and receive, so receivers and senders are numbered alike, from 0.
#[derive(Debug)]
pub struct Ledger {
    receivers: Vec<Receiver>,
    /// By sender, and for each by receiver: the number that follows the highest seen. A line goes to all receivers at
    /// the same time, so consecutive lookups are adjacent in memory.
    next: Box<[u32]>,
    senders_excluded: Vec<bool>,
    unexpected: u64,
}

/// The deliveries of a run. Tallies of several ledgers add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Add, AddAssign, Sum)]
pub struct Tally {
    /// Expected deliveries: lines sent, times their receivers.
    pub expected: u64,
    /// Of these, how many happened, each counted once.
    pub delivered: u64,
    /// Of these, how many did not: `expected - delivered`.
    pub lost: u64,
    /// Duplicate deliveries of a line, including those of clients that were excluded later.
    pub duplicated: u64,
    /// Deliveries after a later line of the same sender, including those of clients that were excluded later.
    pub reordered: u64,
    /// Lines of this run that arrived changed.
    pub corrupted: u64,
    /// Chat and lines of other runs. Not a fault.
    pub foreign: u64,
    /// Lines that were never sent: unknown numbers or clients.
    pub unexpected: u64,
    /// Deliveries that need not have happened: to or from an excluded client. Not a fault.
    pub apart: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Receiver {
    /// By sender, where there are any: numbers below the next that have not arrived.
    gaps: BTreeMap<u32, Gaps>,
    excluded: bool,
    duplicated: u64,
    reordered: u64,
    corrupted: u64,
    foreign: u64,
}

impl Ledger {
    /// A ledger in which every receiver must receive every line of every sender.
    pub fn new(receivers: usize, senders: usize) -> Self {
        Self {
            receivers: (0..receivers).map(|_| Receiver::default()).collect(),
            next: vec![0; receivers * senders].into(),
            senders_excluded: vec![false; senders],
            unexpected: 0,
        }
    }

    /// A line from this sender is about to be recorded for this receiver: prefetches their entry.
    #[inline]
    pub fn prefetch(&self, receiver: u32, sender: u32) {
        let place = sender as usize * self.receivers.len() + receiver as usize;
        if let Some(next) = self.next.get(place) {
            skipstone_prefetch::prefetch(next);
        }
    }

    /// A line arrived, its checksum right.
    #[inline]
    pub fn on_line(&mut self, receiver: u32, sender: u32, sequence: u32) -> LineOutcome {
        let place = sender as usize * self.receivers.len() + receiver as usize;
        match self.next.get_mut(place) {
            Some(next) if (receiver as usize) < self.receivers.len() && sequence < u32::MAX => {
                if sequence != *next {
                    return self.receivers[receiver as usize].on_other_line(next, sender, sequence);
                }
                *next += 1;
                LineOutcome::InOrder
            }
            _ => {
                self.unexpected += 1;
                LineOutcome::Unexpected
            }
        }
    }

    /// A changed line arrived.
    pub fn on_corrupt(&mut self, receiver: u32) {
        self.row(receiver).corrupted += 1;
    }

    /// Something arrived that does not belong to this run.
    pub fn on_foreign(&mut self, receiver: u32) {
        self.row(receiver).foreign += 1;
    }

    /// A receiver dropped: no line must reach it any more, nor had to before. Faults that it saw still count.
    pub fn exclude_receiver(&mut self, receiver: u32) {
        self.row(receiver).excluded = true;
    }

    /// A sender dropped: none of its lines must arrive. Faults that were seen in them still count.
    pub fn exclude_sender(&mut self, sender: u32) {
        self.senders_excluded[sender as usize] = true;
    }

    /// Overtaken lines that may still arrive, for the live view: only missing lines are checked.
    pub fn overtaken(&self) -> u64 {
        let present = self.receivers.iter().filter(|receiver| !receiver.excluded);
        present.flat_map(|receiver| receiver.gaps.values()).map(|gaps| gaps.missing(0..u32::MAX)).sum()
    }

    /// How many lines of a sender have arrived, at all receivers together.
    pub fn arrived_from(&self, sender: u32) -> u64 {
        let first = sender as usize * self.receivers.len();
        let next = self.next.iter().skip(first);
        self.receivers.iter().zip(next).map(|(receiver, next)| receiver.arrived(sender, 0..*next)).sum()
    }

    /// The balance, given how many lines each sender sent.
    pub fn finish(&self, sent: &[u32]) -> Tally {
        let mut tally = self.finish_of(0..self.receivers.len() as u32, sent);
        tally.unexpected += self.unexpected;
        tally
    }

    /// The balance of some receivers alone, such as one carrier's. Lines of or to clients that do not exist are only in
    /// the balance of all.
    pub fn finish_of(&self, receivers: impl IntoIterator<Item = u32>, sent: &[u32]) -> Tally {
        assert_eq!(sent.len(), self.senders_excluded.len(), "one number for each sender");
        let mut tally = Tally::default();
        for receiver in receivers {
            let next = self.next.iter().skip(receiver as usize).step_by(self.receivers.len());
            let senders = sent.iter().copied().zip(next.copied()).zip(&self.senders_excluded);
            self.receivers[receiver as usize].add_to(&mut tally, senders);
        }
        tally
    }

    fn row(&mut self, receiver: u32) -> &mut Receiver {
        let count = self.receivers.len();
        self.receivers
            .get_mut(receiver as usize)
            .unwrap_or_else(|| panic!("the ledger has {count} receivers, not a number {receiver}"))
    }
}

impl Receiver {
    #[cold]
    fn on_other_line(&mut self, next: &mut u32, sender: u32, sequence: u32) -> LineOutcome {
        if sequence > *next {
            self.gaps.entry(sender).or_default().push(*next..sequence);
            *next = sequence + 1;
            return LineOutcome::InOrder;
        }
        if self.gaps.get_mut(&sender).is_some_and(|gaps| gaps.fill(sequence)) {
            self.reordered += 1;
            return LineOutcome::Reordered;
        }
        self.duplicated += 1;
        LineOutcome::Duplicate
    }

    /// Of each sender: how many lines it sent, the number that follows the highest seen, whether it is excluded.
    fn add_to<'a>(&self, tally: &mut Tally, senders: impl Iterator<Item = ((u32, u32), &'a bool)>) {
        for (number, ((sent, next), excluded)) in (0..).zip(senders) {
            let arrived = |among: Range<u32>| self.arrived(number, among.start..among.end.min(next));
            let in_time = arrived(0..sent);
            tally.unexpected += arrived(sent..u32::MAX);
            if self.excluded || *excluded {
                tally.apart += in_time;
                continue;
            }
            tally.expected += u64::from(sent);
            tally.delivered += in_time;
            tally.lost += u64::from(sent) - in_time;
        }
        tally.duplicated += self.duplicated;
        tally.reordered += self.reordered;
        tally.corrupted += self.corrupted;
        tally.foreign += self.foreign;
    }

    /// How many of these numbers have arrived, which end at the next at the latest.
    fn arrived(&self, sender: u32, among: Range<u32>) -> u64 {
        let span = u64::from(among.end.saturating_sub(among.start));
        let Some(gaps) = self.gaps.get(&sender).filter(|_| span > 0) else {
            return span;
        };
        span - gaps.missing(among)
    }
}

#[cfg(test)]
mod tests;
