//! The archive of the tool: the program with completions, manual pages, plans and licences.

use std::path::{Path, PathBuf};

use super::manual::{manual, pages};
use super::program::{crates, program};
use crate::machine::tree::Tree;
use crate::release::archive;
use crate::release::bill::write_bill;
use crate::release::plan::{Release, copy};
use crate::release::systems::System;
use crate::release::third_party::write_licences;

/// Makes it.
pub(super) fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let built = program(system, release, tree)?;
    let name = name(system, release);
    let stage = release.stage(&name)?;
    let inside = stage.join(&name);
    copy(&built, &inside.join(system.program("skipstone")))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&tree.root().join(file), &inside.join(file))?;
    }
    copy_files(&tree.root().join("plans"), &inside.join("plans"))?;
    let manual = manual(release, tree)?;
    copy_files(&manual.join("completions"), &inside.join("completions"))?;
    for page in pages(&manual)? {
        copy(&page, &inside.join("man/man1").join(page.file_name().unwrap_or_default()))?;
    }
    let crates = crates(system, tree)?;
    write_licences(&inside.join("THIRD-PARTY-LICENSES.txt"), &crates)?;
    let archive = archive::pack(&stage, &name, system.archive(), release, tree)?;
    let bill = write_bill(&archive, &crates, release)?;
    Ok(vec![archive, bill])
}

/// The name of the archive without its end, and of the folder in it.
pub(super) fn name(system: &System, release: &Release) -> String {
    format!("skipstone-{}-{}", release.version, system.target)
}

fn copy_files(from: &Path, to: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    files.into_iter().try_for_each(|file| copy(&file, &to.join(file.file_name().unwrap_or_default())))
}
