//! The parameters that differ between the default controller and the aggressive one.

use super::cubic;

/// The behaviour of a delay-aware controller towards other flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggressiveness {
    Default,
    Aggressive,
}

impl Aggressiveness {
    /// The number of TCP flows as which it competes.
    pub(super) fn flows(self) -> u32 {
        match self {
            Aggressiveness::Default => 1,
            Aggressiveness::Aggressive => 3,
        }
    }

    /// The window that a loss leaves while it competes. A paced flow meets the full queue less often than the bursts of
    /// TCP do, and so gives up more each time: half of the window, not 0.3.
    pub(super) fn after_overflow(self, window: u32) -> u32 {
        match self {
            Aggressiveness::Default => window / 2,
            Aggressiveness::Aggressive => cubic::reduced(window, self.flows()),
        }
    }

    /// Loss beyond the usual, in percent, that counts as congestion while there is a queue.
    pub(super) fn loss_with_queue(self) -> u32 {
        match self {
            Aggressiveness::Default => 10,
            Aggressiveness::Aggressive => 15,
        }
    }
}
