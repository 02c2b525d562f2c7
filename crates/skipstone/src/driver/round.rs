//! How much work one round of a driver is. A round ends in time, whatever waits: timers run and packets leave behind it.

use crate::driver_stats::DriverStats;
use skipstone_proto::Cost;
use std::time::Duration;

/// Whom work is done for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Players, and whatever comes by sockets that they share.
    Player,
    /// Streams that carry no player, or none yet.
    Stranger,
}

/// What is left of a round.
#[derive(Debug)]
pub(super) struct Round {
    left: Cost,
    spent: Cost,
}

/// Of all that is read in one round. At 60 ticks a second a tick has eight of them.
const ROUND: Cost = Cost::micros(2_000);
/// The part of it that players leave to strangers who wait: newcomers are let in while a server is busy.
const FOR_STRANGERS: Cost = Cost::micros(500);

impl Round {
    pub(super) fn begin() -> Round {
        Round { left: ROUND, spent: Cost::ZERO }
    }

    /// Whether there is time for a turn of this class, while strangers wait or do not.
    pub(super) fn has_room(&self, class: Class, strangers_wait: bool) -> bool {
        match class {
            Class::Player if strangers_wait => (self.left - FOR_STRANGERS).is_left(),
            Class::Player | Class::Stranger => self.left.is_left(),
        }
    }

    pub(super) fn charge(&mut self, cost: Cost) {
        self.left -= cost;
        self.spent += cost;
    }

    /// What the round has cost so far.
    #[cfg(test)]
    pub(super) fn spent(&self) -> Cost {
        self.spent
    }
}

impl DriverStats {
    /// Counts a round that is over, whether it left something to read.
    pub(super) fn note_round(&mut self, round: &Round, is_cut: bool) {
        self.rounds_cut += u64::from(is_cut);
        let cost = Duration::from_nanos(round.spent.as_nanos().max(0) as u64);
        self.round_cost_max = self.round_cost_max.max(cost);
    }
}
