//! Copies of retransmissions: their number and spacing, and the age of the content that waits to be retransmitted.

use super::Redundant;
use super::retransmission::{CopyCount, Retransmission};
use crate::channel::channels::Channels;
use crate::channel::classes::ClassId;
use crate::connection::{Connection, Context};
use crate::time::Time;

const COPIES_PER_RTT: u32 = 5;
/// The share of retransmitted content that may be lost in all of its copies.
const COPIES_LOST_MAX: f32 = 5e-5;
const COPIES_MIN: u8 = 2;
const COPIES_MAX: u8 = 5;

impl Redundant {
    /// Whether retransmissions of a class leave in packets of their own, and get copies.
    pub(in crate::connection) fn sends_copies(&self, class: ClassId) -> bool {
        self.class(class).sends_copies()
    }

    /// Age of the content that waits to be retransmitted, in ms.
    pub(in crate::connection) fn age_ms(&self, now: Time) -> u16 {
        if self.retransmission.since == Time::NEVER {
            return 0;
        }
        u16::try_from(now.since(self.retransmission.since).as_millis()).unwrap_or(u16::MAX)
    }

    /// Nothing waits to be retransmitted any more.
    pub(in crate::connection) fn on_nothing_to_retransmit(&mut self) {
        self.retransmission = Retransmission::default();
    }
}

impl Connection {
    /// Number of transmissions of retransmitted content of a class, including the first, so that almost no content is
    /// lost every time.
    fn copy_count(&self, class: ClassId) -> u8 {
        let class = self.redundancy.class(class);
        if !class.sends_copies() {
            return 1;
        }
        let losses = self.sending.ledger.losses();
        let independent = (COPIES_LOST_MAX.ln() / losses.rate().clamp(1e-6, 0.5).ln()).ceil() as u8;
        // The repairs of the next burst count as one copy.
        if class.is_repairing() {
            return independent.saturating_sub(1).clamp(COPIES_MIN, COPIES_MAX);
        }
        let in_a_row = (losses.burst_length() - 1.0).round() as u8;
        independent.clamp(COPIES_MIN, COPIES_MAX).saturating_add(in_a_row).min(COPIES_MAX)
    }

    /// Content of this class that was due at `born` waits to be retransmitted.
    pub(in crate::connection) fn note_retransmission(&mut self, class: ClassId, born: Time, count: CopyCount) {
        if !self.redundancy.sends_copies(class) {
            return;
        }
        let copies = match count {
            CopyCount::ByLoss => self.copy_count(class) - 1,
            CopyCount::Exactly(copies) => copies,
        };
        let waiting = &mut self.redundancy.retransmission;
        waiting.since = waiting.since.min(born);
        waiting.copies = waiting.copies.max(copies);
    }

    /// Schedules copies of the packet that left with retransmissions, or with new messages of a class that have an age.
    pub(in crate::connection) fn plan_copies(&mut self, now: Time, number: u64, new: Option<ClassId>, bytes: usize) {
        let fresh = new.map(|class| self.copy_count(class) - 1);
        let wanted = fresh.unwrap_or(self.redundancy.retransmission.copies);
        if wanted == 0 || self.path.congestion.is_congested(now) {
            return;
        }
        let spacing = self.spacing(COPIES_PER_RTT);
        let cost = bytes as u64 + u64::from(self.path.current.carrier.overhead_bytes);
        if self.redundancy.budget.spend(cost) {
            self.stats.redundancy.copies_sent += 1;
            self.stats.redundancy.bytes_sent += cost;
            self.sending.ledger.copies().push(now, spacing, number, wanted);
        }
    }

    /// Sends the copies that are due.
    pub(in crate::connection) fn send_copies(&mut self, cx: &mut Context<'_>) {
        while let Some(copy) = self.sending.ledger.copies().pop_due(cx.now) {
            self.sending.ledger.copy(copy.packet, &mut cx.scratch.resolved);
            self.requeue_resolved(cx, CopyCount::Exactly(copy.remaining), Channels::on_suspected);
        }
    }
}
