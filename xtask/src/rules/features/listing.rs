//! The crates of a build, as `cargo tree` lists them.

use std::collections::BTreeSet;

use crate::machine::process;
use crate::machine::tree::Tree;

/// The output of `cargo tree` about a package with these arguments, one crate a line. `edges` is `normal`, or
/// `normal,build`.
pub(super) fn listed(edges: &str, arguments: &[&str], tree: &Tree) -> Result<String, String> {
    let mut listing = process::cargo(tree);
    listing.args(["tree", "--edges", edges, "--prefix", "none", "--format", "{p}"]).args(arguments);
    process::output(listing).ok_or_else(|| "cargo lists no crates".to_owned())
}

/// The distinct lines of `cargo tree`, without its marks for repeated crates.
pub(super) fn crates(tree: &str) -> BTreeSet<&str> {
    tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_counted_once_and_by_version() {
        let listed = "skipstone v0.1.0 (/a)\nring v0.17.14\nlibc v0.2.1\nlibc v0.2.1 (*)\nlibc v0.3.0\n\n";
        assert_eq!(crates(listed).len(), 4);
    }
}
