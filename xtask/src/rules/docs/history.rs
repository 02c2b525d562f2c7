//! The edit date of each file, from git.

use std::collections::BTreeMap;

use crate::machine::process;
use crate::machine::tree::Tree;

/// The commit that the tree is at, and the last edit of each file.
pub(super) struct History {
    /// Abbreviated; empty without git.
    pub(super) commit: String,
    dates: BTreeMap<String, String>,
}

impl History {
    pub(super) fn read(tree: &Tree) -> Self {
        let git = |arguments: &[&str]| {
            let mut git = process::command("git", tree);
            git.args(arguments);
            process::output(git).unwrap_or_default()
        };
        let log = git(&["-c", "core.quotePath=false", "log", "--format=%x00%cs", "--name-only"]);
        Self { commit: git(&["rev-parse", "--short", "HEAD"]).trim().to_owned(), dates: dates(&log) }
    }

    /// The date of the last commit that touched a file, as `2026-11-26`.
    pub(super) fn date(&self, path: &str) -> Option<&str> {
        self.dates.get(path).map(String::as_str)
    }
}

/// The latest date of each path in a log, newest commit first.
fn dates(log: &str) -> BTreeMap<String, String> {
    let mut dates = BTreeMap::new();
    let mut date = "";
    for line in log.lines() {
        match line.strip_prefix('\0') {
            Some(next) => date = next,
            None if line.is_empty() => {}
            None => drop(dates.entry(line.to_owned()).or_insert_with(|| date.to_owned())),
        }
    }
    dates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_commit_of_a_file_dates_it() {
        let dates = dates("\x002026-11-26\n\na.md\n\x002026-11-24\n\na.md\nb.md\n");
        let pairs: Vec<_> = dates.iter().map(|(path, date)| (path.as_str(), date.as_str())).collect();
        assert_eq!(pairs, [("a.md", "2026-11-26"), ("b.md", "2026-11-24")]);
    }
}
