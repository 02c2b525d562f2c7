//! `cargo xtask test`: the choice of steps, and the account of them at the end. `list` holds the steps, `schedule`
//! decides which run in parallel, `run` runs them.

mod list;
mod outcome;
mod run;
mod schedule;
mod step;
mod times;
mod workspace;

use std::path::Path;

use self::list::STEPS;
use self::outcome::Outcome;
use self::step::{Extent, NAME_WIDTH, Step};
use crate::machine::arguments::Arguments;
use crate::machine::tree::Tree;

/// `cargo xtask test [--fast] [--only STEP]... [--list]`. `Ok(true)` if nothing failed.
pub(crate) fn test(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let list = arguments.take_flag("--list");
    let extent = extent(&mut arguments);
    let mut chosen = chosen_steps(&mut arguments)?;
    arguments.expect_end()?;
    chosen.retain(|step| extent == Extent::Whole || step.is_fast);
    if list {
        for step in chosen {
            println!("{:width$}  {}", step.name, step.about, width = NAME_WIDTH);
        }
        return Ok(true);
    }
    Ok(run::run_all(&chosen, extent, tree)?.failed == 0)
}

/// `cargo xtask step NAME FILE [--fast]`, which is how `test` starts a step: runs it, and writes its outcome to the
/// file.
pub(crate) fn run_one(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let extent = extent(&mut arguments);
    let (name, file) = arguments.next_word().zip(arguments.next_word()).ok_or("`step` is for `cargo xtask test`")?;
    arguments.expect_end()?;
    let outcome = Outcome::of((named(&name)?.run)(tree, extent));
    outcome.write(Path::new(&file))?;
    Ok(outcome.tally.failed == 0)
}

fn extent(arguments: &mut Arguments) -> Extent {
    if arguments.take_flag("--fast") { Extent::Fast } else { Extent::Whole }
}

fn chosen_steps(arguments: &mut Arguments) -> Result<Vec<&'static Step>, String> {
    let mut names = Vec::new();
    while let Some(value) = arguments.take_value("--only")? {
        names.extend(value.split(',').map(str::to_owned));
    }
    for name in &names {
        named(name)?;
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_chosen).collect())
}

fn named(name: &str) -> Result<&'static Step, String> {
    STEPS.iter().find(|step| step.name == name).ok_or_else(|| {
        let all: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        format!("there is no step `{name}`; the steps are: {}", all.join(", "))
    })
}
