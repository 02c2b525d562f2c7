//! `cargo xtask sweep --seeds A..B`: paths and workloads drawn from seeds, judged by rules; the release tool does the work.

use std::process::Command;

use crate::arguments::Arguments;
use crate::process;
use crate::tree::Tree;
use crate::verdict::Verdict;

/// Builds the tool and runs its `sweep` with the same flags.
pub(crate) fn sweep(arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    Ok(process::passes(command(&arguments.rest(), tree)))
}

/// A few short settings, judged by what must hold however short a run is.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let flags = STEP.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
    process::run(command(&flags, tree)).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

fn command(flags: &[String], tree: &Tree) -> Command {
    let mut cargo = process::cargo(tree);
    cargo.args(["run", "--quiet", "--release", "--package", "skipstone-cli", "--", "sweep"]).args(flags);
    cargo
}

/// Twenty settings of half a minute, in ten seconds of CPU time.
const STEP: [&str; 10] = [
    "--seeds",
    "50..70",
    "--minutes",
    "0.5",
    "--loss-seeds",
    "1",
    "--transports",
    "kcp,quinn-tuned",
    "--tolerant",
    "--quiet",
];
