//! The answer of a command, for people and for programs.

use serde_json::Value as Json;

/// The answer to a command.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// The answer as text for people.
    pub(crate) text: String,
    /// For programs: `result` depends only on the seed, not on the engine; the other fields do not.
    pub(crate) json: Json,
    /// Whether it was stopped before its end.
    pub(crate) is_partial: bool,
}

impl Answer {
    /// Says so if it was stopped before its end.
    pub(super) fn marked(mut self) -> Answer {
        if self.is_partial {
            self.text += "\nstopped early: the counts above are complete";
            self.json["partial"] = true.into();
        }
        self
    }
}
