//! Names of nodes and rooms: one token of a key each, so that no name reaches another's entry.

use std::fmt;
use std::sync::Arc;

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no name of a node or a room; it has 1 to {NAME_BYTES_MAX} letters of a to z, A to Z, digits, `-` and `_`"
)]
pub struct NameError(String);

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a name: 1 to 64 ASCII letters, digits, `-` and `_`. Dots and wildcards are refused.
            ///
            /// # Errors
            /// The text is no name.
            pub fn new(text: &str) -> Result<$name, NameError> {
                check(text).map(|()| $name(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub(super) fn key(&self) -> String {
                format!(concat!($prefix, "{}"), self.0)
            }

            pub(super) fn of_key(key: &str) -> Option<$name> {
                $name::new(key.strip_prefix($prefix)?).ok()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a node, which is its entry `node.NAME`.
    NodeName,
    "node."
);
name!(
    /// The name of a room, which is its entry `room.NAME`.
    RoomName,
    "room."
);

fn check(text: &str) -> Result<(), NameError> {
    let is_right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_right) {
        true => Ok(()),
        false => Err(NameError(text.chars().take(NAME_BYTES_MAX).collect::<String>().escape_debug().to_string())),
    }
}

const NAME_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_token_without_wildcards() {
        for right in ["a", "Room-1_x", &"a".repeat(64)] {
            assert_eq!(RoomName::new(right).unwrap().key(), format!("room.{right}"));
        }
        for wrong in ["", ".", "a.b", "*", ">", "a*", "a b", "ä", "a\n", "a/b", &"a".repeat(65)] {
            assert!(NodeName::new(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(NodeName::of_key("node.a"), Some(NodeName::new("a").unwrap()));
        for other in ["room.a", "node.", "node.a.b", "a"] {
            assert_eq!(NodeName::of_key(other), None, "{other}");
        }
    }
}
