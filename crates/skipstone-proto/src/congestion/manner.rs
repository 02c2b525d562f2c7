//! What differs between the default controller and the aggressive one, as numbers.

use super::cubic;

/// How a delay-aware controller treats others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Default,
    Aggressive,
}

impl Manner {
    /// As how many TCP flows it competes.
    pub(super) fn flows(self) -> u32 {
        match self {
            Manner::Default => 1,
            Manner::Aggressive => 3,
        }
    }

    /// The window that a loss leaves while it competes. A paced flow meets the full queue less often than the bursts of
    /// TCP do, and so gives up more each time: half of the window, not 0.3.
    pub(super) fn after_overflow(self, window: u32) -> u32 {
        match self {
            Manner::Default => window / 2,
            Manner::Aggressive => cubic::reduced(window, self.flows()),
        }
    }

    /// Loss beyond the usual, in per cent, that is congestion while a queue stands.
    pub(super) fn loss_with_queue(self) -> u32 {
        match self {
            Manner::Default => 10,
            Manner::Aggressive => 15,
        }
    }
}
