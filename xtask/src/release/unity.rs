//! The Unity package: an archive that Unity's package manager installs, with native libraries for Linux, Windows and
//! macOS in their places.

use std::path::PathBuf;

use super::bill::write_bill;
use super::c::{contents, shared_library};
use super::contents::dependencies;
use super::plan::{Checked, Part, Release, copy, write};
use super::systems::{GLIBC_AARCH64, GLIBC_X86_64, MACOS_AARCH64, MACOS_X86_64, System, WINDOWS_X86_64};
use super::universal::{ARM64, X86_64, universal};
use crate::languages::csharp::unity_package;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

pub(super) const PARTS: &[Part] = &[Part {
    name: "unity",
    about: "the Unity package, with native libraries for Linux, Windows and macOS",
    make,
    check,
}];

fn make(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let stage = release.stage("unity")?;
    let natives = stage.join("natives");
    let folders =
        [(&GLIBC_X86_64, "linux-x86_64"), (&GLIBC_AARCH64, "linux-arm64"), (&WINDOWS_X86_64, "windows-x86_64")];
    for (system, folder) in folders {
        copy(&shared_library(system, release, tree)?, &natives.join(folder).join(system.shared("skipstone")))?;
    }
    // The editor runs on either CPU, and looks for one file.
    let read = |system: &System| {
        let shared = shared_library(system, release, tree)?;
        std::fs::read(&shared).map_err(|error| format!("{}: {error}", shared.display()))
    };
    let both = [(ARM64.0, ARM64.1, read(&MACOS_AARCH64)?), (X86_64.0, X86_64.1, read(&MACOS_X86_64)?)];
    write(&natives.join("macos").join(MACOS_AARCH64.shared("skipstone")), universal(&both))?;
    let made = unity_package(&natives, &stage, tree)?;
    let package = archive(release);
    copy(&made, &package)?;
    let bill = write_bill(&package, &dependencies(contents(&GLIBC_X86_64), tree)?, release)?;
    Ok(vec![package, bill])
}

/// Unity's documented rules, over everything in the archive. There is no Unity here.
fn check(release: &Release, tree: &Tree) -> Result<Checked, String> {
    let mut script = process::command(system::python(tree).ok_or("Python 3 is missing")?, tree);
    script.args(["-B", "clients/unity/layout.py", "archive"]).arg(archive(release));
    process::run(script)?;
    Ok(Checked::Passed("the layout of every file in the archive; not opened in Unity".into()))
}

fn archive(release: &Release) -> PathBuf {
    release.artifact(&format!("com.skipstone.transport-{}.tgz", release.version))
}
