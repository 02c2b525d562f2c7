//! The token that a client gives before anything else is said to it.

use std::hint::black_box;

/// A token that a client can type: the sentence says what is wrong with it.
pub(crate) fn check_token(token: &str) -> Result<(), &'static str> {
    if token.is_empty() {
        return Err("the console's token is empty: give one, or none at all");
    }
    if token.len() > TOKEN_BYTES_MAX {
        return Err("the console's token is longer than 256 bytes: use a shorter one");
    }
    if token.chars().any(char::is_control) {
        return Err("the console's token has a control character, which cannot be typed: remove it");
    }
    Ok(())
}

/// The time of the comparison depends on the given text, not on the token. `expected` is not empty.
pub(crate) fn same_in_constant_time(expected: &[u8], given: &[u8]) -> bool {
    let mut difference = expected.len() ^ given.len();
    for (byte, wanted) in given.iter().zip(expected.iter().cycle()) {
        difference |= usize::from(byte ^ wanted);
    }
    black_box(difference) == 0
}

const TOKEN_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_bytes_are_the_same() {
        assert!(same_in_constant_time(b"secret", b"secret"));
        for wrong in ["", "s", "secre", "secreT", "secretsecret", "secrets"] {
            assert!(!same_in_constant_time(b"secret", wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn tokens_that_nobody_can_type_are_refused() {
        assert!(check_token("").is_err() && check_token("a\nb").is_err());
        assert!(check_token(&"a".repeat(257)).is_err() && check_token("good token").is_ok());
    }
}
