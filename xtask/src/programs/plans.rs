//! Every plan says in its first lines how it is run, and which of its thresholds this build misses. The step runs each
//! as it is written: a new miss is a fault, and so is a documented one that no longer occurs. Virtual time: every
//! machine and every build finds the same.

mod documented;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use documented::Documented;

/// `cargo xtask plans [--seeds N] [NAME]...`: the same by hand; with more seeds the misses are only shown.
pub(crate) fn plans(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let seeds = arguments.take_value("--seeds")?;
    let mut names = BTreeSet::new();
    while let Some(name) = arguments.next_word() {
        names.insert(name);
    }
    process::build_programs(tree)?;
    let all = documented(tree)?;
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|plan| plan.name == **name)) {
        return Err(format!("there is no plans/{unknown}.toml"));
    }
    let mut passes = true;
    for plan in all.iter().filter(|plan| names.is_empty() || names.contains(&plan.name)) {
        let missed = missed(plan, seeds.as_deref(), tree)?;
        println!("{}: {} missed", plan.name, missed.len());
        missed.iter().for_each(|miss| println!("  {miss}"));
        passes &= if seeds.is_some() { missed.is_empty() } else { missed == plan.missed };
    }
    Ok(passes)
}

/// The step `plans`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    match process::build_programs(tree).and_then(|()| documented(tree)).and_then(|all| verdict(&all, tree)) {
        Ok(tally) => Verdict::Tests(tally),
        Err(why) => Verdict::Failed(why),
    }
}

fn verdict(all: &[Documented], tree: &Tree) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for plan in all {
        let missed = missed(plan, None, tree)?;
        let (new, gone) = (missed.difference(&plan.missed), plan.missed.difference(&missed));
        let differences: Vec<String> = new
            .map(|miss| format!("misses and does not say so: {miss}"))
            .chain(gone.map(|miss| format!("says that it misses, and does not: {miss}")))
            .collect();
        if !differences.is_empty() {
            return Err(format!("plans/{}.toml {}", plan.name, differences.join("\n")));
        }
        tally += Tally::ONE_PASSED;
    }
    Ok(tally)
}

fn documented(tree: &Tree) -> Result<Vec<Documented>, String> {
    let folder = tree.root().join("plans");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Documented, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Documented::of(name, &text).map_err(|why| format!("{}: {why}", path.display()))
}

/// Runs the plan's line; the thresholds that it misses.
fn missed(plan: &Documented, seeds: Option<&str>, tree: &Tree) -> Result<BTreeSet<String>, String> {
    let mut tool = Command::new(process::target_dir(tree).join("debug/skipstone"));
    tool.args(plan.arguments(seeds)).args(["--quiet", "--json", "-"]).current_dir(tree.root());
    let output = tool.output().map_err(|error| format!("{}: {error}", process::describe(&tool)))?;
    let result: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{}: no result ({error}): {said}", process::describe(&tool))
    })?;
    let thresholds = result["thresholds"].as_array().filter(|judged| !judged.is_empty());
    let thresholds = thresholds.ok_or_else(|| format!("plans/{}.toml: its line judges nothing", plan.name))?;
    let missed = thresholds.iter().filter(|threshold| threshold["passed"] != true);
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let miss = |threshold: &Value| {
        documented::miss(&text(&threshold["expression"]), &text(&threshold["of"]), threshold["actual"].as_f64())
    };
    Ok(missed.map(miss).collect())
}
