//! Transports by name, as flags and plans have them: `bench` and `compare` each have transports of their own.

use super::nearest::nearest;
use crate::left_out::remedy;
use strum::VariantArray;

/// A value that is identified by its name.
pub(crate) trait Named: Copy + Into<&'static str> + VariantArray {
    /// Whether this build of the tool has it.
    fn is_built_in(self) -> bool;

    /// As it is written and shown.
    fn name(self) -> &'static str {
        self.into()
    }

    /// All that this build has.
    fn built_in() -> Vec<Self> {
        Self::VARIANTS.iter().copied().filter(|transport| transport.is_built_in()).collect()
    }

    /// The transport of this name; the error lists the known names.
    fn of_name(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let found = Self::VARIANTS.iter().find(|transport| transport.name() == text);
        let transport = found.ok_or_else(|| {
            let names: Vec<&str> = Self::VARIANTS.iter().map(|transport| transport.name()).collect();
            let meant = nearest(text, names.iter().copied());
            let there_are = meant.map_or("there are".to_owned(), |name| format!("did you mean {name}? There are"));
            format!("there is no transport \"{text}\"; {there_are} {}", names.join(", "))
        })?;
        if !transport.is_built_in() {
            return Err(remedy(transport.name()));
        }
        Ok(*transport)
    }
}
