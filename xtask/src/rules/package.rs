//! The crates that will be published: each crate whose manifest does not say `publish = false`. Each has everything
//! that a registry and its readers ask for, and is built from its package alone, with the others of this workspace as
//! if they were published.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::Package;

use crate::machine::packages::{self, Described};
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// The step of `cargo xtask test`.
pub(crate) fn check(tree: &Tree) -> Verdict {
    let published = match published(tree) {
        Ok(published) => published,
        Err(why) => return Verdict::Failed(why),
    };
    let missing: Vec<String> = published.iter().flat_map(|member| missing(member, |path| tree.has(path))).collect();
    missing.iter().for_each(|breach| println!("{breach}"));
    if !missing.is_empty() {
        return Verdict::Failed(format!("{} of what a published crate needs is missing", missing.len()));
    }
    let names: Vec<&str> = published.iter().map(|member| member.package.name.as_str()).collect();
    // Apart from the workspace's own artifacts, which have the same names.
    let target = process::target_dir(tree).join("packages");
    forget_earlier_runs(&target);
    process::run(packaging(&names, tree, &target)).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// The crates that will be published.
pub(crate) fn published(tree: &Tree) -> Result<Vec<Described>, String> {
    let members = packages::members(tree)?.into_iter();
    Ok(members.filter(|member| is_published(&member.package)).collect())
}

/// Cargo takes a published version for unchangeable: it would build a crate against the others as an earlier run
/// unpacked and compiled them.
fn forget_earlier_runs(target: &Path) {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    // The registry of packages under test has no host, so its name begins with the dash before the hash.
    let registries = entries(&home.join("registry/src")).filter(|registry| begins(registry, "-"));
    let unpacked = registries.flat_map(|registry| entries(&registry));
    let compiled = entries(&target.join("debug/.fingerprint"));
    for stale in unpacked.chain(compiled).filter(|path| begins(path, "skipstone")) {
        // A folder that cannot be removed shows in the following build.
        let _ = std::fs::remove_dir_all(stale);
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn begins(path: &Path, with: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(with))
}

fn packaging(names: &[&str], tree: &Tree, target: &Path) -> Command {
    let mut cargo = process::cargo(tree);
    // The package takes the files of the folder, committed or not.
    cargo.args(["package", "--allow-dirty", "--quiet", "--target-dir"]).arg(target);
    cargo.args(names.iter().flat_map(|name| ["--package", name]));
    // The build is not run.
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
    cargo
}

fn is_published(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
}

/// Missing parts, each as `path: what`. `has` says whether there is a file; a link to one will do.
fn missing(Described { folder, package }: &Described, has: impl Fn(&str) -> bool) -> Vec<String> {
    let keys = [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("repository", package.repository.is_some()),
        ("readme", package.readme.is_some()),
        ("rust-version", package.rust_version.is_some()),
        ("keywords", !package.keywords.is_empty()),
        ("categories", !package.categories.is_empty()),
        ("package.metadata.docs.rs", documents_features(package)),
    ];
    let keys = keys.iter().filter(|(_, is_there)| !is_there);
    let keys = keys.map(|(key, _)| format!("{folder}Cargo.toml: has no `{key}`"));
    let readme = package.readme.as_ref().map(|readme| readme.as_str());
    let texts = LICENCES
        .into_iter()
        .chain(readme)
        .map(|name| format!("{folder}{name}"))
        .filter(|path| !has(path))
        .map(|path| format!("{path}: is missing"));
    keys.chain(texts).collect()
}

/// docs.rs documents the default features, and those that the manifest asks for.
fn documents_features(package: &Package) -> bool {
    let asked = &package.metadata["docs"]["rs"];
    let says = !asked["features"].is_null() || !asked["all-features"].is_null();
    package.features.keys().all(|name| name == "default") || says
}

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::machine::packages::package;

    #[test]
    fn crates_are_published_unless_they_say_otherwise() {
        assert!(is_published(&package(json!({ "publish": null }))));
        assert!(is_published(&package(json!({ "publish": ["ours"] }))));
        assert!(!is_published(&package(json!({ "publish": [] }))));
    }

    /// Continuous integration compiles with it, so that no crate needs a later one.
    #[test]
    fn the_pinned_toolchain_is_the_oldest_that_crates_promise() {
        let pinned = include_str!("../../../rust-toolchain.toml");
        let channel =
            pinned.lines().find_map(|line| line.strip_prefix("channel = ")).map(|text| text.trim_matches('"'));
        assert_eq!(channel, Some(concat!(env!("CARGO_PKG_RUST_VERSION"), ".0")));
    }

    #[test]
    fn a_crate_with_features_says_which_of_them_its_documentation_has() {
        assert!(documents_features(&package(json!({ "features": { "default": [] } }))));
        let with_features = json!({ "features": { "a": [] } });
        assert!(!documents_features(&package(with_features)));
        let metadata = json!({ "features": { "a": [] }, "metadata": { "docs": { "rs": { "features": ["a"] } } } });
        assert!(documents_features(&package(metadata)));
    }

    #[test]
    fn missing_registry_metadata_is_reported() {
        let in_folder = |package| Described { folder: "crates/a/".into(), package };
        let whole = in_folder(package(json!({
            "description": "d", "license": "MIT", "repository": "r", "rust_version": "1.95", "keywords": ["k"],
            "categories": ["c"], "readme": "../../README.md",
        })));
        assert_eq!(missing(&whole, |_| true), Vec::<String>::new());
        let without_license = |path: &str| path != "crates/a/LICENSE-MIT";
        assert_eq!(missing(&whole, without_license), ["crates/a/LICENSE-MIT: is missing"]);
        let bare = missing(&in_folder(package(json!({}))), |_| true);
        assert_eq!((bare.len(), &*bare[0]), (7, "crates/a/Cargo.toml: has no `description`"));
    }
}
