//! The C library for each system: an archive that CMake, pkg-config and compilers use where it is unpacked, and one with
//! debug data.

mod check;
pub(super) mod format;
mod unpacked;

use std::path::PathBuf;

use super::archive;
use super::bill::write_bill;
use super::contents::{Built, dependencies};
use super::library::{copy_folder, library};
use super::plan::{Part, Release, copy};
use super::systems::{GLIBC_AARCH64, GLIBC_X86_64, Kind, MACOS_AARCH64, MACOS_X86_64, System, WINDOWS_X86_64};
use super::third_party::write_licences;
use crate::languages::c::install_to;
use crate::machine::tree::Tree;
use unpacked::{name, unpacked};

/// One for each system.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: "c-linux-x86_64",
        about: "the C library for Linux on x86-64, glibc 2.17 or later",
        make: |release, tree| make(&GLIBC_X86_64, release, tree),
        check: |release, tree| check::on_linux(&GLIBC_X86_64, release, tree),
    },
    Part {
        name: "c-linux-aarch64",
        about: "the C library for Linux on AArch64, glibc 2.17 or later",
        make: |release, tree| make(&GLIBC_AARCH64, release, tree),
        check: |release, tree| check::on_linux(&GLIBC_AARCH64, release, tree),
    },
    Part {
        name: "c-windows-x86_64",
        about: "the C library for Windows on x86-64",
        make: |release, tree| make(&WINDOWS_X86_64, release, tree),
        check: |release, tree| check::on_windows(&WINDOWS_X86_64, release, tree),
    },
    Part {
        name: "c-macos-aarch64",
        about: "the C library for macOS on Apple silicon",
        make: |release, tree| make(&MACOS_AARCH64, release, tree),
        check: |release, tree| check::for_macos(&MACOS_AARCH64, release, tree),
    },
    Part {
        name: "c-macos-x86_64",
        about: "the C library for macOS on Intel",
        make: |release, tree| make(&MACOS_X86_64, release, tree),
        check: |release, tree| check::for_macos(&MACOS_X86_64, release, tree),
    },
];

fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let library = library(system, release, tree)?;
    let name = name(system, release);
    let stage = release.stage(&name)?;
    let inside = stage.join(&name);
    install_to(&inside, &library.folder, system.os(), tree)?;
    for (from, to) in [
        ("clients/c/README.md", "README.md"),
        ("CHANGELOG.md", "CHANGELOG.md"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
        ("clients/c/sample/CMakeLists.txt", "sample/CMakeLists.txt"),
        ("clients/c/sample/main.c", "sample/main.c"),
    ] {
        copy(&tree.root().join(from), &inside.join(to))?;
    }
    let contents = dependencies(contents(system), tree)?;
    write_licences(&inside.join("THIRD-PARTY-LICENSES.txt"), &contents)?;
    let archive = archive::pack(&stage, &name, system.archive(), release, tree)?;
    let bill = write_bill(&archive, &contents, release)?;
    // Debug data are several times as large as the library, and most who install it never need them.
    let debug_name = format!("{name}-debug");
    let to = stage.join(&debug_name).join(library.debug.file_name().unwrap_or_default());
    if library.debug.is_dir() {
        copy_folder(&library.debug, &to)?
    } else {
        copy(&library.debug, &to)?
    }
    let debug = archive::pack(&stage, &debug_name, system.archive(), release, tree)?;
    Ok(vec![archive, bill, debug])
}

/// The shared library in the archive that this release has made for that system: packages of other languages have the
/// same bytes, and no second build.
pub(super) fn shared_library(system: &System, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let folder = if system.kind == Kind::Windows { "bin" } else { "lib" };
    Ok(unpacked(system, release, tree)?.join(folder).join(system.shared("skipstone")))
}

/// The static library in the same archive.
pub(super) fn static_library(system: &System, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    Ok(unpacked(system, release, tree)?.join("lib/libskipstone.a"))
}

/// The crates in the library, for bills of materials.
pub(super) fn contents(system: &System) -> Built<'static> {
    Built { package: "skipstone-ffi", features: &[], target: system.target, manifest: "Cargo.toml" }
}
