//! The extension for Godot 4: the class `SkipstoneMultiplayerPeer`, a `MultiplayerPeer` for the engine's multiplayer
//! API (RPCs, MultiplayerSpawner, MultiplayerSynchronizer). `link` has its behaviour without the engine, `peer` the
//! class.

mod link;
mod peer;
mod transfer;

use godot::prelude::{ExtensionLibrary, gdextension};

struct SkipstoneExtension;

#[gdextension]
#[expect(unsafe_code, reason = "the engine loads the library by what this declares")]
unsafe impl ExtensionLibrary for SkipstoneExtension {}
