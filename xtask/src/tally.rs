//! Counting: how many tests passed, failed and were skipped, and how `cargo test` says so.

use std::fmt;
use std::ops::AddAssign;

/// Counts of tests, or of steps that count as one test each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    pub(crate) const ONE_PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const ONE_FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const ONE_SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    /// Reads the last line that a test program prints:
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    /// Ignored tests count as skipped. Any other line is none.
    pub(crate) fn from_result_line(line: &str) -> Option<Self> {
        let line = without_colours(line);
        let (_verdict, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let mut tally = Self::default();
        for part in counts.split("; ") {
            match part.split_once(' ')? {
                (count, "passed") => tally.passed = count.parse().ok()?,
                (count, "failed") => tally.failed = count.parse().ok()?,
                (count, "ignored") => tally.skipped = count.parse().ok()?,
                _ => {}
            }
        }
        Some(tally)
    }
}

impl Tally {
    /// Reads the line in which vitest counts its tests: `Tests  1 failed | 3 passed | 2 skipped (6)`. Any other line is none.
    pub(crate) fn from_vitest_line(line: &str) -> Option<Self> {
        let line = without_colours(line);
        let counts = line.trim_start().strip_prefix("Tests ")?;
        let mut tally = Self::default();
        for part in counts.split('(').next()?.split('|') {
            match part.trim().split_once(' ')? {
                (count, "passed") => tally.passed = count.parse().ok()?,
                (count, "failed") => tally.failed = count.parse().ok()?,
                (count, "skipped" | "todo") => tally.skipped += count.parse::<u64>().ok()?,
                _ => return None,
            }
        }
        Some(tally)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// `N passed, N failed`, and `, N skipped` only if there are some.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// Drops terminal colour sequences (`ESC [ ... m`).
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = sequence.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_vitest_are_read() {
        let tally = |passed, failed, skipped| Some(Tally { passed, failed, skipped });
        assert_eq!(Tally::from_vitest_line("      Tests  12 passed (12)"), tally(12, 0, 0));
        let all = " \u{1b}[2m Tests \u{1b}[22m 1 failed | 3 passed | 2 skipped (6)";
        assert_eq!(Tally::from_vitest_line(all), tally(3, 1, 2));
        assert_eq!(Tally::from_vitest_line(" Test Files  1 passed (1)"), None);
        assert_eq!(Tally::from_vitest_line("Tests of something"), None);
    }

    #[test]
    fn result_lines_are_read_whatever_their_verdict() {
        let good = "test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let bad = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 2.00s";
        let tally = |passed, failed, skipped| Some(Tally { passed, failed, skipped });
        assert_eq!(Tally::from_result_line(good), tally(12, 0, 2));
        assert_eq!(Tally::from_result_line(bad), tally(3, 1, 0));
        let coloured = good.replace("ok", "\u{1b}[32mok\u{1b}[0m");
        assert_eq!(Tally::from_result_line(&coloured), tally(12, 0, 2));
    }

    #[test]
    fn other_lines_are_none() {
        for line in ["", "test a ... ok", "running 3 tests", "test result: ok", "  test result: ok. 1 passed"] {
            assert_eq!(Tally::from_result_line(line), None, "{line}");
        }
    }

    #[test]
    fn skipped_is_named_only_if_there_are_some() {
        let mut tally = Tally::ONE_PASSED;
        tally += Tally::ONE_FAILED;
        assert_eq!(tally.to_string(), "1 passed, 1 failed");
        tally += Tally::ONE_SKIPPED;
        assert_eq!(tally.to_string(), "1 passed, 1 failed, 1 skipped");
    }
}
