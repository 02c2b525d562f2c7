//! The name that was meant, when one is written that does not exist.

/// Of these names, the one most like what was written, if any is like it at all.
pub(crate) fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = names.into_iter().map(|name| (edit_steps(written, name), name)).min()?;
    (best.0 <= written.len().max(best.1.len()) / 2).then_some(best.1)
}

/// Levenshtein's distance: characters to insert, remove or replace.
pub(crate) fn edit_steps(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, from_char) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (at, to_char) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_char != *to_char);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_like_nothing_has_no_nearest_name() {
        assert_eq!(nearest("entitles", ["loss", "entities", "minutes"]), Some("entities"));
        assert_eq!(nearest("colour", ["rtt", "loss"]), None);
        assert_eq!(edit_steps("kitten", "sitting"), 3);
    }
}
