//! The packages of the tree, as cargo describes them.

use cargo_metadata::{MetadataCommand, Package};

use crate::machine::files::File;
use crate::machine::process;
use crate::machine::tree::Tree;

/// A package, and its folder from the root, with a slash at its end: `crates/skipstone/`. Fields that its manifest
/// inherits from the workspace's are filled in.
pub(crate) struct Described {
    pub(crate) folder: String,
    pub(crate) package: Package,
}

/// The packages of the workspace.
pub(crate) fn members(tree: &Tree) -> Result<Vec<Described>, String> {
    described(MANIFEST, tree)
}

/// The packages of the workspace, and the packages of manifests that are not part of it.
pub(crate) fn all(files: &[File], tree: &Tree) -> Result<Vec<Described>, String> {
    let mut found = members(tree)?;
    for manifest in files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let is_found = |known: &Described| manifest.path.strip_prefix(&known.folder) == Some(MANIFEST);
        if !found.iter().any(is_found) {
            found.extend(described(&manifest.path, tree)?);
        }
    }
    Ok(found)
}

fn described(manifest: &str, tree: &Tree) -> Result<Vec<Described>, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest]);
    let output = process::output(cargo).ok_or_else(|| format!("cargo cannot read {manifest}"))?;
    let metadata = MetadataCommand::parse(output).map_err(|error| format!("{manifest}: {error}"))?;
    metadata.packages.into_iter().map(|package| placed(package, tree)).collect()
}

fn placed(package: Package, tree: &Tree) -> Result<Described, String> {
    let inside = package.manifest_path.as_std_path().strip_prefix(tree.root());
    let inside = inside.map_err(|_| format!("{} is outside of {}", package.manifest_path, tree.root().display()))?;
    let folder = inside.to_string_lossy().replace('\\', "/").trim_end_matches(MANIFEST).to_owned();
    Ok(Described { folder, package })
}

/// The name of every manifest, and the path of the workspace's.
const MANIFEST: &str = "Cargo.toml";

/// A package with these fields in addition.
#[cfg(test)]
pub(crate) fn package(fields: serde_json::Value) -> Package {
    let mut described = serde_json::json!({
        "name": "a", "version": "0.1.0", "id": "path+file:///p/a#0.1.0", "manifest_path": "/p/a/Cargo.toml",
        "dependencies": [], "targets": [], "features": {},
    });
    for (key, value) in fields.as_object().into_iter().flatten() {
        described[key] = value.clone();
    }
    serde_json::from_value(described).expect("a package as cargo describes it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_its_folder_from_the_root() {
        let place = |root: &str| placed(package(serde_json::json!({})), &Tree::at(root.into()));
        assert_eq!(place("/p").map(|described| described.folder), Ok("a/".into()));
        assert_eq!(place("/p/a").map(|described| described.folder), Ok(String::new()));
        assert!(place("/q").is_err_and(|why| why.contains("/p/a/Cargo.toml is outside of /q")));
    }
}
