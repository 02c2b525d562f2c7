//! The duration of each step in the last run, shown next to its duration now: kept in the target folder, a line for
//! each step.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::machine::process;
use crate::machine::tree::Tree;

/// Seconds of each step that has run.
pub(super) struct Times {
    file: PathBuf,
    seconds: BTreeMap<String, f64>,
}

impl Times {
    /// The times of earlier runs; empty if there are none, or if the file cannot be read.
    pub(super) fn read(tree: &Tree) -> Times {
        let file = process::target_dir(tree).join("xtask-times.txt");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        Times { file, seconds: parse(&text) }
    }

    /// Records how long a step took now, and returns how long it took the last time. If the file cannot be written,
    /// only the record is lost.
    pub(super) fn note(&mut self, step: &str, took: Duration) -> Option<Duration> {
        let before = self.seconds.insert(step.to_owned(), took.as_secs_f64());
        let text: String = self.seconds.iter().map(|(step, seconds)| format!("{step} {seconds:.1}\n")).collect();
        let _ = std::fs::write(&self.file, text);
        before.map(Duration::from_secs_f64)
    }
}

/// Lines of a name and seconds; others are left out.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let line = |line: &str| {
        let (step, seconds) = line.split_once(' ')?;
        let seconds = seconds.parse().ok().filter(|seconds: &f64| (0.0..1e6).contains(seconds))?;
        Some((step.to_owned(), seconds))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_time_are_left_out() {
        let parsed = parse("tests 704.2\nclippy\nfmt -1\ndocs inf\nweb 29.0\n");
        assert_eq!(parsed, BTreeMap::from([("tests".to_owned(), 704.2), ("web".to_owned(), 29.0)]));
    }
}
