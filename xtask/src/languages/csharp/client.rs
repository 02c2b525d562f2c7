//! The client's assembly, and where sources lie.

use std::path::PathBuf;

use super::toolchain::{Assembly, Toolchain};
use crate::machine::tree::Tree;

/// The folder of the client's sources, for Unity and all other users.
pub(super) const SOURCES: &str = "clients/unity/com.skipstone.transport/Runtime/Core";

/// The client itself, with its documentation next to it.
pub(super) fn client(toolchain: &Toolchain, folder: &str, tree: &Tree) -> Result<PathBuf, String> {
    let documentation = toolchain.folder().join(folder).join("Skipstone.xml");
    let client = Assembly {
        folder: folder.into(),
        file_name: "Skipstone.dll",
        sources: sources(tree, SOURCES)?,
        options: vec![
            format!("-doc:{}", documentation.display()),
            "-debug:portable".into(),
            format!("-pathmap:{}=/skipstone", tree.root().display()),
        ],
        ..Assembly::default()
    };
    toolchain.compile(&client, tree)
}

/// A C# file, or all C# files below a folder.
pub(super) fn sources(tree: &Tree, folder: &str) -> Result<Vec<PathBuf>, String> {
    let mut pending = vec![tree.root().join(folder)];
    let mut found = Vec::new();
    if pending[0].is_file() {
        return Ok(pending);
    }
    while let Some(folder) = pending.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cs") {
                found.push(path);
            }
        }
    }
    found.sort();
    if found.is_empty() { Err(format!("{folder} has no C# source")) } else { Ok(found) }
}
