//! The tests of deployments, to an sshd that they themselves start on the loopback interface and end.

use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system, test_programs};

pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Some(why) = system::deployments(tree) {
        return Verdict::Skipped(why);
    }
    // The list of programs covers the whole workspace, and so includes the tool.
    let program = match test_programs::one(test_programs::DEPLOYS, tree) {
        Ok(program) => program,
        Err(why) => return Verdict::Failed(why),
    };
    let mut tests = program.command(tree);
    tests.env("SKIPSTONE_TEST_TOOL", process::target_dir(tree).join("debug/skipstone"));
    Verdict::of_tests(tests)
}
