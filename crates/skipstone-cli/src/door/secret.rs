//! The token that a client gives before it gets any reply: the same token and the same rule at each door.

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// A token must be as long as a key: its holder is admitted at once, however many wrong tokens were tried before, so
/// only its length prevents guessing.
#[derive(Clone)]
pub(crate) struct Secret(Arc<[u8]>);

impl Secret {
    /// # Errors
    /// A client cannot type it, or could guess it. The error says what to do.
    pub(crate) fn new(token: &str) -> Result<Self, String> {
        if token.len() < TOKEN_BYTES_MIN {
            return Err(format!(
                "--console-token has {} bytes and needs {TOKEN_BYTES_MIN}: one of `openssl rand -hex 16` cannot be \
                 guessed",
                token.len()
            ));
        }
        if token.len() > TOKEN_BYTES_MAX {
            return Err(format!("--console-token is longer than {TOKEN_BYTES_MAX} bytes: use a shorter one"));
        }
        if token.chars().any(char::is_control) {
            return Err("--console-token has a control character, which cannot be typed: remove it".into());
        }
        Ok(Secret(token.as_bytes().into()))
    }

    /// Whether this is the token. The time of the comparison depends on the given bytes alone.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        let mut difference = self.0.len() ^ given.len();
        for (byte, wanted) in given.iter().zip(self.0.iter().cycle()) {
            difference |= usize::from(byte ^ wanted);
        }
        black_box(difference) == 0
    }
}

/// Checks that a listener which other machines can reach requires a token.
///
/// # Errors
/// They are not. The sentence names the remedy.
pub(crate) fn check_reach(what: &str, listen: SocketAddr, secret: Option<&Secret>) -> Result<(), String> {
    if secret.is_some() || listen.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "the {what} would listen on {listen}, where other machines can reach it, without a token: set \
         --console-token, or listen on 127.0.0.1"
    ))
}

/// A wrong token is rejected after a delay in which its connection occupies a stranger's place: guessing costs time and
/// work, and logs stay short. WHY the right one is accepted at once, without a lock-out: an attacker at the operator's
/// address must not lock out the operator.
pub(crate) const WRONG_TOLD_AFTER: Duration = Duration::from_secs(2);

/// 16 hexadecimal digits are 64 bits, too many to guess at these delays.
const TOKEN_BYTES_MIN: usize = 16;
const TOKEN_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_bytes_compare_equal() {
        let secret = Secret::new("0123456789abcdef").expect("it is long enough");
        assert!(secret.is(b"0123456789abcdef"));
        for wrong in
            ["", "0", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0", &"0123456789abcdef".repeat(2)]
        {
            assert!(!secret.is(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn guessable_and_untypable_tokens_are_refused() {
        let refused = Secret::new("0123456789abcde").err().expect("15 bytes");
        assert!(refused.contains("has 15 bytes and needs 16: one of `openssl rand -hex 16`"), "{refused}");
        assert!(Secret::new("").is_err() && Secret::new("0123456789abcdef\n").is_err());
        assert!(Secret::new(&"a".repeat(257)).is_err() && Secret::new("пароль из слов").is_ok());
    }

    #[test]
    fn a_token_is_required_beyond_loopback() {
        let reach = |listen: &str, secret| check_reach("console", listen.parse().expect("an address"), secret);
        assert!(reach("0.0.0.0:7778", None).expect_err("all can reach it").contains("set --console-token"));
        let secret = Secret::new("0123456789abcdef").expect("it is long enough");
        assert!(reach("[::]:7778", Some(&secret)).is_ok());
        assert!(reach("[::ffff:127.0.0.1]:7778", None).is_ok() && reach("127.0.0.1:7778", None).is_ok());
    }
}
