//! The dissector for Wireshark, `wireshark/skipstone.lua`, reads the golden datagrams and a capture of a plain run.

use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system};

/// The step `wireshark`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Some(why) = system::program("tshark", "tshark", "the dissector is not tried", tree) {
        return Verdict::Skipped(why);
    }
    let Some(python) = system::python(tree) else {
        return Verdict::Skipped("no Python 3, which compares what tshark says: install it".into());
    };
    if let Err(why) = process::build_programs(tree) {
        return Verdict::Failed(why);
    }
    let mut check = process::command(python, tree);
    check.arg("wireshark/check.py").arg(process::target_dir(tree).join("debug/skipstone"));
    process::run(check).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}
