//! What differs between the default controller and the aggressive one, as numbers.

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

    /// Loss beyond the usual, in per cent, that is congestion while a queue stands.
    pub(super) fn loss_with_queue(self) -> u32 {
        match self {
            Manner::Default => 10,
            Manner::Aggressive => 15,
        }
    }
}
