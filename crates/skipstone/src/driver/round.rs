//! The work of one round of a driver. A round ends in time, however much is waiting: timers run and packets leave after
//! it.

use crate::driver_stats::DriverStats;
use skipstone_proto::Cost;
use std::time::Duration;

/// The class of clients for which work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Players, and all datagrams of sockets that they share.
    Player,
    /// Streams that carry no player, or none yet.
    Stranger,
}

/// The rest of a round: at 60 ticks a second a tick has eight of them. A class that overdraws its part does not reduce
/// the other's.
#[derive(Debug)]
pub(super) struct Round {
    players: Cost,
    strangers: Cost,
    /// The class whose turn it is.
    class: Class,
}

const FOR_PLAYERS: Cost = Cost::micros(1_500);
/// New clients are admitted while a server is busy. A class without competition has both parts.
const FOR_STRANGERS: Cost = Cost::micros(500);

impl Round {
    pub(super) fn begin() -> Round {
        Round { players: FOR_PLAYERS, strangers: FOR_STRANGERS, class: Class::Player }
    }

    /// Whether there is budget for a turn of this class, depending on whether unauthenticated clients wait.
    pub(super) fn has_room(&self, class: Class, strangers_wait: bool) -> bool {
        let own = match class {
            Class::Player => self.players,
            Class::Stranger => self.strangers,
        };
        own.is_left() || (class == Class::Stranger || !strangers_wait) && (self.players + self.strangers).is_left()
    }

    /// A turn of this class begins; the following work is charged to it.
    pub(super) fn begin_turn(&mut self, class: Class) {
        self.class = class;
    }

    pub(super) fn charge(&mut self, cost: Cost) {
        self.charge_to(self.class, cost);
    }

    pub(super) fn charge_to(&mut self, class: Class, cost: Cost) {
        match class {
            Class::Player => self.players -= cost,
            Class::Stranger => self.strangers -= cost,
        }
    }

    /// The cost of the round so far.
    pub(super) fn spent(&self) -> Cost {
        FOR_PLAYERS + FOR_STRANGERS - self.players - self.strangers
    }
}

impl DriverStats {
    /// Counts a finished round, and whether it left something to read.
    pub(super) fn note_round(&mut self, round: &Round, is_cut: bool) {
        self.rounds_cut += u64::from(is_cut);
        let cost = Duration::from_nanos(round.spent().as_nanos().max(0) as u64);
        self.round_cost_max = self.round_cost_max.max(cost);
    }
}
