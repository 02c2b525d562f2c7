//! Everybody plays together: a server in each language that is there, with clients in all of them, on a lossy path.
//! `interop/README.md` has the game, `interop/play.py` starts the programs.

use std::process::Command;

use crate::tally::Tally;
use crate::tree::Tree;
use crate::verdict::Verdict;
use crate::{process, python, system};

/// The step `interop`. The steps of the languages have built their programs before it; a program that is not there is left out.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let Some(python) = system::python(tree) else {
        return Verdict::Skipped("no Python 3, which starts the programs: install it".into());
    };
    // The example is built with all the others: alone it would have other features, and be built anew.
    if let Err(why) = process::build_programs(tree) {
        return Verdict::Failed(why);
    }
    let mut play = process::command(python, tree);
    play.args(["interop/play.py", "--target"]).arg(process::target_dir(tree).join("debug"));
    if let Some(python) = python::interpreter(tree) {
        play.arg("--python").arg(python);
    }
    count(play)
}

fn count(play: Command) -> Verdict {
    let mut tally = Tally::default();
    let outcome = process::run_reading(play, |line| tally += Tally::from_own_line(line).unwrap_or_default());
    match outcome {
        Err(why) if tally.failed == 0 => Verdict::Failed(why),
        _ => Verdict::Tests(tally),
    }
}
