//! What is wrong with a value, and in which field.

use std::fmt;

/// A mistake in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The fields that lead to it, outermost first.
    path: String,
    why: String,
}

impl Wrong {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Wrong { path: String::new(), why: why.into() }
    }

    /// The same, one field further out.
    pub(super) fn within(self, field: &str) -> Self {
        let path = match self.path.as_bytes().first() {
            None => field.to_owned(),
            Some(b'[') => format!("{field}{}", self.path),
            Some(_) => format!("{field}.{}", self.path),
        };
        Wrong { path, ..self }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.why)
    }
}
