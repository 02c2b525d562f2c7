//! The crates that will be published: each crate whose manifest does not say `publish = false`. Each has everything
//! that a registry and its readers ask for, and is built from its package alone, with the others of this workspace as
//! if they were published.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::files::{self, File};
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// The step of `cargo xtask test`.
pub(crate) fn check(tree: &Tree) -> Verdict {
    let files = files::files(tree);
    let published: Vec<&File> = files.iter().filter(|file| is_published(file)).collect();
    let missing: Vec<String> = published.iter().flat_map(|manifest| missing(manifest, |path| tree.has(path))).collect();
    missing.iter().for_each(|breach| println!("{breach}"));
    if !missing.is_empty() {
        return Verdict::Failed(format!("{} of what a published crate needs is missing", missing.len()));
    }
    let names: Vec<&str> = published.iter().filter_map(|manifest| name(manifest)).collect();
    // Apart from the workspace's own artifacts, which have the same names.
    let target = process::target_dir(tree).join("packages");
    forget_earlier_runs(&target);
    process::run(packaging(&names, tree, &target)).map_or_else(Verdict::Failed, |()| Verdict::Passed)
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

fn is_published(file: &File) -> bool {
    let is_manifest = file.path.ends_with("/Cargo.toml");
    is_manifest && name(file).is_some() && !file.text.lines().any(|line| line.replace(' ', "") == "publish=false")
}

/// The name in its `[package]`.
fn name(manifest: &File) -> Option<&str> {
    let package = manifest.text.split("[package]").nth(1)?;
    package.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

/// Missing parts, each as `path: what`. `has` says whether there is a file; a link to one will do.
fn missing(manifest: &File, has: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = manifest.path.trim_end_matches("Cargo.toml");
    let says = |key: &&str| manifest.text.lines().any(|line| line.starts_with(*key) && line.contains('='));
    let keys = KEYS.iter().filter(|key| !says(key)).map(|key| format!("{}: has no `{key}`", manifest.path));
    let texts = FILES
        .iter()
        .map(|name| format!("{folder}{name}"))
        .filter(|path| !has(path))
        .map(|path| format!("{path}: is missing"));
    keys.chain(texts).collect()
}

const KEYS: &[&str] = &["description", "license", "repository", "rust-version", "keywords", "categories"];
const FILES: &[&str] = &["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> File {
        File { path: "crates/a/Cargo.toml".into(), text: text.into() }
    }

    #[test]
    fn crates_are_published_unless_they_say_otherwise() {
        assert!(is_published(&manifest("[package]\nname = \"a\"\n")));
        assert!(!is_published(&manifest("[package]\nname = \"a\"\npublish = false\n")));
        assert!(!is_published(&manifest("[workspace]\n")));
        assert_eq!(name(&manifest("[lib]\nname = \"b\"\n[package]\nname = \"a\"\n")), Some("a"));
    }

    #[test]
    fn what_a_registry_asks_for_and_is_missing_is_named() {
        let whole = "[package]\nname = \"a\"\ndescription = \"d\"\nlicense.workspace = true\nrepository.workspace = \
                     true\n\
                     rust-version.workspace = true\nkeywords = []\ncategories = []\n";
        assert_eq!(missing(&manifest(whole), |_| true), Vec::<String>::new());
        let without_license = |path: &str| path != "crates/a/LICENSE-MIT";
        assert_eq!(missing(&manifest("[package]\nname = \"a\"\n"), without_license).len(), KEYS.len() + 1);
    }
}
