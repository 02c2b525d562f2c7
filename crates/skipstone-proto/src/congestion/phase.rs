//! What a controller does at present.

/// What a controller does at present: it says whose queue that of the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The window grows quickly to find the path's rate. Packets may leave in bursts, even if it is used up.
    Starting,
    /// A queue is this side's own.
    Steady,
    /// The window is small for a moment, to see the path without this side's queue.
    Draining,
    /// Other flows keep the queue: redundancy yields.
    Competing,
    /// The window is small for a moment, to find out whether other flows keep the queue.
    Probing,
}

impl Phase {
    /// Whether the window is small for a moment, and says nothing about the path.
    pub(super) fn is_lull(self) -> bool {
        matches!(self, Phase::Draining | Phase::Probing)
    }

    /// Whether other flows keep the queue, as far as it is known.
    pub(super) fn is_competing(self) -> bool {
        matches!(self, Phase::Competing | Phase::Probing)
    }
}
