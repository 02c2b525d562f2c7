//! The OCI image of the tool, as `cargo xtask image` makes it, of the static program.

use std::path::PathBuf;

use super::program::{crates, program};
use crate::machine::tree::Tree;
use crate::programs::image;
use crate::release::bill::write_bill;
use crate::release::plan::Release;
use crate::release::systems::System;

/// Makes it.
pub(super) fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let built = program(system, release, tree)?;
    let artifact = release.artifact(&name(release));
    image::make(&built, system.target, &release.stage("image")?, &artifact, tree)?;
    let bill = write_bill(&artifact, &crates(system, tree)?, release)?;
    Ok(vec![artifact, bill])
}

/// The name of the artifact.
pub(super) fn name(release: &Release) -> String {
    format!("skipstone-{}-linux-amd64.oci.tar", release.version)
}
