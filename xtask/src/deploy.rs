//! The tests of deployments, to an sshd that they themselves start on the loopback interface and end.

use crate::process;
use crate::system;
use crate::tree::Tree;
use crate::verdict::Verdict;

pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Some(why) = system::deployments(tree) {
        return Verdict::Skipped(why);
    }
    // With the features of the whole workspace, as all other tests: otherwise all is built once more.
    if let Err(why) = process::build_programs(tree) {
        return Verdict::Failed(why);
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--no-fail-fast", "--workspace", "--test", "deploys"]);
    cargo.env("SKIPSTONE_TEST_TOOL", process::target_dir(tree).join("debug/skipstone"));
    Verdict::of_tests(cargo)
}
