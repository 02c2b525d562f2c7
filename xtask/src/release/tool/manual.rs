//! Completions and manual pages, which the tool's own description of its command line gives: the same for all systems.

use std::path::PathBuf;

use crate::machine::process;
use crate::machine::tree::Tree;
use crate::release::build;
use crate::release::plan::{Release, copy};
use crate::release::systems::System;

/// A folder with `man/NAME.1` and `completions/`.
pub(super) fn manual(release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let folder = release.work.join("manual").join(&release.revision);
    if folder.join("completions").is_dir() && folder.join(DONE).is_file() {
        return Ok(folder);
    }
    // The tool for this machine is built for its own artifacts anyway: this compiles one crate more, where a
    // development build would compile hundreds.
    let here = System::here();
    let mut cargo = build::cargo(here, release, tree)?;
    cargo.args(["--package", "skipstone-cli", "--features", "manual", "--bin", "manual"]);
    process::run(cargo)?;
    // The help's examples begin with the name by which the program was called: the tool's, and not a path of this
    // machine.
    let called = release.stage("manual")?;
    copy(&build::folder(here, release).join("manual"), &called.join("skipstone"))?;
    let mut writer = release.command("skipstone", tree);
    writer.env("PATH", &called).arg(&folder);
    process::run(writer)?;
    for page in pages(&folder)? {
        build::check_places(&page, release, tree)?;
    }
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
