//! The comment at the head of a plan: the line that runs it, and what it misses.

use std::collections::BTreeSet;

/// What a plan says of itself.
#[derive(Debug, PartialEq)]
pub(super) struct Documented {
    pub(super) name: String,
    /// The first `skipstone` line, without that word.
    line: Vec<String>,
    pub(super) missed: BTreeSet<String>,
}

impl Documented {
    /// Reads the comment; continued lines end in a backslash.
    pub(super) fn of(name: String, text: &str) -> Result<Documented, String> {
        let comment = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        let comment = comment.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
        let line = comment.lines().find_map(|line| line.strip_prefix("skipstone "));
        let line = words(line.ok_or("no line says how to run it: `#   skipstone compare …`")?)?;
        let missed = comment.lines().filter_map(|line| line.strip_prefix("missed: ")).map(str::to_owned).collect();
        Ok(Documented { name, line, missed })
    }

    /// The arguments of the tool, with another number of seeds on request.
    pub(super) fn arguments(&self, seeds: Option<&str>) -> Vec<String> {
        let mut line = self.line.clone();
        let Some(seeds) = seeds else { return line };
        match line.iter().position(|word| word == "--seeds") {
            Some(at) if at + 1 < line.len() => line[at + 1] = seeds.to_owned(),
            _ => line.extend(["--seeds".to_owned(), seeds.to_owned()]),
        }
        line
    }
}

/// A miss as plans document it.
pub(super) fn miss(expression: &str, of: &str, actual: Option<f64>) -> String {
    let actual = actual.map_or("nothing".into(), |actual| ((actual * 1e3).round() / 1e3).to_string());
    format!("{expression}: {of} has {actual}")
}

/// The words of a command line, of which some are in single quotes.
fn words(line: &str) -> Result<Vec<String>, String> {
    let parts: Vec<&str> = line.split('\'').collect();
    if parts.len().is_multiple_of(2) {
        return Err("a quote of the line that runs it is not closed".into());
    }
    let mut words = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push((*part).to_owned()),
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "# A path.\n#\n#   skipstone compare plans/a.toml --seeds 3 \\\n#     --threshold 'a>= 1'\n#\n# \
        With others:\n#\n#   skipstone compare plans/a.toml\n#\n#   missed: a>= 1: x seed 2 has 0.5\n\nname = \"a\"\n# missed: b\n";

    #[test]
    fn the_first_line_and_the_misses_of_the_heading_are_read() {
        let plan = Documented::of("a".into(), PLAN).expect("it says all");
        assert_eq!(plan.arguments(None), ["compare", "plans/a.toml", "--seeds", "3", "--threshold", "a>= 1"]);
        assert_eq!(plan.arguments(Some("10"))[3], "10");
        assert_eq!(plan.missed, BTreeSet::from([miss("a>= 1", "x seed 2", Some(0.5))]));
    }

    #[test]
    fn a_plan_without_a_line_is_refused() {
        assert!(
            Documented::of("a".into(), "# A path.\nname = 1\n").is_err_and(|why| why.contains("skipstone compare"))
        );
        assert!(Documented::of("a".into(), "# skipstone compare 'a\n").is_err_and(|why| why.contains("quote")));
    }
}
