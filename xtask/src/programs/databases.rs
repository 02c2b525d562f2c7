//! The tests of databases with servers of MariaDB and PostgreSQL, which the tests themselves start in temporary folders
//! and end.

use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{system, test_programs};

pub(crate) fn step(tree: &Tree) -> Verdict {
    let missing = system::databases(tree);
    let program = match test_programs::one(test_programs::ENGINES, tree) {
        Ok(program) => program,
        Err(why) => return Verdict::Failed(why),
    };
    let mut tests = program.command(tree);
    // Without it, only SQLite is tested.
    tests.envs(missing.is_none().then_some(("SKIPSTONE_TEST_SERVERS", "1")));
    let verdict = Verdict::of_tests(tests);
    match (missing, verdict) {
        (Some(why), Verdict::Tests(tally)) => {
            println!("{why}");
            Verdict::Tests(Tally { skipped: tally.skipped + 1, ..tally })
        }
        (_, verdict) => verdict,
    }
}
