//! What a controller does at present.

/// What a controller does at present: it says whose queue that of the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The window grows quickly to find the path's rate. Packets may leave in bursts, even if it is used up; in every
    /// other phase two datagrams at once then, or one of a window below eight. If the window is smaller when this phase
    /// ends, losses of packets sent before count as answered.
    Starting,
    /// A queue is this side's own.
    Steady,
    /// The window is small for a moment, to see the path without this side's queue: what remains of the delay when this
    /// phase ends, up to the time of two datagrams, is that of the datagrams themselves.
    Draining,
    /// Other flows keep the queue: redundancy yields while the window is used up, and [`PathModel::base`] is remembered
    /// for longer.
    ///
    /// [`PathModel::base`]: super::PathModel::base
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
