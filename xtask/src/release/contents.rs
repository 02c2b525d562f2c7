//! The crates that an artifact contains: what cargo links for a package, its features and a system. Crates that only
//! build or test it are left out.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{MetadataCommand, Package};

use crate::machine::process;
use crate::machine::tree::Tree;

/// What is built: a package for a system.
#[derive(Clone, Copy)]
pub(crate) struct Built<'a> {
    pub(crate) package: &'a str,
    /// Flags of cargo about features, as they are built with.
    pub(crate) features: &'a [&'a str],
    pub(crate) target: &'a str,
    /// Its manifest from the root, if it is no member of the workspace; else `Cargo.toml`.
    pub(crate) manifest: &'a str,
}

/// A crate of others, in an artifact.
#[derive(Clone)]
pub(crate) struct Dependency {
    pub(crate) package: Package,
    /// SHA-256 of what the registry has, from the lock file.
    pub(crate) checksum: Option<String>,
}

/// The crates of others in what is built, by name and version.
pub(crate) fn dependencies(built: Built<'_>, tree: &Tree) -> Result<Vec<Dependency>, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    cargo.args(["--manifest-path", built.manifest, "--package", built.package, "--target", built.target]);
    cargo.args(built.features);
    let listed =
        process::output(cargo).ok_or_else(|| format!("cargo does not list the crates of {}", built.package))?;
    let wanted: BTreeSet<(&str, &str)> = listed.lines().filter_map(named).collect();
    let mut cargo = process::cargo(tree);
    cargo.args(["metadata", "--locked", "--format-version", "1", "--manifest-path", built.manifest]);
    let output = process::output(cargo).ok_or_else(|| format!("cargo cannot read {}", built.manifest))?;
    let metadata = MetadataCommand::parse(output).map_err(|error| format!("{}: {error}", built.manifest))?;
    let checksums = checksums(&metadata.workspace_root.join("Cargo.lock").into_std_path_buf())?;
    let is_in = |package: &Package| {
        package.source.is_some() && wanted.contains(&(package.name.as_str(), package.version.to_string().as_str()))
    };
    let mut found: Vec<Dependency> =
        metadata.packages.into_iter().filter(is_in).map(|package| placed(package, &checksums)).collect();
    found.sort_by(|a, b| (&a.package.name, &a.package.version).cmp(&(&b.package.name, &b.package.version)));
    Ok(found)
}

fn placed(package: Package, checksums: &BTreeMap<(String, String), String>) -> Dependency {
    let key = (package.name.to_string(), package.version.to_string());
    Dependency { checksum: checksums.get(&key).cloned(), package }
}

/// Name and version in a line of cargo's list: `bytes v1.10.1 (*)`.
fn named(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

/// SHA-256 by name and version, in a lock file.
fn checksums(lock: &std::path::Path) -> Result<BTreeMap<(String, String), String>, String> {
    let text = std::fs::read_to_string(lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    let of = |block: &str| Some(((field(block, "name")?, field(block, "version")?), field(block, "checksum")?));
    Ok(text.split("[[package]]").filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_name_crates() {
        assert_eq!(named("bytes v1.10.1 (*)"), Some(("bytes", "1.10.1")));
        assert_eq!(named("[build-dependencies]"), None);
        assert_eq!(named(""), None);
    }
}
