//! The tool for each system: an archive with the program, completions, manual pages, plans and licences.

use std::path::PathBuf;

use super::archive;
use super::bill::write_bill;
use super::build;
use super::contents::{Built, dependencies};
use super::plan::{Checked, Part, Release, copy};
use super::systems::{LINUX_AARCH64, LINUX_X86_64, MACOS_AARCH64, MACOS_X86_64, System, WINDOWS_X86_64};
use super::third_party::write_licences;
use crate::machine::process;
use crate::machine::tree::Tree;

/// One for each system.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: "tool-linux-x86_64",
        about: "the tool for Linux on x86-64, static",
        make: |release, tree| make(&LINUX_X86_64, release, tree),
        check: |_, _| Ok(Checked::Skipped("no check yet".into())),
    },
    Part {
        name: "tool-linux-aarch64",
        about: "the tool for Linux on AArch64, static",
        make: |release, tree| make(&LINUX_AARCH64, release, tree),
        check: |_, _| Ok(Checked::Skipped("no check yet".into())),
    },
    Part {
        name: "tool-windows-x86_64",
        about: "the tool for Windows on x86-64",
        make: |release, tree| make(&WINDOWS_X86_64, release, tree),
        check: |_, _| Ok(Checked::Skipped("no check yet".into())),
    },
    Part {
        name: "tool-macos-aarch64",
        about: "the tool for macOS on Apple silicon",
        make: |release, tree| make(&MACOS_AARCH64, release, tree),
        check: |_, _| Ok(Checked::Skipped("no check yet".into())),
    },
    Part {
        name: "tool-macos-x86_64",
        about: "the tool for macOS on Intel",
        make: |release, tree| make(&MACOS_X86_64, release, tree),
        check: |_, _| Ok(Checked::Skipped("no check yet".into())),
    },
];

fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let mut cargo = build::cargo(system, release, tree)?;
    cargo.args(["--package", PACKAGE]);
    process::run(cargo)?;
    let program = system.program("skipstone");
    let built = build::folder(system, release).join(&program);
    build::check_places(&built, release, tree)?;
    let name = format!("skipstone-{}-{}", release.version, system.target);
    let stage = release.stage(&name)?;
    let inside = stage.join(&name);
    copy(&built, &inside.join(&program))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&tree.root().join(file), &inside.join(file))?;
    }
    let contents = dependencies(contents(system), tree)?;
    write_licences(&inside.join("THIRD-PARTY-LICENSES.txt"), &contents)?;
    let archive = archive::pack(&stage, &name, system.archive(), release, tree)?;
    let bill = write_bill(&archive, &contents, release)?;
    Ok(vec![archive, bill])
}

fn contents(system: &System) -> Built<'static> {
    Built { package: PACKAGE, features: &[], target: system.target, manifest: "Cargo.toml" }
}

const PACKAGE: &str = "skipstone-cli";
