//! The state of loss detection: the time of the last loss, the reorder window and its inputs (RFC 8985).

use crate::recovery::ledger::packet::AckedPackets;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};

/// The criteria of loss, and the time of the last loss.
#[derive(Debug)]
pub(in crate::recovery::ledger) struct LossDetection {
    /// When the next packet may have to be declared lost.
    pub(in crate::recovery::ledger) due: Time,
    pub(in crate::recovery::ledger) reorder_window: Duration,
    /// Packets lost since the reorder window was last too short.
    pub(in crate::recovery::ledger) since_spurious: u32,
    /// Time of the last loss, of the last repair, or of the first packet.
    pub(in crate::recovery::ledger) troubled_at: Time,
    /// Time of the last loss.
    pub(in crate::recovery::ledger) lost_at: Time,
}

pub(in crate::recovery::ledger) const REORDER_WINDOW_MIN: Duration = Duration::from_millis(2);
/// Number of losses without a spurious one after which a reorder window that had grown is halved (RFC 8985, section
/// 6.2).
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
    /// A packet leaves; the first one starts the time without loss.
    pub(in crate::recovery::ledger) fn on_sent(&mut self, now: Time) {
        if self.troubled_at == Time::NEVER {
            self.troubled_at = now;
        }
    }

    /// Packets were lost.
    pub(in crate::recovery::ledger) fn on_lost(&mut self, now: Time) {
        (self.troubled_at, self.lost_at) = (now, now);
    }

    /// This number of packets was declared lost: a window that is not too short may become shorter.
    pub(in crate::recovery::ledger) fn on_found(&mut self, packets: u32) {
        self.since_spurious += packets;
        if self.since_spurious >= LOSSES_PER_HALVING {
            self.since_spurious = 0;
            self.reorder_window = (self.reorder_window / 2).max(REORDER_WINDOW_MIN);
        }
    }

    /// If packets that counted as lost have arrived, the window was too short.
    pub(in crate::recovery::ledger) fn on_acked(&mut self, acked: &AckedPackets, rtt: &Rtt) {
        if acked.spurious > 0 {
            self.reorder_window = (self.reorder_window * 2).min(rtt.smoothed()).max(REORDER_WINDOW_MIN);
            self.since_spurious = 0;
        }
    }
}
