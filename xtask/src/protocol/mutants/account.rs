//! The account of the mutants that were tried: the share that is caught, the survivors, and the file of `--json`.

use super::subject::SUBJECTS;
use std::fmt::Write;
use std::time::Duration;

/// How a mutant ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MutantOutcome {
    /// A test failed.
    Caught,
    /// The tests did not end in time, which a developer would have noticed.
    Timeout,
    /// Every test passed.
    Missed,
    /// The compiler refused it: it reveals nothing about the tests.
    Unviable,
}

/// One mutant that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) subject: &'static str,
    /// `file:line:column: replacement`.
    pub(super) name: String,
    pub(super) outcome: MutantOutcome,
    pub(super) took: Duration,
}

/// The mutants of one run.
#[derive(Debug, Default)]
pub(super) struct Account {
    tried: Vec<Tried>,
}

impl MutantOutcome {
    const ALL: [MutantOutcome; 4] =
        [MutantOutcome::Caught, MutantOutcome::Timeout, MutantOutcome::Missed, MutantOutcome::Unviable];

    pub(super) fn word(self) -> &'static str {
        match self {
            MutantOutcome::Caught => "caught",
            MutantOutcome::Timeout => "timeout",
            MutantOutcome::Missed => "missed",
            MutantOutcome::Unviable => "unviable",
        }
    }
}

impl Tried {
    /// A line of [`Account::json`].
    fn read(line: &str) -> Option<Tried> {
        let value = |name: &str, end: &str| line.split_once(&format!("\"{name}\": "))?.1.split_once(end).map(|it| it.0);
        let (of, word) = (value("of", ",")?.trim_matches('"'), value("outcome", ",")?.trim_matches('"'));
        let name = line.split_once("\"name\": \"")?.1.trim_end_matches(',').strip_suffix("\"}")?;
        Some(Tried {
            subject: SUBJECTS.iter().find(|subject| subject.name == of)?.name,
            name: name.replace("\\\"", "\"").replace("\\\\", "\\"),
            outcome: MutantOutcome::ALL.into_iter().find(|outcome| outcome.word() == word)?,
            took: Duration::from_secs_f64(value("seconds", ",")?.parse().ok()?),
        })
    }
}

impl Account {
    pub(super) fn add(&mut self, tried: Tried) {
        self.tried.push(tried);
    }

    pub(super) fn last(&self) -> Option<&Tried> {
        self.tried.last()
    }

    /// How many reveal something about the tests.
    pub(super) fn judged(&self) -> usize {
        self.tried.len() - self.count(MutantOutcome::Unviable)
    }

    pub(super) fn judged_of(&self, subject: &str) -> usize {
        self.tried.iter().filter(|tried| tried.subject == subject && tried.outcome != MutantOutcome::Unviable).count()
    }

    /// The share that is caught, in percent; 100 if there are none.
    pub(super) fn share_percent(&self) -> f64 {
        let caught = self.count(MutantOutcome::Caught) + self.count(MutantOutcome::Timeout);
        if self.judged() == 0 { 100.0 } else { 100.0 * caught as f64 / self.judged() as f64 }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.share_percent() >= SHARE_PERCENT_MIN
    }

    /// `caught 17, missed 2: 89.5%`.
    pub(super) fn summary(&self) -> String {
        let count = |outcome| self.count(outcome);
        let mut text = format!("caught {}", count(MutantOutcome::Caught));
        if count(MutantOutcome::Timeout) > 0 {
            let _ = write!(text, ", by timeout {}", count(MutantOutcome::Timeout));
        }
        let _ = write!(text, ", missed {}: {:.1}%", count(MutantOutcome::Missed), self.share_percent());
        text
    }

    pub(super) fn survivors(&self) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(|tried| tried.outcome == MutantOutcome::Missed)
    }

    fn count(&self, outcome: MutantOutcome) -> usize {
        self.tried.iter().filter(|tried| tried.outcome == outcome).count()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tried.iter().any(|tried| tried.name == name)
    }

    /// Reads the output of [`Account::json`], from a run with this seed.
    pub(super) fn read(json: &str, seed: u64) -> Result<Account, String> {
        if !json.starts_with(&format!("{{\"seed\": {seed}, ")) {
            return Err(format!("this is not an account of a run with seed {seed}"));
        }
        Ok(Account { tried: json.lines().filter_map(Tried::read).collect() })
    }

    /// A line for each mutant, in the order in which they were tried.
    pub(super) fn json(&self, seed: u64) -> String {
        let count = |outcome| self.count(outcome);
        let mut text = format!(
            "{{\"seed\": {seed}, \"judged\": {}, \"caught\": {}, \"timeouts\": {}, \"missed\": {}, \"unviable\": {}, \
             \"share_percent\": {:.1}, \"mutants\": [",
            self.judged(),
            count(MutantOutcome::Caught),
            count(MutantOutcome::Timeout),
            count(MutantOutcome::Missed),
            count(MutantOutcome::Unviable),
            self.share_percent(),
        );
        for (at, Tried { subject, name, outcome, took }) in self.tried.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let (name, word) = (name.replace('\\', "\\\\").replace('"', "\\\""), outcome.word());
            let _ = write!(
                text,
                "{comma}\n{{\"of\": \"{subject}\", \"outcome\": \"{word}\", \"seconds\": {:.1}, \"name\": \"{name}\"}}",
                took.as_secs_f64()
            );
        }
        text.push_str("\n]}\n");
        text
    }
}

/// Below this share the command fails. The rest is code that no test can check: code only for speed, or unreachable
/// code.
const SHARE_PERCENT_MIN: f64 = 90.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn account(outcomes: &[MutantOutcome]) -> Account {
        let mut account = Account::default();
        for (at, outcome) in outcomes.iter().enumerate() {
            let name = format!("src/a.rs:{at}:1: replace f -> &str with \"x\"");
            account.add(Tried { subject: "proto", name, outcome: *outcome, took: Duration::from_millis(1_540) });
        }
        account
    }

    #[test]
    fn timeouts_are_caught_and_failed_builds_do_not_count() {
        let mut outcomes = vec![MutantOutcome::Caught; 8];
        outcomes.extend([
            MutantOutcome::Timeout,
            MutantOutcome::Missed,
            MutantOutcome::Unviable,
            MutantOutcome::Unviable,
        ]);
        let account = account(&outcomes);
        assert_eq!((account.judged(), account.share_percent()), (10, 90.0));
        assert_eq!(account.judged_of("driver"), 0);
        assert!(account.is_enough());
        assert_eq!(account.summary(), "caught 8, by timeout 1, missed 1: 90.0%");
        assert_eq!(account.survivors().map(|tried| tried.name.as_str()).collect::<Vec<_>>().len(), 1);
    }

    #[test]
    fn a_survivor_too_many_is_not_enough() {
        let mut outcomes = vec![MutantOutcome::Caught; 17];
        outcomes.extend([MutantOutcome::Missed; 2]);
        assert!(!account(&outcomes).is_enough());
    }

    #[test]
    fn a_run_that_was_broken_off_is_read_from_the_file_that_it_wrote() {
        let json =
            account(&[MutantOutcome::Missed, MutantOutcome::Caught, MutantOutcome::Timeout, MutantOutcome::Unviable])
                .json(7);
        let again = Account::read(&json, 7).expect("it is one");
        assert_eq!(again.json(7), json);
        assert!(again.has(&again.tried[1].name) && !again.has("another"));
        assert!(Account::read(&json, 8).is_err(), "another seed draws others");
    }

    #[test]
    fn the_json_has_a_line_for_each_mutant_and_escapes_quotes() {
        let json = account(&[MutantOutcome::Caught, MutantOutcome::Missed]).json(7);
        let lines: Vec<&str> = json.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("{\"seed\": 7, \"judged\": 2, \"caught\": 1,"), "{}", lines[0]);
        assert_eq!(
            lines[2],
            ",\n{\"of\": \"proto\", \"outcome\": \"missed\", \"seconds\": 1.5, \"name\": \"src/a.rs:1:1: replace f -> \
             &str with \\\"x\\\"\"}"
                .trim_start_matches(",\n")
        );
    }
}
