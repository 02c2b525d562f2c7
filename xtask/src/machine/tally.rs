//! Counting: how many tests passed, failed and were skipped, and how `cargo test` reports that.

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

    /// Reads the last line that a test program prints: `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured;
    /// 0 filtered out; finished in 0.01s`. Ignored tests count as skipped. `None` for any other line.
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
    /// Reads the line in which vitest counts its tests: `Tests 1 failed | 3 passed | 2 skipped (6)`. `None` for any
    /// other line.
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

impl Tally {
    /// Reads the last line of pytest: `1 failed, 3 passed, 2 skipped in 0.12s`. `None` for any other line.
    pub(crate) fn from_pytest_line(line: &str) -> Option<Self> {
        let line = without_colours(line);
        let (counts, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
        if !time.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let mut tally = Self::default();
        for part in counts.split(", ") {
            match part.split_once(' ')? {
                (count, "passed" | "xfailed") => tally.passed += count.parse::<u64>().ok()?,
                (count, "failed" | "error" | "errors" | "xpassed") => tally.failed += count.parse::<u64>().ok()?,
                (count, "skipped" | "deselected") => tally.skipped += count.parse::<u64>().ok()?,
                (count, "warning" | "warnings") => drop(count.parse::<u64>().ok()?),
                _ => return None,
            }
        }
        Some(tally)
    }

    /// Reads a line in which `go test -v` reports the result of a test: `--- PASS: TestName (0.00s)`. `None` for lines
    /// of subtests, which are indented, and any other line.
    pub(crate) fn from_go_line(line: &str) -> Option<Self> {
        match line.strip_prefix("--- ")?.split_once(": ")?.0 {
            "PASS" => Some(Self::ONE_PASSED),
            "FAIL" => Some(Self::ONE_FAILED),
            "SKIP" => Some(Self::ONE_SKIPPED),
            _ => None,
        }
    }

    /// Reads a line as [`Tally`] is shown: `3 passed, 1 failed, 2 skipped`. `None` for any other line.
    pub(crate) fn from_own_line(line: &str) -> Option<Self> {
        let counts: Option<Vec<(&str, &str)>> = line.split(", ").map(|part| part.split_once(' ')).collect();
        let mut tally = Self::default();
        for (count, what) in counts? {
            let place = match what {
                "passed" => &mut tally.passed,
                "failed" => &mut tally.failed,
                "skipped" => &mut tally.skipped,
                _ => return None,
            };
            *place = count.parse().ok()?;
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
    fn counts_of_pytest_of_go_and_of_our_own_are_read() {
        let tally = |passed, failed, skipped| Some(Tally { passed, failed, skipped });
        assert_eq!(Tally::from_pytest_line("53 passed, 1 warning in 12.34s"), tally(53, 0, 0));
        assert_eq!(
            Tally::from_pytest_line("\u{1b}[31m== 2 failed, 3 passed, 4 skipped, 1 error in 0.10s =="),
            tally(3, 3, 4)
        );
        assert_eq!(Tally::from_pytest_line("FAILED tests/x.py - it is in there"), None);
        assert_eq!(Tally::from_go_line("--- PASS: TestEcho (0.00s)"), tally(1, 0, 0));
        assert_eq!(Tally::from_go_line("--- FAIL: TestEcho (0.00s)"), tally(0, 1, 0));
        assert_eq!(Tally::from_go_line("    --- FAIL: TestEcho/sub (0.00s)"), None);
        assert_eq!(Tally::from_go_line("PASS"), None);
        assert_eq!(Tally::from_own_line("3 passed, 1 failed, 2 skipped"), tally(3, 1, 2));
        assert_eq!(Tally::from_own_line("3 passed, 0 failed"), tally(3, 0, 0));
        assert_eq!(Tally::from_own_line("server in go, clients in c"), None);
        assert_eq!(Tally::from_own_line("passed"), None);
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
