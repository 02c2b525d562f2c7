//! `cargo xtask test`: the steps, their order, and the account of them at the end.
//! What a step needs of the machine is in `system`; what it looks for in our sources is in files of their own.

use std::time::{Duration, Instant};

use crate::arguments::Arguments;
use crate::tally::Tally;
use crate::tree::Tree;
use crate::{alone, instructions, layering, process, purity, system, vectors};

/// How a step ended.
pub(crate) enum Verdict {
    Passed,
    /// With one line that says what went wrong; the details were printed before.
    Failed(String),
    /// With one line that says what was left out and why.
    Skipped(String),
    /// A step made of tests: each counts for itself.
    Tests(Tally),
}

/// `cargo xtask test [--only STEP]... [--list]`. `Ok(true)` if nothing failed.
pub(crate) fn test(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let list = arguments.take_flag("--list");
    let chosen = chosen_steps(&mut arguments)?;
    arguments.expect_end()?;
    if list {
        for step in chosen {
            println!("{:width$}  {}", step.name, step.about, width = NAME_WIDTH);
        }
        return Ok(true);
    }
    Ok(run_all(&chosen, tree).failed == 0)
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
fn run_all(steps: &[&Step], tree: &Tree) -> Tally {
    let started = Instant::now();
    let mut total = Tally::default();
    let mut account = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== {}/{} {}: {}", index + 1, steps.len(), step.name, step.about);
        let step_started = Instant::now();
        let (tally, word, note) = settle((step.run)(tree));
        let elapsed = seconds(step_started.elapsed());
        let separator = if note.is_empty() { "" } else { ": " };
        println!("=== {} {word} after {elapsed}{separator}{note}", step.name);
        total += tally;
        account.push(format!("{:width$}  {word:7}  {elapsed:>8}  {note}", step.name, width = NAME_WIDTH));
    }
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

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Tree) -> Verdict,
}

const NAME_WIDTH: usize = 9;

/// In this order: what later steps need first, then what fails fastest, the tests last but for what they cost and the vectors.
const STEPS: &[Step] = &[
    Step {
        name: "toolchain",
        about: "rustfmt, clippy and the wasm32 target are there, or are added with rustup",
        run: system::toolchain,
    },
    Step {
        name: "packages",
        about: "telnet, nc and python3, which some tests drive, are there, or are added with apt-get",
        run: system::packages,
    },
    Step {
        name: "fmt",
        about: "every Rust file is formatted",
        run: |tree| {
            if !system::has_cargo_command("fmt", tree) {
                return Verdict::Skipped("`cargo fmt` is not installed".into());
            }
            cargo(tree, &["fmt", "--all", "--check"])
        },
    },
    Step {
        name: "layering",
        about: "the protocol's imports point down; no clock, socket or thread in it; `unsafe` in three files",
        run: layering_and_purity,
    },
    Step {
        name: "alone",
        about: "no file speaks of the machine that it was written on",
        run: |tree| report(alone::breaches(&tree.files())),
    },
    Step {
        name: "clippy",
        about: "no lint, in any target",
        run: |tree| {
            if !system::has_cargo_command("clippy", tree) {
                return Verdict::Skipped("`cargo clippy` is not installed".into());
            }
            cargo(tree, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        },
    },
    Step { name: "docs", about: "the documentation builds without a warning", run: docs },
    Step { name: "wasm", about: "the protocol builds for wasm32-unknown-unknown", run: wasm },
    Step { name: "tests", about: "every test, doc tests included", run: tests },
    Step {
        name: "costs",
        about: "no hot path of the protocol costs 10% more instructions than before; valgrind is there, or is added with apt-get",
        run: instructions::step,
    },
    Step {
        name: "vectors",
        about: "the golden datagrams mean what the independent decoder reads",
        run: vectors::check,
    },
];

fn cargo(tree: &Tree, arguments: &[&str]) -> Verdict {
    let mut cargo = process::cargo(tree);
    cargo.args(arguments);
    process::run(cargo).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

fn layering_and_purity(tree: &Tree) -> Verdict {
    let files = tree.files();
    let mut breaches = layering::breaches(&files);
    breaches.extend(purity::breaches(&files));
    report(breaches)
}

fn report(breaches: Vec<String>) -> Verdict {
    for breach in &breaches {
        println!("{breach}");
    }
    match breaches.len() {
        0 => Verdict::Passed,
        1 => Verdict::Failed("1 breach".into()),
        count => Verdict::Failed(format!("{count} breaches")),
    }
}

fn docs(tree: &Tree) -> Verdict {
    let mut cargo = process::cargo(tree);
    cargo.args(["doc", "--workspace", "--no-deps"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    process::run(cargo).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

fn wasm(tree: &Tree) -> Verdict {
    if !system::has_target(system::WASM, tree) {
        return Verdict::Skipped(format!("the standard library for {} is not installed", system::WASM));
    }
    cargo(tree, &["build", "-p", "skipstone-proto", "--target", system::WASM])
}

/// Counts each test. A failure without a failed test (a program that does not build, or that dies) counts as one.
fn tests(tree: &Tree) -> Verdict {
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--workspace", "--no-fail-fast"]);
    let mut tally = Tally::default();
    let outcome = process::run_reading(cargo, |line| {
        tally += Tally::from_result_line(line).unwrap_or_default();
    });
    if let Err(why) = outcome {
        println!("{why}");
        tally.failed = tally.failed.max(1);
    }
    Verdict::Tests(tally)
}
