//! `cargo xtask mutants --sample N --seed S`: how many small changes of the code the tests notice. cargo-mutants makes
//! and tries them; this module selects the mutants and the tests against each, and keeps the account.

mod account;
mod order;
mod subject;
mod trial;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::machine::arguments::Arguments;
use crate::machine::tree::Tree;
use account::{Account, MutantOutcome, Tried};
use order::Mutant;
use subject::Subject;
use trial::Trials;

/// The arguments of a run.
struct Draw {
    /// Mutants to judge, of all parts together.
    sample: usize,
    seed: u64,
    /// Only these mutants, which survived before.
    again: Option<Vec<String>>,
}

/// The mutants of one part in reverse order of the draw: the next one is last.
struct Deck {
    subject: &'static Subject,
    mutants: Vec<Mutant>,
    timeout: Duration,
    /// How many are to be judged.
    share: usize,
}

/// Tries the mutants; `Ok(false)` if too many of them survive.
pub(crate) fn mutants(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let sample = number("--sample", arguments.take_value("--sample")?, SAMPLE_DEFAULT)?;
    let seed = number("--seed", arguments.take_value("--seed")?, 1)?;
    let subjects = subject::named(arguments.take_value("--of")?.as_deref())?;
    let json = arguments.take_value("--json")?;
    let is_list = arguments.take_flag("--list");
    let again = arguments.take_value("--again")?.map(|file| read(Path::new(&file))).transpose()?;
    arguments.expect_end()?;
    if sample == 0 || sample > SAMPLE_MAX {
        return Err(format!("`--sample {sample}`: 1 to {SAMPLE_MAX} mutants"));
    }
    let trials = Trials::prepare(tree)?;
    let survivors = |json: String| -> Result<Vec<String>, String> {
        Ok(Account::read(&json, seed)?.survivors().map(|survivor| survivor.name.clone()).collect())
    };
    let again = again.map(survivors).transpose()?;
    let sample = again.as_ref().map_or(sample as usize, Vec::len);
    let draw = Draw { sample, seed, again };
    let mut decks = draw.decks(&subjects, &trials)?;
    if is_list {
        decks
            .iter()
            .for_each(|deck| deck.mutants.iter().rev().take(deck.share).for_each(|mutant| println!("{}", mutant.name)));
        return Ok(true);
    }
    for deck in &mut decks {
        if !deck.mutants.is_empty() {
            deck.timeout = trials.baseline(deck.subject)?;
        }
    }
    let account = play(&draw, decks, &trials, json.as_deref().map(Path::new))?;
    println!("{}", account.summary());
    account.survivors().for_each(|survivor| println!("survived: {}", survivor.name));
    Ok(account.is_enough())
}

fn number(flag: &str, text: Option<String>, default: u64) -> Result<u64, String> {
    text.map_or(Ok(default), |text| text.parse().map_err(|_| format!("`{flag} {text}` is not a number")))
}

impl Draw {
    /// Evenly over the parts; the first ones get the remainder.
    fn decks(&self, subjects: &[&'static Subject], trials: &Trials) -> Result<Vec<Deck>, String> {
        let (each, more) = (self.sample / subjects.len(), self.sample % subjects.len());
        let decks = subjects.iter().enumerate().map(|(at, subject)| {
            let listed = trials.list(subject)?;
            let mut mutants = match &self.again {
                Some(names) => order::found(&listed, names),
                None => order::drawn(&listed, self.seed),
            };
            println!("{}: {} mutants", subject.name, mutants.len());
            mutants.reverse();
            let share = if self.again.is_some() { mutants.len() } else { each + usize::from(at < more) };
            Ok(Deck { subject, mutants, timeout: Duration::ZERO, share })
        });
        decks.collect()
    }
}

/// Some of each part in turns, so that an interrupted run covers all parts.
fn play(draw: &Draw, mut decks: Vec<Deck>, trials: &Trials, json: Option<&Path>) -> Result<Account, String> {
    // An interrupted run is continued.
    let before = json.filter(|file| file.exists()).map(|file| Account::read(&read(file)?, draw.seed)).transpose()?;
    let (started, mut account) = (Instant::now(), before.unwrap_or_default());
    let begun = account.judged();
    decks.iter_mut().for_each(|deck| deck.mutants.retain(|mutant| !account.has(&mutant.name)));
    for end in (1..).map(|round| round * ROUND) {
        let so_far = account.judged();
        for deck in &mut decks {
            while account.judged_of(deck.subject.name) < end.min(deck.share) {
                let Some(mutant) = deck.mutants.pop() else { break };
                let began = Instant::now();
                let outcome = trials.run(deck.subject, &mutant, deck.timeout)?;
                account.add(Tried { subject: deck.subject.name, name: mutant.name, outcome, took: began.elapsed() });
                if let Some(file) = json {
                    write(file, &account.json(draw.seed))?;
                }
                tell(&account, draw.sample, started.elapsed() / (account.judged() - begun).max(1) as u32);
            }
        }
        if account.judged() == so_far && decks.iter().all(|deck| end >= deck.share || deck.mutants.is_empty()) {
            break;
        }
    }
    Ok(account)
}

/// A line for the last mutant that was tried. One takes this long on average.
fn tell(account: &Account, sample: usize, each: Duration) {
    let Some(Tried { subject, name, outcome, took }) = account.last() else { return };
    let (judged, word) = (account.judged(), outcome.word());
    println!("{judged:>4} of {sample}  {word:<8} {:>4} s  {subject:<6} {name}", took.as_secs());
    if *outcome != MutantOutcome::Unviable {
        let left = each * sample.saturating_sub(judged) as u32;
        println!("     {}; about {} min left", account.summary(), left.as_secs().div_ceil(60));
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

const SAMPLE_DEFAULT: u64 = 200;
/// Days.
const SAMPLE_MAX: u64 = 10_000;
/// Mutants of one part that are judged in a row: the next part recompiles everything that depends on the one before.
const ROUND: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_default_and_words_are_refused() {
        assert_eq!(number("--seed", None, 1), Ok(1));
        assert_eq!(number("--seed", Some("7".into()), 1), Ok(7));
        assert!(number("--seed", Some("seven".into()), 1).unwrap_err().contains("`--seed seven`"));
    }
}
