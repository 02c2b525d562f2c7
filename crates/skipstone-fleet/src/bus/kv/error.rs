//! Why a call of a key-value store was refused.

use crate::bus::error::{BusFull, PublishError};

/// Why a call was not accepted. Nothing was queued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KvError {
    /// The store's name is invalid.
    #[error("`{0}` is no name of a store; it has letters, digits, `-` and `_`")]
    Bucket(String),
    /// The key is invalid.
    #[error("`{0}` is no key; it has letters, digits, `-`, `_`, `=`, `/`, and dots that stand between others")]
    Key(String),
    /// The pattern of a watch is invalid.
    #[error("`{0}` is no pattern of keys; it is a key in which `*` stands for a token and `>` for any rest")]
    Pattern(String),
    /// The value is too large, or too much waits.
    #[error(transparent)]
    Bus(#[from] PublishError),
}

impl From<BusFull> for KvError {
    fn from(full: BusFull) -> KvError {
        KvError::Bus(full.into())
    }
}

/// Checks the name of a store.
pub(in crate::bus) fn check_bucket(name: &str) -> Result<(), KvError> {
    let is_right = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    match !name.is_empty() && name.len() <= BYTES_MAX && name.chars().all(is_right) {
        true => Ok(()),
        false => Err(KvError::Bucket(name.escape_debug().to_string())),
    }
}

/// Checks a key.
pub(in crate::bus) fn check_key(key: &str) -> Result<(), KvError> {
    match key.len() <= BYTES_MAX && key.split('.').all(is_token) {
        true => Ok(()),
        false => Err(KvError::Key(key.escape_debug().to_string())),
    }
}

/// Checks a pattern of keys.
pub(in crate::bus) fn check_pattern(pattern: &str) -> Result<(), KvError> {
    let before_rest = pattern.strip_suffix(".>").unwrap_or(if pattern == ">" { "*" } else { pattern });
    match pattern.len() <= BYTES_MAX && before_rest.split('.').all(|token| token == "*" || is_token(token)) {
        true => Ok(()),
        false => Err(KvError::Pattern(pattern.escape_debug().to_string())),
    }
}

fn is_token(token: &str) -> bool {
    let is_right = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '=' | '/');
    !token.is_empty() && token.chars().all(is_right)
}

/// Names and keys are parts of subjects.
const BYTES_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_tokens_between_dots_and_patterns_have_wildcards() {
        for right in ["room.R1", "a", "a/b=c_d-e"] {
            assert_eq!((check_key(right), check_pattern(right)), (Ok(()), Ok(())), "{right}");
        }
        for wrong in ["", ".", "a.", ".a", "a..b", "a b", "a\n", "ä", "a*", "a>"] {
            assert!(check_key(wrong).is_err() && check_pattern(wrong).is_err(), "{wrong}");
        }
        for pattern in [">", "a.>", "a.*.b", "*"] {
            assert!(check_key(pattern).is_err() && check_pattern(pattern).is_ok(), "{pattern}");
        }
        assert!(check_pattern(">.a").is_err());
        assert!(check_bucket("a.b").is_err() && check_bucket("").is_err() && check_bucket("fleet-1_x").is_ok());
        assert!(check_key(&"a".repeat(513)).is_err());
    }
}
