//! The suspected packets, and the time of the peer's silence.

use crate::rtt::Rtt;
use crate::time::{Duration, Time};

/// The suspected packets, and the beginning of the peer's silence.
#[derive(Debug)]
pub(in crate::recovery::ledger) struct Probing {
    /// The first packet that may still be suspected.
    pub(in crate::recovery::ledger) from: u64,
    pub(in crate::recovery::ledger) last_eliciting_at: Time,
    /// When the probe timeout last expired. Packets that leave for other reasons do not postpone the next probe.
    pub(in crate::recovery::ledger) last_probe_at: Time,
    /// Time of the last new acknowledgement, or of the first packet that waits for one.
    pub(in crate::recovery::ledger) progress_at: Time,
    /// Added to the timeout after spurious suspicions on a path that loses nothing: there the machines pause
    /// occasionally.
    pub(in crate::recovery::ledger) slack: Duration,
}

const SLACK_MIN: Duration = Duration::from_millis(2);
const SLACK_MAX: Duration = Duration::from_millis(64);
const TIMEOUTS_UNTIL_SILENCE: u32 = 3;

impl Probing {
    pub(in crate::recovery::ledger) fn starting_at(next: u64) -> Self {
        Probing {
            from: next,
            last_eliciting_at: Time::ZERO,
            last_probe_at: Time::ZERO,
            progress_at: Time::ZERO,
            slack: Duration::ZERO,
        }
    }

    pub(in crate::recovery::ledger) fn on_sent(&mut self, now: Time, is_first_in_flight: bool) {
        self.last_eliciting_at = now;
        if is_first_in_flight {
            self.progress_at = now;
        }
    }

    pub(in crate::recovery::ledger) fn on_progress(&mut self, now: Time) {
        self.progress_at = now;
    }

    /// A suspicion was spurious: the packet had arrived, on a path that loses nothing.
    pub(in crate::recovery::ledger) fn on_spurious_probe(&mut self) {
        self.slack = (self.slack * 2).clamp(SLACK_MIN, SLACK_MAX);
    }

    /// The path loses packets, which must be detected early.
    pub(in crate::recovery::ledger) fn on_loss(&mut self) {
        self.slack = if self.slack > SLACK_MIN { self.slack / 2 } else { Duration::ZERO };
    }

    /// The time from which the peer counts as silent. Before the first sample, only single probes are possible.
    pub(in crate::recovery::ledger) fn silent_from(&self, timeout: Duration, rtt: &Rtt) -> Time {
        let timeouts = if rtt.is_measured() { TIMEOUTS_UNTIL_SILENCE } else { 1 };
        self.progress_at + timeout * timeouts
    }
}
