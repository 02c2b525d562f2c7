//! The outcome of a step. Each step runs in its own process, which writes the outcome to a file.

use std::path::Path;

use crate::machine::failures::{self, Failure};
use crate::machine::tally::Tally;
use crate::machine::verdict::Verdict;

/// How a step ended, its cost, and the lines that are repeated at the end.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// `passed`, `FAILED` or `skipped`.
    pub(super) word: String,
    /// One line on it; may be empty.
    pub(super) note: String,
    /// Seconds of CPU time of the step and of all programs that it waited for, where the system reports it.
    pub(super) cpu_seconds: Option<f64>,
    pub(super) failures: Vec<Failure>,
}

impl Outcome {
    /// The outcome of a step in this process.
    pub(super) fn of(verdict: Verdict) -> Self {
        let (tally, word, note) = match verdict {
            Verdict::Passed => (Tally::ONE_PASSED, "passed", String::new()),
            Verdict::Failed(why) => (Tally::ONE_FAILED, "FAILED", why),
            Verdict::Skipped(why) => (Tally::ONE_SKIPPED, "skipped", why),
            Verdict::Tests(tally) => {
                let word = if tally.failed == 0 { "passed" } else { "FAILED" };
                (tally, word, tally.to_string())
            }
        };
        let note = note.replace('\n', " ");
        Self { tally, word: word.into(), note, cpu_seconds: cpu_seconds(), failures: failures::take() }
    }

    /// The outcome of a step whose process did not finish.
    pub(super) fn broken(why: String) -> Self {
        let failures = Vec::new();
        Self { tally: Tally::ONE_FAILED, word: "FAILED".into(), note: why, cpu_seconds: None, failures }
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), String> {
        std::fs::write(file, self.to_text()).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The outcome that a step's process has written; `None` if it has not.
    pub(super) fn read(file: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(file).ok()?)
    }

    /// Four lines, and for each failure its command and its lines, which are indented.
    fn to_text(&self) -> String {
        let cpu = self.cpu_seconds.map(|seconds| format!("{seconds:.2}")).unwrap_or_default();
        let mut text = format!("{}\n{}\n{}\n{cpu}\n", self.tally, self.word, self.note);
        for failure in &self.failures {
            text.push_str(&format!("{}\n", failure.command));
            failure.lines.iter().for_each(|line| text.push_str(&format!("\t{line}\n")));
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let tally = Tally::from_own_line(lines.next()?)?;
        let [word, note] = [lines.next()?.to_owned(), lines.next()?.to_owned()];
        let cpu_seconds = lines.next()?.parse().ok();
        let mut failures: Vec<Failure> = Vec::new();
        for line in lines {
            match (line.strip_prefix('\t'), failures.last_mut()) {
                (Some(line), Some(failure)) => failure.lines.push(line.to_owned()),
                _ => failures.push(Failure { command: line.to_owned(), lines: Vec::new() }),
            }
        }
        Some(Self { tally, word, note, cpu_seconds, failures })
    }
}

/// CPU time of this process and of those that it has waited for, from `/proc/self/stat`: user and system time, its own
/// and its children's, in hundredths of a second (proc(5), fields 14 to 17). `None` on other systems than Linux.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field, the program's name in parentheses, may contain spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(14)? + ticks(15)? + ticks(16)? + ticks(17)?) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let failure = |lines: &[&str]| Failure {
            command: "cargo test".into(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        let outcome = Outcome {
            tally: Tally { passed: 3, failed: 1, skipped: 0 },
            word: "FAILED".into(),
            note: "3 passed, 1 failed".into(),
            cpu_seconds: Some(1.25),
            failures: vec![failure(&["failures:", "", "\tindented"]), failure(&[])],
        };
        assert_eq!(Outcome::parse(&outcome.to_text()), Some(outcome));
        assert_eq!(Outcome::parse(""), None, "a process that was killed while it wrote");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn cpu_time_includes_awaited_programs() {
        let before = cpu_seconds().expect("Linux tells");
        let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", spin]).status().expect("a shell").success());
        assert!(cpu_seconds().expect("Linux tells") > before);
    }
}
