//! What the loop takes from its server, and from the moves of its players.

use skipstone::Event;

/// Something that happened.
#[derive(Debug)]
pub(super) enum LoopEvent {
    Server(Event),
    #[cfg(feature = "fleet")]
    Move(skipstone_fleet::moves::MoveNotice),
}
