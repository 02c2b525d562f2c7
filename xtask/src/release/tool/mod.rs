//! The tool for each system: an archive with the program, completions, manual pages, plans and licences; Debian
//! packages with a unit of systemd; an OCI image.

mod check;
mod deb;
mod image;
mod manual;
mod program;

use std::path::{Path, PathBuf};

use super::archive;
use super::bill::write_bill;
use super::plan::{Part, Release, copy};
use super::systems::{LINUX_AARCH64, LINUX_X86_64, MACOS_AARCH64, MACOS_X86_64, System, WINDOWS_X86_64};
use super::third_party::write_licences;
use crate::machine::tree::Tree;
use manual::{manual, pages};
use program::{crates, program};

/// One for each system and kind of artifact.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: "tool-linux-x86_64",
        about: "the tool for Linux on x86-64, static",
        make: |release, tree| make(&LINUX_X86_64, release, tree),
        check: |release, tree| check::archive(&LINUX_X86_64, release, tree),
    },
    Part {
        name: "tool-linux-aarch64",
        about: "the tool for Linux on AArch64, static",
        make: |release, tree| make(&LINUX_AARCH64, release, tree),
        check: |release, tree| check::archive(&LINUX_AARCH64, release, tree),
    },
    Part {
        name: "tool-windows-x86_64",
        about: "the tool for Windows on x86-64",
        make: |release, tree| make(&WINDOWS_X86_64, release, tree),
        check: |release, tree| check::archive(&WINDOWS_X86_64, release, tree),
    },
    Part {
        name: "tool-macos-aarch64",
        about: "the tool for macOS on Apple silicon",
        make: |release, tree| make(&MACOS_AARCH64, release, tree),
        check: |release, tree| check::archive(&MACOS_AARCH64, release, tree),
    },
    Part {
        name: "tool-macos-x86_64",
        about: "the tool for macOS on Intel",
        make: |release, tree| make(&MACOS_X86_64, release, tree),
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

fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
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
fn name(system: &System, release: &Release) -> String {
    format!("skipstone-{}-{}", release.version, system.target)
}

fn copy_files(from: &Path, to: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    files.into_iter().try_for_each(|file| copy(&file, &to.join(file.file_name().unwrap_or_default())))
}
