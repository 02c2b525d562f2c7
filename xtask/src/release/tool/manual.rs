//! Completions and manual pages, which the tool's own description of its command line gives: the same for all systems.

use std::path::PathBuf;

use crate::machine::process;
use crate::machine::tree::Tree;
use crate::release::plan::Release;

/// A folder with `man/NAME.1` and `completions/`.
pub(super) fn manual(release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let folder = release.work.join("manual").join(&release.revision);
    if folder.join("completions").is_dir() && folder.join(DONE).is_file() {
        return Ok(folder);
    }
    // By cargo's folder of development, where most of it is built already: it runs here, once.
    let mut cargo = process::cargo(tree);
    cargo.args(["run", "--quiet", "--locked", "--package", "skipstone-cli", "--features", "manual"]);
    cargo.args(["--example", "manual", "--"]).arg(&folder);
    // Its own name is in the help's examples.
    release.steady(&mut cargo);
    process::run(cargo)?;
    std::fs::write(folder.join(DONE), "").map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The pages, in order.
pub(super) fn pages(manual: &std::path::Path) -> Result<Vec<PathBuf>, String> {
    let folder = manual.join("man");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut pages: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    Ok(pages)
}

const DONE: &str = "done.txt";
