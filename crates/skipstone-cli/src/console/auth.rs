//! The token that a client gives before anything else is said to it.

use std::hint::black_box;
use std::time::Instant;

/// The outcome of a try.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenAnswer {
    /// The right token.
    Welcome,
    /// Wrong.
    Closed,
}

/// The time limit for a session's token, and the comparison. One attempt: a client with a wrong token must connect
/// again.
#[derive(Debug)]
pub(super) struct Gate {
    deadline: Instant,
}

impl Gate {
    /// A gate that is to be passed before `deadline`.
    pub(super) const fn new(deadline: Instant) -> Gate {
        Gate { deadline }
    }

    /// Compares what was given with `token`.
    pub(super) fn try_token(&self, token: &str, given: &str) -> TokenAnswer {
        let is_right = same_in_constant_time(token.as_bytes(), given.as_bytes());
        if is_right { TokenAnswer::Welcome } else { TokenAnswer::Closed }
    }

    /// Whether the time is over.
    pub(super) fn is_late(&self, now: Instant) -> bool {
        now >= self.deadline
    }
}

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
    use std::time::Duration;

    #[test]
    fn only_the_same_bytes_are_the_same() {
        assert!(same_in_constant_time(b"secret", b"secret"));
        for wrong in ["", "s", "secre", "secreT", "secretsecret", "secrets"] {
            assert!(!same_in_constant_time(b"secret", wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn the_gate_is_late_at_its_deadline() {
        let now = Instant::now();
        let gate = Gate::new(now + Duration::from_secs(10));
        assert!(!gate.is_late(now) && gate.is_late(now + Duration::from_secs(10)));
    }

    #[test]
    fn tokens_that_nobody_can_type_are_refused() {
        assert!(check_token("").is_err() && check_token("a\nb").is_err());
        assert!(check_token(&"a".repeat(257)).is_err() && check_token("good token").is_ok());
    }
}
