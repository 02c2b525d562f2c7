//! The tool for each system: an archive with the program, completions, manual pages, plans and licences; Debian
//! packages with a unit of systemd; an OCI image.

mod archived;
mod check;
mod deb;
mod image;
mod manual;
mod program;

use std::path::PathBuf;

use super::archive::unpack;
use super::plan::{Part, Release};
use super::systems::{LINUX_AARCH64, LINUX_X86_64, MACOS_AARCH64, MACOS_X86_64, System, WINDOWS_X86_64};
use crate::machine::tree::Tree;

/// The tool in this release's archive for this machine, for the checks of other parts: as their server. SKIPSTONE_BIN
/// names another one, to try such a part alone.
pub(super) fn program_here(release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    if let Some(own) = std::env::var_os("SKIPSTONE_BIN") {
        return Ok(PathBuf::from(own));
    }
    let system = System::here();
    let (folder, name) = (release.stage("check/server")?, archived::name(system, release));
    unpack(&release.artifact(&format!("{name}.{}", system.archive())), &folder, tree)
        .map_err(|why| format!("{why}; or name a built tool by SKIPSTONE_BIN"))?;
    Ok(folder.join(name).join(system.program("skipstone")))
}

/// One for each system and kind of artifact.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: "tool-linux-x86_64",
        about: "the tool for Linux on x86-64, static",
        make: |release, tree| archived::make(&LINUX_X86_64, release, tree),
        check: |release, tree| check::archive(&LINUX_X86_64, release, tree),
    },
    Part {
        name: "tool-linux-aarch64",
        about: "the tool for Linux on AArch64, static",
        make: |release, tree| archived::make(&LINUX_AARCH64, release, tree),
        check: |release, tree| check::archive(&LINUX_AARCH64, release, tree),
    },
    Part {
        name: "tool-windows-x86_64",
        about: "the tool for Windows on x86-64",
        make: |release, tree| archived::make(&WINDOWS_X86_64, release, tree),
        check: |release, tree| check::archive(&WINDOWS_X86_64, release, tree),
    },
    Part {
        name: "tool-macos-aarch64",
        about: "the tool for macOS on Apple silicon",
        make: |release, tree| archived::make(&MACOS_AARCH64, release, tree),
        check: |release, tree| check::archive(&MACOS_AARCH64, release, tree),
    },
    Part {
        name: "tool-macos-x86_64",
        about: "the tool for macOS on Intel",
        make: |release, tree| archived::make(&MACOS_X86_64, release, tree),
        check: |release, tree| check::archive(&MACOS_X86_64, release, tree),
    },
    Part {
        name: "deb-amd64",
        about: "a Debian package of the tool, with a unit of systemd",
        make: |release, tree| deb::make(&LINUX_X86_64, release, tree),
        check: |release, tree| check::deb(&LINUX_X86_64, release, tree),
    },
    Part {
        name: "deb-arm64",
        about: "the same for AArch64",
        make: |release, tree| deb::make(&LINUX_AARCH64, release, tree),
        check: |release, tree| check::deb(&LINUX_AARCH64, release, tree),
    },
    Part {
        name: "image-amd64",
        about: "the tool as an OCI image in an archive",
        make: |release, tree| image::make(&LINUX_X86_64, release, tree),
        check: |release, tree| check::image(&LINUX_X86_64, release, tree),
    },
];
