//! The parameters that differ between the default controller and the aggressive one.

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

    /// Loss beyond the usual, in percent, that counts as congestion while there is a queue.
    pub(super) fn loss_with_queue(self) -> u32 {
        match self {
            Aggressiveness::Default => 10,
            Aggressiveness::Aggressive => 15,
        }
    }
}
