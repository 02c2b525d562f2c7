//! `cargo xtask sweep --seeds A..B`: paths and workloads drawn from seeds, judged by rules; the release tool does the
//! work.

use std::process::Command;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// Builds the tool and runs its `sweep` with the same flags.
pub(crate) fn sweep(arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["run", "--quiet", "--release", "--package", "skipstone-cli", "--", "sweep"]).args(arguments.rest());
    Ok(process::passes(cargo))
}

/// A few short settings, judged by what must hold in any run, however short. Virtual time is the same in every build:
/// the build of the tests exists already, and building an optimised one takes minutes longer than it saves.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Err(why) = process::build_programs(tree) {
        return Verdict::Failed(why);
    }
    let mut tool = Command::new(process::target_dir(tree).join("debug/skipstone"));
    tool.arg("sweep").args(STEP);
    process::run(tool).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// Twenty settings of half a minute, in twelve seconds of CPU time.
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
