//! The program for a system, built once for all artifacts that contain it.

use std::path::PathBuf;

use crate::machine::process;
use crate::machine::tree::Tree;
use crate::release::build;
use crate::release::contents::{Built, Dependency, dependencies};
use crate::release::library::objcopy;
use crate::release::plan::Release;
use crate::release::systems::{Kind, System};
use crate::release::uuid;

/// Builds it. A second call finds what the first has built.
pub(super) fn program(system: &System, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let mut cargo = build::cargo(system, release, tree)?;
    cargo.args(["--package", PACKAGE]);
    process::run(cargo)?;
    let name = system.program("skipstone");
    let built = build::folder(system, release).join(&name);
    if system.kind != Kind::Linux {
        uuid::replace(&built, &format!("{} {name}", system.target), release)?;
    }
    if system.kind == Kind::MacOs {
        // Its signature is made anew.
        process::run(objcopy(&build::folder(system, release), &["--strip-debug", &name], tree)?)?;
    }
    build::check_places(&built, release, tree).map(|()| built)
}

/// The crates of others in it.
pub(super) fn crates(system: &System, tree: &Tree) -> Result<Vec<Dependency>, String> {
    dependencies(Built { package: PACKAGE, features: &[], target: system.target, manifest: "Cargo.toml" }, tree)
}

const PACKAGE: &str = "skipstone-cli";
