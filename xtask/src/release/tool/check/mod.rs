//! Each artifact of the tool is installed where nothing is, and used there.

mod archive;
mod debian;
mod emptiness;
mod mach_o;
mod served;

use super::archived::name;
use super::{deb, image};
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::archive::unpack;
use crate::release::plan::{Checked, Release};
use crate::release::systems::System;

pub(super) use archive::archive;

/// The Debian package in a Debian of its own.
pub(super) fn deb(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let package = release.artifact(&deb::name(system, release));
    debian::check(&package, deb::architecture(system), release, tree)
}

/// A container of the image, with the archive's tool as its load.
pub(super) fn image(system: &System, release: &Release, tree: &Tree) -> Result<Checked, String> {
    let folder = release.stage("check/image")?;
    let name = name(system, release);
    unpack(&release.artifact(&format!("{name}.{}", system.archive())), &folder, tree)?;
    if let Some(why) = system::program("crun", "crun", "no container is run", tree) {
        return Ok(Checked::Skipped(why));
    }
    let tool = folder.join(name).join("skipstone");
    crate::programs::image::try_archive(&release.artifact(&image::name(release)), &tool, &folder, tree)?;
    Ok(Checked::Passed("a container by crun, read-only, without capabilities: 100 clients, end by SIGTERM".into()))
}

/// Runs it, and returns the seconds that it took.
fn timed(command: std::process::Command) -> Result<f64, String> {
    let started = std::time::Instant::now();
    process::run(command).map(|()| started.elapsed().as_secs_f64())
}
