//! A password: it comes from the environment or a file, and is never shown.

use std::fmt;
use std::path::Path;

/// Text that no message, log or result shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// The environment's name for a password.
pub(crate) const PASSWORD_VARIABLE: &str = "SKIPSTONE_DB_PASSWORD";

impl Secret {
    /// This text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The first line of a file.
    pub(crate) fn from_file(path: &Path) -> Result<Secret, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("--password-file {}: {error}; its first line is the password", path.display()))?;
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(Secret::new(line)),
            _ => Err(format!("--password-file {} begins with an empty line: write the password there", path.display())),
        }
    }

    /// The password itself, for a driver alone.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
