//! The tests of databases with servers of MariaDB and PostgreSQL, which the tests themselves start in temporary folders and end.

use crate::process;
use crate::system;
use crate::tree::Tree;
use crate::verdict::Verdict;

pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Some(why) = system::databases(tree) {
        return Verdict::Skipped(why);
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--no-fail-fast", "--workspace", "--test", "engines"]);
    cargo.env("SKIPSTONE_TEST_SERVERS", "1");
    Verdict::of_tests(cargo)
}
