//! How a node moves players.

use crate::directory::NodeName;

/// Settings of a node's moves.
#[derive(Clone, Debug)]
pub struct MoveSettings {
    /// This node.
    pub node: NodeName,
    /// The number before that of the first move: a random one, so that a restarted node repeats none.
    pub first_id: u64,
    /// Moves at once in each direction.
    pub moves_max: usize,
    /// Bytes of a player's state, which the other node holds until the player arrives.
    pub state_bytes_max: usize,
}

impl MoveSettings {
    /// 1,024 moves at once in each direction, with up to 64 KiB of state.
    pub fn new(node: NodeName, first_id: u64) -> MoveSettings {
        MoveSettings { node, first_id, moves_max: 1_024, state_bytes_max: 64 << 10 }
    }
}
