//! Failures, repeated at the end: by then their first report is thousands of lines away, and logs are truncated.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// A program that failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The command as a person would type it.
    pub(crate) command: String,
    /// The lines of its output that are repeated.
    pub(crate) lines: Vec<String>,
}

/// The failures of this process.
static TOLD: Mutex<Vec<Failure>> = Mutex::new(Vec::new());

/// How many of the last lines of a failed program are repeated.
const LAST_LINES: usize = 40;
/// How many lines of its test harness about failures are repeated.
const LINES_OF_FAILURES: usize = 200;

/// The part of a running program's output that matters if the program fails.
#[derive(Default)]
pub(crate) struct Said {
    last: VecDeque<String>,
    /// The lines that `cargo test` prints between `failures:` and the result; many successful programs may follow.
    failures: Vec<String>,
    is_about_failures: bool,
}

impl Said {
    pub(crate) fn add(&mut self, line: &str) {
        self.is_about_failures = match line {
            "failures:" => true,
            _ if line.starts_with("test result: ") => false,
            _ => self.is_about_failures,
        };
        if self.is_about_failures && self.failures.len() < LINES_OF_FAILURES {
            self.failures.push(line.to_owned());
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
    }

    /// The program failed: keeps its output.
    pub(crate) fn keep(self, command: String) {
        let lines = if self.failures.is_empty() { self.last.into() } else { self.failures };
        TOLD.lock().unwrap_or_else(PoisonError::into_inner).push(Failure { command, lines });
    }
}

/// Takes the failures that were kept.
pub(crate) fn take() -> Vec<Failure> {
    std::mem::take(&mut *TOLD.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Prints the failures once more.
pub(crate) fn tell_again(told: &[Failure]) {
    if told.is_empty() {
        return;
    }
    println!("\n=== what failed, once more");
    for failure in told {
        println!("$ {}", failure.command);
        failure.lines.iter().for_each(|line| println!("{line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_program_its_last_lines_are_kept() {
        let mut said = Said::default();
        (0..100).for_each(|line| said.add(&line.to_string()));
        assert_eq!(said.last.len(), LAST_LINES);
        assert_eq!(said.last.back().map(String::as_str), Some("99"));
        assert!(said.failures.is_empty());
    }

    #[test]
    fn failures_of_tests_are_kept_whatever_follows() {
        let mut said = Said::default();
        for line in ["test a ... FAILED", "failures:", "---- a ----", "panicked", "test result: FAILED. 0 passed"] {
            said.add(line);
        }
        (0..100).for_each(|_| said.add("test b ... ok"));
        assert_eq!(said.failures, ["failures:", "---- a ----", "panicked"]);
    }
}
