//! The account of the mutants that were tried: the share that is caught, who survived, and the file of `--json`.

use std::fmt::Write;
use std::time::Duration;

/// How a mutant ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A test failed.
    Caught,
    /// The tests did not end in time, which somebody would have noticed.
    Timeout,
    /// Every test passed.
    Missed,
    /// The compiler refused it: it says nothing about the tests.
    Unviable,
}

/// One mutant that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) subject: &'static str,
    /// `file:line:column: what is replaced`.
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
}

/// Those of one run.
#[derive(Debug, Default)]
pub(super) struct Account {
    tried: Vec<Tried>,
}

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Caught => "caught",
            Outcome::Timeout => "timeout",
            Outcome::Missed => "missed",
            Outcome::Unviable => "unviable",
        }
    }
}

impl Account {
    pub(super) fn add(&mut self, tried: Tried) {
        self.tried.push(tried);
    }

    pub(super) fn last(&self) -> Option<&Tried> {
        self.tried.last()
    }

    /// How many say something about the tests.
    pub(super) fn judged(&self) -> usize {
        self.tried.len() - self.count(Outcome::Unviable)
    }

    pub(super) fn judged_of(&self, subject: &str) -> usize {
        self.tried.iter().filter(|tried| tried.subject == subject && tried.outcome != Outcome::Unviable).count()
    }

    /// The share that is caught, in percent; all of none.
    pub(super) fn share_percent(&self) -> f64 {
        let caught = self.count(Outcome::Caught) + self.count(Outcome::Timeout);
        if self.judged() == 0 { 100.0 } else { 100.0 * caught as f64 / self.judged() as f64 }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.share_percent() >= SHARE_PERCENT_MIN
    }

    /// `caught 17, missed 2: 89.5%`.
    pub(super) fn summary(&self) -> String {
        let count = |outcome| self.count(outcome);
        let mut text = format!("caught {}", count(Outcome::Caught));
        if count(Outcome::Timeout) > 0 {
            let _ = write!(text, ", by timeout {}", count(Outcome::Timeout));
        }
        let _ = write!(text, ", missed {}: {:.1}%", count(Outcome::Missed), self.share_percent());
        text
    }

    pub(super) fn survivors(&self) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(|tried| tried.outcome == Outcome::Missed)
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.tried.iter().filter(|tried| tried.outcome == outcome).count()
    }

    /// A line for each mutant, in the order in which they were tried.
    pub(super) fn json(&self, seed: u64) -> String {
        let count = |outcome| self.count(outcome);
        let mut text = format!(
            "{{\"seed\": {seed}, \"judged\": {}, \"caught\": {}, \"timeouts\": {}, \"missed\": {}, \"unviable\": {}, \
             \"share_percent\": {:.1}, \"mutants\": [",
            self.judged(),
            count(Outcome::Caught),
            count(Outcome::Timeout),
            count(Outcome::Missed),
            count(Outcome::Unviable),
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

/// The names of the survivors in a file that [`Account::json`] wrote.
pub(super) fn survivors_in(json: &str) -> Vec<String> {
    let mark = format!("\"outcome\": \"{}\"", Outcome::Missed.word());
    let name =
        |line: &str| line.split_once("\"name\": \"")?.1.trim_end_matches(',').strip_suffix("\"}").map(str::to_owned);
    let lines = json.lines().filter(|line| line.contains(&mark)).filter_map(name);
    lines.map(|name| name.replace("\\\"", "\"").replace("\\\\", "\\")).collect()
}

/// Below this share the command fails. The rest is what no test can see: code for speed alone, or that nothing reaches.
const SHARE_PERCENT_MIN: f64 = 90.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn account(outcomes: &[Outcome]) -> Account {
        let mut account = Account::default();
        for (at, outcome) in outcomes.iter().enumerate() {
            let name = format!("src/a.rs:{at}:1: replace f -> &str with \"x\"");
            account.add(Tried { subject: "proto", name, outcome: *outcome, took: Duration::from_millis(1_540) });
        }
        account
    }

    #[test]
    fn timeouts_are_caught_and_what_does_not_build_does_not_count() {
        let mut outcomes = vec![Outcome::Caught; 8];
        outcomes.extend([Outcome::Timeout, Outcome::Missed, Outcome::Unviable, Outcome::Unviable]);
        let account = account(&outcomes);
        assert_eq!((account.judged(), account.share_percent()), (10, 90.0));
        assert_eq!(account.judged_of("driver"), 0);
        assert!(account.is_enough());
        assert_eq!(account.summary(), "caught 8, by timeout 1, missed 1: 90.0%");
        assert_eq!(account.survivors().map(|tried| tried.name.as_str()).collect::<Vec<_>>().len(), 1);
    }

    #[test]
    fn a_survivor_too_many_is_not_enough() {
        let mut outcomes = vec![Outcome::Caught; 17];
        outcomes.extend([Outcome::Missed; 2]);
        assert!(!account(&outcomes).is_enough());
    }

    #[test]
    fn the_survivors_are_read_from_the_file_that_was_written() {
        let account = account(&[Outcome::Missed, Outcome::Caught, Outcome::Missed, Outcome::Unviable]);
        let survivors: Vec<&str> = account.survivors().map(|tried| tried.name.as_str()).collect();
        assert_eq!(survivors_in(&account.json(7)), survivors);
        assert_eq!(survivors.len(), 2);
    }

    #[test]
    fn the_json_has_a_line_for_each_mutant_and_escapes_quotes() {
        let json = account(&[Outcome::Caught, Outcome::Missed]).json(7);
        let lines: Vec<&str> = json.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("{\"seed\": 7, \"judged\": 2, \"caught\": 1,"), "{}", lines[0]);
        assert_eq!(
            lines[2],
            ",\n{\"of\": \"proto\", \"outcome\": \"missed\", \"seconds\": 1.5, \"name\": \"src/a.rs:1:1: replace f -> &str with \
             \\\"x\\\"\"}"
                .trim_start_matches(",\n")
        );
    }
}
