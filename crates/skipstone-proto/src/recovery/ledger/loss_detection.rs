//! The state of loss detection: the time of the last loss, the reorder window and its inputs (RFC 8985).

use super::packet::AckedPackets;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};

/// When packets count as lost, and when they last were.
#[derive(Debug)]
pub(super) struct LossDetection {
    /// When the next packet may have to be declared lost.
    pub(super) due: Time,
    pub(super) reorder_window: Duration,
    /// Packets lost since the reorder window was last too short.
    pub(super) since_spurious: u32,
    /// When a packet was lost last, or a repair left because one might be, or the first packet left.
    pub(super) troubled_at: Time,
    /// When a packet was lost last.
    pub(super) lost_at: Time,
}

pub(super) const REORDER_WINDOW_MIN: Duration = Duration::from_millis(2);
/// After so many losses that were none too many, a reorder window that had grown is halved (RFC 8985, section 6.2).
const LOSSES_PER_HALVING: u32 = 16;

impl Default for LossDetection {
    fn default() -> Self {
        LossDetection {
            due: Time::NEVER,
            reorder_window: REORDER_WINDOW_MIN,
            since_spurious: 0,
            troubled_at: Time::NEVER,
            lost_at: Time::ZERO,
        }
    }
}

impl LossDetection {
    /// A packet leaves; the first of all begins the time without trouble.
    pub(super) fn on_sent(&mut self, now: Time) {
        if self.troubled_at == Time::NEVER {
            self.troubled_at = now;
        }
    }

    /// Packets were lost.
    pub(super) fn on_lost(&mut self, now: Time) {
        (self.troubled_at, self.lost_at) = (now, now);
    }

    /// So many were found to be lost: a window that is not too short may become shorter.
    pub(super) fn on_found(&mut self, packets: u32) {
        self.since_spurious += packets;
        if self.since_spurious >= LOSSES_PER_HALVING {
            self.since_spurious = 0;
            self.reorder_window = (self.reorder_window / 2).max(REORDER_WINDOW_MIN);
        }
    }

    /// If packets that counted as lost have arrived, the window was too short.
    pub(super) fn on_acked(&mut self, acked: &AckedPackets, rtt: &Rtt) {
        if acked.spurious > 0 {
            self.reorder_window = (self.reorder_window * 2).min(rtt.smoothed()).max(REORDER_WINDOW_MIN);
            self.since_spurious = 0;
        }
    }
}
