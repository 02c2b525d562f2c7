//! The SDK server of Agones that the tests have, checked by Agones' own SDK for Node.js, and `skipstone serve --agones`
//! beside it: `interop/agones`.

use crate::languages::node::NodePackage;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

const POD: NodePackage = NodePackage { folder: "interop/agones" };

/// The step of `cargo xtask test`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Err(verdict) = POD.install(tree) {
        return verdict;
    }
    if let Err(why) = process::build_programs(tree) {
        return Verdict::Failed(why);
    }
    let mut tests = POD.script("test", &[], tree);
    tests.env("SKIPSTONE", process::target_dir(tree).join("debug/skipstone"));
    process::run(tests).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}
