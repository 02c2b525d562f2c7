//! What a ticket is about.

use super::error::IssueError;
use crate::directory::{Epoch, NodeName, RoomName};

/// A player's right to join a room at a node while the room has this epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The player: 1 to 128 bytes without control characters.
    pub player: String,
    /// The room.
    pub room: RoomName,
    /// The node that runs it.
    pub node: NodeName,
    /// The room's epoch there.
    pub epoch: Epoch,
}

impl Ticket {
    pub(super) fn check(&self) -> Result<(), IssueError> {
        match is_player(&self.player) {
            true => Ok(()),
            false => Err(IssueError::Player { bytes: self.player.len() }),
        }
    }
}

/// Whether a text is the name of a player. JSON writes such a byte as two at most, so that a ticket has 900 bytes at most.
pub(super) fn is_player(text: &str) -> bool {
    (1..=PLAYER_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
}

const PLAYER_BYTES_MAX: usize = 128;
