//! Where in a frame the plugins receive and send.

use bevy_ecs::schedule::SystemSet;

/// The plugins' systems, of server and client alike.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetSystems {
    /// In `PreUpdate`: events that arrived since the last frame become messages. A system of `PreUpdate` that reads
    /// them runs after this set.
    Receive,
    /// In `Last`: what the game has sent in this frame leaves. A system of `Last` that sends runs before this set.
    Flush,
}
