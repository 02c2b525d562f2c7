//! The Rust interface of the crates that are published, compared by cargo-semver-checks, which is compiled once.

use std::path::{Path, PathBuf};

use crate::machine::packages::Described;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::rules::package::published;

/// Compares each crate; the inner `Err` names those that have broken their promise.
pub(super) fn check(baseline: &Path, tree: &Tree) -> Result<Result<String, String>, String> {
    let program = program(tree)?;
    let mut broken = Vec::new();
    let published = published(tree)?;
    for member in &published {
        let name = member.package.name.as_str();
        if !baseline.join(&member.folder).join("Cargo.toml").is_file() {
            println!("{name}: new, nothing is compared");
            continue;
        }
        let mut compare = process::command(&program.to_string_lossy(), tree);
        compare.args(["semver-checks", "--package", name, "--baseline-root"]).arg(baseline);
        compare.args(features(member));
        // What is only checked needs no optimisation.
        compare.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
        if !process::passes(compare) {
            broken.push(name.to_owned());
        }
    }
    Ok(if broken.is_empty() {
        Ok(format!("{} crates", published.len()))
    } else {
        Err(format!(
            "{}: see above; keep the old name, or raise the minor version (from 1.0 on the major one)",
            broken.join(", ")
        ))
    })
}

/// The features that docs.rs documents, beside the default ones: no second library of cryptography is compiled.
fn features(member: &Described) -> Vec<String> {
    let documented = &member.package.metadata["docs"]["rs"]["features"];
    let documented = documented.as_array().into_iter().flatten().filter_map(|name| name.as_str());
    let mut words = vec!["--default-features".to_owned()];
    words.extend(documented.flat_map(|name| ["--features".to_owned(), name.to_owned()]));
    words
}

/// cargo-semver-checks: the machine's, or one that is compiled now.
fn program(tree: &Tree) -> Result<PathBuf, String> {
    if let Some(program) = process::find("cargo-semver-checks") {
        return Ok(program);
    }
    let root = process::target_dir(tree).join(PACKAGE.replace('@', "-"));
    let program = root.join("bin/cargo-semver-checks");
    if program.is_file() {
        return Ok(program);
    }
    println!("{PACKAGE} is missing; compiling it, which takes a quarter of an hour of CPU time");
    let mut cargo = process::cargo(tree);
    cargo.args(["install", "--quiet", "--locked", "--debug", PACKAGE, "--root"]).arg(&root);
    cargo.arg("--target-dir").arg(root.join("build"));
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "false");
    process::run(cargo)
        .map_err(|why| format!("{why}: connect to the network, or compare the rest by --without-rust"))?;
    // Some hundred megabytes.
    let _ = std::fs::remove_dir_all(root.join("build"));
    Ok(program)
}

/// It reads what rustdoc of the pinned toolchain writes: raise both together.
const PACKAGE: &str = "cargo-semver-checks@0.51.0";
