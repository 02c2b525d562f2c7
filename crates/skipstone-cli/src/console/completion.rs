//! What Tab does to a line, given the words that could stand there.

/// The result of one Tab.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// To be inserted at the cursor.
    pub(super) insert: String,
    /// To be shown, if nothing can be inserted.
    pub(super) choices: Vec<String>,
}

/// Completes the last word of `before`, the line up to the cursor, from `candidates` for that word.
pub(super) fn complete(before: &str, mut candidates: Vec<String>) -> Completion {
    let word = last_word(before);
    candidates.retain(|candidate| {
        candidate.starts_with(word) && !candidate.is_empty() && !candidate.contains(char::is_control)
    });
    candidates.sort();
    candidates.dedup();
    let shared = shared_prefix(&candidates);
    let rest = &shared[word.len().min(shared.len())..];
    match candidates.len() {
        0 => Completion::default(),
        1 => Completion { insert: format!("{rest} "), choices: Vec::new() },
        _ if !rest.is_empty() => Completion { insert: rest.to_owned(), choices: Vec::new() },
        _ => Completion { insert: String::new(), choices: candidates },
    }
}

/// The word that ends at the cursor; empty after a space.
pub(super) fn last_word(before: &str) -> &str {
    before.rsplit(char::is_whitespace).next().unwrap_or_default()
}

fn shared_prefix(candidates: &[String]) -> &str {
    let Some((first, others)) = candidates.split_first() else {
        return "";
    };
    let shared = |other: &String| {
        let same = first.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(character, _)| character.len_utf8()).sum()
    };
    let length = others.iter().map(shared).min().unwrap_or(first.len());
    &first[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(before: &str, candidates: &[&str]) -> (String, Vec<String>) {
        let completion = complete(before, candidates.iter().map(|&word| word.to_owned()).collect());
        (completion.insert, completion.choices)
    }

    #[test]
    fn the_only_candidate_is_completed_with_a_space() {
        assert_eq!(tab("st", &["stats", "kick"]), ("ats ".to_owned(), vec![]));
        assert_eq!(tab("kick zo", &["zoë"]), ("ë ".to_owned(), vec![]));
        assert_eq!(tab("stats", &["stats"]), (" ".to_owned(), vec![]));
    }

    #[test]
    fn several_are_completed_as_far_as_they_agree_and_shown_then() {
        assert_eq!(tab("s", &["stats", "stop"]), ("t".to_owned(), vec![]));
        let both = vec!["stats".to_owned(), "stop".to_owned()];
        assert_eq!(tab("st", &["stop", "stats", "stop"]), (String::new(), both));
    }

    #[test]
    fn candidates_that_do_not_fit_are_ignored() {
        assert_eq!(tab("x", &["stats", "x\x1b[2J", ""]), (String::new(), vec![]));
        assert_eq!(tab("", &["é", "è"]).1.len(), 2);
    }
}
