//! The name of a group: one token of a subject, so that no name reaches another's messages.

use std::fmt;
use std::sync::Arc;

/// The name of a group.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(Arc<str>);

/// Why a text is no name of a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no name of a group: dots, spaces and the wildcards `*` and `>` would reach other groups; \
     use 1 to {NAME_BYTES_MAX} letters of a to z, A to Z, digits, `-` and `_`"
)]
pub struct GroupNameError(String);

impl GroupName {
    /// Checks a name: 1 to 64 ASCII letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// The text is no name.
    pub fn new(text: &str) -> Result<GroupName, GroupNameError> {
        let is_right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        match (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_right) {
            true => Ok(GroupName(text.into())),
            false => {
                let start: String = text.chars().take(NAME_BYTES_MAX).collect();
                Err(GroupNameError(start.escape_debug().to_string()))
            }
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for GroupName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

const NAME_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_wildcards_or_dots_is_refused_with_the_remedy() {
        assert_eq!(GroupName::new("Team-1_x").unwrap().as_str(), "Team-1_x");
        for wrong in ["", ".", "a.b", "*", ">", "a*", "a b", "ä", "a\n", &"a".repeat(65)] {
            let error = GroupName::new(wrong).unwrap_err().to_string();
            assert!(error.contains("use 1 to 64 letters"), "{error}");
        }
    }
}
