//! Which texts are subjects, and which may be published to.

use super::error::SubjectError;

/// Checks a subject that messages are published to: tokens between dots, none empty, without wildcards.
pub(super) fn check_published(subject: &str) -> Result<(), SubjectError> {
    check_tokens(subject)?;
    match subject.split('.').any(|token| token == "*" || token == ">") {
        true => Err(SubjectError::Wildcard(subject.into())),
        false => Ok(()),
    }
}

/// Checks a subject that is subscribed: `*` is any token, `>` any rest, as the last token.
pub(super) fn check_subscribed(subject: &str) -> Result<(), SubjectError> {
    check_tokens(subject)?;
    let is_last = |index: usize| index + 1 == subject.split('.').count();
    match subject.split('.').enumerate().any(|(index, token)| token == ">" && !is_last(index)) {
        true => Err(SubjectError::Wildcard(subject.into())),
        false => Ok(()),
    }
}

fn check_tokens(subject: &str) -> Result<(), SubjectError> {
    if subject.len() > BYTES_MAX {
        return Err(SubjectError::TooLong { bytes: subject.len() });
    }
    if subject.split('.').any(str::is_empty) {
        return Err(SubjectError::EmptyToken(subject.into()));
    }
    if subject.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return Err(SubjectError::Blank(subject.escape_debug().to_string()));
    }
    // `a*` is an ordinary token for NATS: a wildcard that matches nothing but itself.
    if subject.split('.').any(|token| token.len() > 1 && token.contains(['*', '>'])) {
        return Err(SubjectError::Wildcard(subject.into()));
    }
    Ok(())
}

/// The longest line of a client that a server accepts is 4,096 bytes, with two subjects in it.
const BYTES_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_whole_tokens_of_subscriptions() {
        for right in ["a", "a.b", "a.*.c", "*", ">", "a.>", "ä.b-c_d:e"] {
            assert_eq!(check_subscribed(right), Ok(()), "{right}");
        }
        for wrong in ["a.>.b", "a*", "a.b>", "**"] {
            assert!(matches!(check_subscribed(wrong), Err(SubjectError::Wildcard(_))), "{wrong}");
        }
        for wrong in ["a.*", ">", "a.>"] {
            assert!(matches!(check_published(wrong), Err(SubjectError::Wildcard(_))), "{wrong}");
        }
    }

    #[test]
    fn what_breaks_the_protocol_is_no_subject() {
        for check in [check_published, check_subscribed] {
            for wrong in ["", ".", "a.", ".a", "a..b"] {
                assert!(matches!(check(wrong), Err(SubjectError::EmptyToken(_))), "{wrong:?}");
            }
            for wrong in ["a b", "a\tb", "a\r\nPUB b 0", "a\0"] {
                assert!(matches!(check(wrong), Err(SubjectError::Blank(_))), "{wrong:?}");
            }
            assert!(matches!(check(&"a".repeat(1_025)), Err(SubjectError::TooLong { bytes: 1_025 })));
        }
    }
}
