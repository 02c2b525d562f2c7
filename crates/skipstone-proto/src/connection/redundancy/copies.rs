//! Copies of what is late: how many, how far apart, and what waits to be sent again.

use super::Redundant;
use crate::channel::classes::ClassId;
use crate::channel::lanes::Lanes;
use crate::connection::{Connection, Context};
use crate::time::Time;

/// What waits to be sent again, and is to be copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    /// It was to leave then.
    since: Time,
    /// How many copies shall follow the next packet with such content.
    copies: u8,
}

/// How many copies shall follow what is sent again.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) enum Further {
    /// As many as the path's losses and the channel's class ask for.
    AsLossesAsk,
    /// So many.
    Exactly(u8),
}

const COPIES_PER_RTT: u32 = 5;
/// The share of late content that may be lost in all of its copies.
const COPIES_LOST_MAX: f32 = 5e-5;
const COPIES_MIN: u8 = 2;
const COPIES_MAX: u8 = 5;

impl Default for Late {
    fn default() -> Self {
        Late { since: Time::NEVER, copies: 0 }
    }
}

impl Redundant {
    /// Whether what is late of a class goes out in packets of its own, and in copies.
    pub(in crate::connection) fn sends_copies(&self, class: ClassId) -> bool {
        self.class(class).sends_copies()
    }

    /// How late the content is that waits to be sent again, in ms.
    pub(in crate::connection) fn age_ms(&self, now: Time) -> u16 {
        if self.late.since == Time::NEVER {
            return 0;
        }
        u16::try_from(now.since(self.late.since).as_millis()).unwrap_or(u16::MAX)
    }

    /// Nothing waits to be sent again any more.
    pub(in crate::connection) fn on_nothing_late(&mut self) {
        self.late = Late::default();
    }
}

impl Connection {
    /// How many times late content of a class goes out, the first time included, so that hardly any is lost every time.
    fn copy_count(&self, class: ClassId) -> u8 {
        let class = self.redundancy.class(class);
        if !class.sends_copies() {
            return 1;
        }
        let losses = self.ledger.losses();
        let independent = (COPIES_LOST_MAX.ln() / losses.rate().clamp(1e-6, 0.5).ln()).ceil() as u8;
        // Where repairs leave, those of the next burst are copies of a kind.
        if class.is_repairing() {
            return independent.saturating_sub(1).clamp(COPIES_MIN, COPIES_MAX);
        }
        let in_a_row = (losses.burst_length() - 1.0).round() as u8;
        independent.clamp(COPIES_MIN, COPIES_MAX).saturating_add(in_a_row).min(COPIES_MAX)
    }

    /// What waits to be sent again, of this class, was to leave at `born`.
    pub(in crate::connection) fn on_late(&mut self, class: ClassId, born: Time, further: Further) {
        if !self.redundancy.sends_copies(class) {
            return;
        }
        let copies = match further {
            Further::AsLossesAsk => self.copy_count(class) - 1,
            Further::Exactly(copies) => copies,
        };
        let late = &mut self.redundancy.late;
        late.since = late.since.min(born);
        late.copies = late.copies.max(copies);
    }

    /// Whether the packet with what is late, or with new messages of a class that answer it, is to be followed by copies.
    pub(in crate::connection) fn plan_copies(&mut self, now: Time, number: u64, new: Option<ClassId>, bytes: usize) {
        let fresh = new.map(|class| self.copy_count(class) - 1);
        let wanted = fresh.unwrap_or(self.redundancy.late.copies);
        if wanted == 0 || self.congestion.is_congested(now) {
            return;
        }
        let spacing = self.spacing(COPIES_PER_RTT);
        let cost = bytes as u64 + u64::from(self.path.carrier.overhead_bytes);
        if self.redundancy.budget.spend(cost) {
            self.stats.redundancy.copies_sent += 1;
            self.stats.redundancy.bytes_sent += cost;
            self.ledger.copies().push(now, spacing, number, wanted);
        }
    }

    /// Copies of late content are due.
    pub(in crate::connection) fn send_copies(&mut self, cx: &mut Context<'_>) {
        while let Some(copy) = self.ledger.copies().pop_due(cx.now) {
            self.ledger.copy(copy.packet, &mut cx.scratch.resolved);
            self.take_back(cx, Further::Exactly(copy.further), Lanes::on_doubted);
        }
    }
}
