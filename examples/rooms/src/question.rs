//! The question that the entrance asks, and the nodes answer.

/// Who may enter a room: asked by the entrance, answered by the room's owner.
pub(crate) const ENTER: &str = "game.enter";

/// A text's words, if they are that many.
pub(crate) fn words<const COUNT: usize>(text: &str) -> Option<[&str; COUNT]> {
    text.split(' ').collect::<Vec<_>>().try_into().ok()
}
