//! What redundancy may add to the data: the capacity that they leave.

use super::bottleneck::Bottleneck;
use super::model::{PathModel, Queue};
use super::samples::AckSample;
use super::share::RepairShare;
use super::units::in_range;
use crate::time::{Duration, Time};

/// The capacity that data leave to redundancy.
#[derive(Clone, Debug)]
pub(super) struct SpareCapacity {
    /// How long the path has been full, less half of the time in which it was not, and the time of this value.
    crowded: Duration,
    crowded_at: Time,
    /// The time until which redundancy stays off the path.
    yields_until: Time,
    share: RepairShare,
    bottleneck: Bottleneck,
}

/// A path that has been full for this time is assumed to stay full for some time.
const CROWDED_ROUND_TRIPS: u32 = 4;
const CROWDED_MIN: Duration = Duration::from_millis(100);
const YIELDS_FOR: Duration = Duration::from_secs(2);
/// An imperceptible delay, even as the cost of each tick.
const UNNOTICED: Duration = Duration::from_millis(1);

impl SpareCapacity {
    pub(super) fn new() -> Self {
        SpareCapacity {
            crowded: Duration::ZERO,
            crowded_at: Time::ZERO,
            yields_until: Time::ZERO,
            share: RepairShare::default(),
            bottleneck: Bottleneck::new(),
        }
    }

    pub(super) fn set_spread(&mut self, spread: Duration) {
        self.bottleneck.set_spread(spread);
    }

    pub(super) fn expect_foreign_queues(&mut self) {
        self.share.expect_foreign_queues();
    }

    /// A packet leaves.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u32) {
        self.bottleneck.on_sent(now, bytes);
    }

    pub(super) fn begin_burst(&mut self, now: Time) {
        self.bottleneck.begin_burst(now);
    }

    pub(super) fn on_sample(&mut self, ack: &AckSample, rtt: Duration, path: &PathModel) {
        self.bottleneck.on_ack(ack.bytes, ack.sent_at, in_range(rtt));
        self.share.on_sample(ack.now, ack.smoothed, path.queue() > Queue::Empty);
    }

    /// Traffic that yields to a queue drains it, and would return at once. It therefore pauses, so that flows that
    /// share the queue or send in the other direction get capacity.
    pub(super) fn on_time(&mut self, now: Time, path: &PathModel, is_competing: bool) {
        let passed = now.since(core::mem::replace(&mut self.crowded_at, now));
        let enough = (CROWDED_ROUND_TRIPS * path.smoothed()).max(CROWDED_MIN);
        if is_crowded(now, path, is_competing) || path.queue() >= Queue::AtTarget {
            self.crowded = (self.crowded + passed).min(2 * enough);
        } else {
            self.crowded = self.crowded.saturating_sub(passed / 2);
        }
        if self.crowded > enough {
            self.yields_until = now + YIELDS_FOR;
        }
    }

    pub(super) fn is_congested(&self, now: Time, path: &PathModel, is_competing: bool) -> bool {
        now < self.yields_until || is_crowded(now, path, is_competing)
    }

    /// The share of the repairs required by the path's losses that fits, 0 to 1.
    pub(super) fn repair_share(&self) -> f32 {
        self.share.part()
    }

    /// Redundancy may delay data by an imperceptible time, and without a queue by as much as it saves on average:
    /// losses by an overflowing queue do not justify more bytes.
    pub(super) fn has_room_beside(
        &self,
        now: Time,
        bytes: usize,
        more: usize,
        saved: Duration,
        path: &PathModel,
    ) -> bool {
        let (bytes, more) = (bytes as u32, more as u32);
        let late = self.bottleneck.lateness(now, bytes.saturating_add(more));
        let added = late.saturating_sub(self.bottleneck.lateness(now, bytes));
        added <= UNNOTICED || path.queue() == Queue::Empty && late <= saved
    }
}

fn is_crowded(now: Time, path: &PathModel, is_competing: bool) -> bool {
    path.is_measured()
        && (is_competing && path.is_limited(now) || path.is_full(now) || path.settled_queue() >= Queue::AtTarget)
}
