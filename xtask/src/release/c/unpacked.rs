//! The archive of a system: its name, and where a check unpacks it.

use std::path::PathBuf;

use crate::machine::tree::Tree;
use crate::release::archive;
use crate::release::plan::Release;
use crate::release::systems::System;

/// The name of the archive without its end, and of the folder in it.
pub(super) fn name(system: &System, release: &Release) -> String {
    format!("skipstone-c-{}-{}", release.version, system.target)
}

/// Unpacks an archive of a part where nothing else is. Returns the folder.
pub(super) fn unpacked(system: &System, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let name = name(system, release);
    let folder = release.stage(&format!("check/{name}"))?;
    archive::unpack(&release.artifact(&format!("{name}.{}", system.archive())), &folder, tree)?;
    Ok(folder.join(name))
}
