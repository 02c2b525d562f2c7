//! What a tree promises of one kind: lines, each of which a program may rely on.

use std::collections::BTreeSet;
use std::path::Path;

pub(super) type Lines = BTreeSet<String>;

/// The text of a file in the folder of a tree.
pub(super) fn read(folder: &Path, path: &str) -> Result<String, String> {
    let path = folder.join(path);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}
