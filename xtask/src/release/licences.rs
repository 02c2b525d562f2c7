//! Which licences the crates in an artifact may have: those that `deny.toml` allows, which cargo-deny checks for all
//! crates of the workspace.

/// Refuses a crate without a licence, and one whose licence is not allowed.
pub(super) fn check(name: &str, licence: Option<&str>) -> Result<(), String> {
    judge(name, licence, &allowed(include_str!("../../../deny.toml")))
}

fn judge(name: &str, licence: Option<&str>, allowed: &[String]) -> Result<(), String> {
    let remedy = "replace the crate, or add the licence to `allow` in deny.toml if its terms can be kept";
    match licence {
        None => Err(format!("{name} states no licence: {remedy}")),
        Some(text) if is_allowed(text, allowed) => Ok(()),
        Some(text) => Err(format!("{name} has the licence {text}, which is not allowed: {remedy}")),
    }
}

/// The names between `allow = [` and the next `]`.
fn allowed(rules: &str) -> Vec<String> {
    let list = rules.split_once("\nallow = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an expression of SPDX holds with these licences: `(MIT OR Apache-2.0) AND Unicode-3.0`. A slash is an old way
/// to write OR.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    either(&mut words, allowed)
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let mut holds = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        holds |= both(words, allowed);
    }
    holds
}

fn both(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let mut holds = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        holds &= one(words, allowed);
    }
    holds
}

fn one(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let Some(first) = words.next() else { return false };
    if first == "(" {
        let holds = either(words, allowed);
        return words.next_if_eq(&")").is_some() && holds;
    }
    let mut name = first.to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        name += &format!(" WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_that_is_not_allowed_is_refused_with_the_remedy() {
        let allowed = allowed("[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n]\nother = [\"GPL-3.0\"]\n");
        assert_eq!(allowed, ["MIT", "Zlib"]);
        assert_eq!(judge("a 1.0", Some("GPL-3.0 OR MIT"), &allowed), Ok(()));
        let refused = |licence| judge("a 1.0", licence, &allowed).expect_err("it is refused");
        assert!(refused(Some("GPL-3.0")).contains("a 1.0 has the licence GPL-3.0"));
        assert!(refused(Some("MIT AND GPL-3.0")).contains("deny.toml"));
        assert!(refused(None).contains("replace the crate"));
    }

    #[test]
    fn expressions_are_read_as_spdx_says() {
        let allowed = ["A", "B", "C WITH X"].map(str::to_owned);
        for text in ["A", "A OR Z", "Z OR A", "A/Z", "A AND B", "Z AND Y OR A", "(Z OR A) AND B", "C WITH X"] {
            assert!(is_allowed(text, &allowed), "{text}");
        }
        for text in ["", "Z", "A AND Z", "(A OR B) AND Z", "C", "A WITH X", "(A", "A AND"] {
            assert!(!is_allowed(text, &allowed), "{text}");
        }
    }

    #[test]
    fn this_projects_rules_allow_its_own_licence() {
        assert_eq!(check("skipstone", Some(env!("CARGO_PKG_LICENSE"))), Ok(()));
    }
}
