//! The name that was meant, when one is written that does not exist.

use strsim::levenshtein;

/// Of these names, the one most like what was written, if any is like it at all.
pub(crate) fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (steps, name) = names.into_iter().map(|name| (levenshtein(written, name), name)).min()?;
    (steps <= written.len().max(name.len()) / 2).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unrelated_word_has_no_nearest_name() {
        assert_eq!(nearest("entitles", ["loss", "entities", "minutes"]), Some("entities"));
        assert_eq!(nearest("colour", ["rtt", "loss"]), None);
    }
}
