//! The machine below: the command line, files, child processes, what is installed, and how tests are counted.

pub(crate) mod arguments;
pub(crate) mod failures;
pub(crate) mod files;
pub(crate) mod process;
pub(crate) mod system;
pub(crate) mod tally;
pub(crate) mod test_programs;
pub(crate) mod tree;
pub(crate) mod verdict;
