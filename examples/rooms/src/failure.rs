//! What ends a part of the game.

/// Each call of the library has its own error, with cause and remedy.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
