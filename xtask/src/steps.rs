//! `cargo xtask test`: the steps, their order, and the account of them at the end.
//! The steps themselves are in `list`.

mod list;
mod times;

use std::time::{Duration, Instant};

use self::list::{Extent, NAME_WIDTH, STEPS, Step};
use self::times::Times;
use crate::arguments::Arguments;
use crate::failures;
use crate::tally::Tally;
use crate::tree::Tree;
use crate::verdict::Verdict;

/// `cargo xtask test [--fast] [--only STEP]... [--list]`. `Ok(true)` if nothing failed.
pub(crate) fn test(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let list = arguments.take_flag("--list");
    let extent = if arguments.take_flag("--fast") { Extent::Fast } else { Extent::Whole };
    let mut chosen = chosen_steps(&mut arguments)?;
    arguments.expect_end()?;
    chosen.retain(|step| extent == Extent::Whole || step.is_fast);
    if list {
        for step in chosen {
            println!("{:width$}  {}", step.name, step.about, width = NAME_WIDTH);
        }
        return Ok(true);
    }
    Ok(run_all(&chosen, extent, tree).failed == 0)
}

fn chosen_steps(arguments: &mut Arguments) -> Result<Vec<&'static Step>, String> {
    let mut names = Vec::new();
    while let Some(value) = arguments.take_value("--only")? {
        names.extend(value.split(',').map(str::to_owned));
    }
    if let Some(name) = names.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let all: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step is called `{name}`; there are: {}", all.join(", ")));
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_chosen).collect())
}

/// Runs each step, whatever came of those before it, and prints the account.
fn run_all(steps: &[&Step], extent: Extent, tree: &Tree) -> Tally {
    let started = Instant::now();
    let mut total = Tally::default();
    let mut account = Vec::new();
    let mut times = Times::read(tree);
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== {}/{} {}: {}", index + 1, steps.len(), step.name, step.about);
        let step_started = Instant::now();
        let (tally, word, note) = settle((step.run)(tree, extent));
        let took = step_started.elapsed();
        let elapsed = seconds(took);
        let before = times.note(step.name, took).map(|before| format!("(was {})", seconds(before))).unwrap_or_default();
        let separator = if note.is_empty() { "" } else { ": " };
        println!("=== {} {word} after {elapsed}{separator}{note}", step.name);
        total += tally;
        account.push(format!("{:width$}  {word:7}  {elapsed:>8} {before:14}  {note}", step.name, width = NAME_WIDTH));
    }
    failures::tell_again();
    println!("\n=== summary, {} in all", seconds(started.elapsed()));
    for line in account {
        println!("{}", line.trim_end());
    }
    println!("\n{total}");
    total
}

/// What a verdict counts for, the word for it, and what there is to say about it.
fn settle(verdict: Verdict) -> (Tally, &'static str, String) {
    match verdict {
        Verdict::Passed => (Tally::ONE_PASSED, "passed", String::new()),
        Verdict::Failed(why) => (Tally::ONE_FAILED, "FAILED", why),
        Verdict::Skipped(why) => (Tally::ONE_SKIPPED, "skipped", why),
        Verdict::Tests(tally) => {
            let word = if tally.failed == 0 { "passed" } else { "FAILED" };
            (tally, word, tally.to_string())
        }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
