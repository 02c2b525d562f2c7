//! The layer below: the command line, files, child processes, installed programs, and the counting of tests.

pub(crate) mod arguments;
pub(crate) mod failures;
pub(crate) mod files;
pub(crate) mod packages;
pub(crate) mod process;
pub(crate) mod system;
pub(crate) mod tally;
pub(crate) mod test_programs;
pub(crate) mod tree;
pub(crate) mod verdict;
