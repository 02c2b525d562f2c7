//! How many players a node has moved: for its console and its metrics.

use std::collections::BTreeMap;

/// Counters of moves, of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MoveFigures {
    /// Players that went to another node.
    pub(crate) left: u64,
    /// Players that came from another node.
    pub(crate) arrived: u64,
    /// Moves after which the player stayed, by reason.
    pub(crate) failed: BTreeMap<&'static str, u64>,
    /// Players whose clients do not follow moves, and were told to reconnect at another node.
    pub(crate) told: u64,
    /// Whether the node gives its players away.
    pub(crate) is_draining: bool,
}
