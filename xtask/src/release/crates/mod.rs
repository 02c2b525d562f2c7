//! The Rust crates: what `cargo publish` would upload, one file for each crate of ours that is published. Cargo packs
//! crates that depend on each other as if the others were published.

mod check;

use std::path::PathBuf;

use super::bill::write_bill;
use super::contents::{Built, dependencies};
use super::plan::{Part, Release, copy};
use super::systems::GLIBC_X86_64;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::rules::package::published;
use check::file_name;

pub(super) const PARTS: &[Part] =
    &[Part { name: "crates", about: "the Rust crates, as a registry takes them", make, check: check::check }];

fn make(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let names: Vec<String> = published(tree)?.iter().map(|member| member.package.name.to_string()).collect();
    let stage = release.stage("crates")?;
    let mut cargo = process::cargo(tree);
    // The step `package` of `cargo xtask test` builds each from its package; `preflight` has judged the tree.
    cargo.args(["package", "--quiet", "--locked", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&stage);
    cargo.args(names.iter().flat_map(|name| ["--package", name]));
    release.steady(&mut cargo);
    process::run(cargo)?;
    let mut artifacts = Vec::new();
    for name in &names {
        let file = file_name(name, release);
        let artifact = release.artifact(&file);
        copy(&stage.join("package").join(&file), &artifact)?;
        let built = Built { package: name, features: &[], target: GLIBC_X86_64.target, manifest: "Cargo.toml" };
        let bill = write_bill(&artifact, &dependencies(built, tree)?, release)?;
        artifacts.extend([artifact, bill]);
    }
    Ok(artifacts)
}
