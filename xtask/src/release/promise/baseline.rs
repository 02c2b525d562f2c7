//! The tree that this one is compared with: a folder, or a revision of this repository, unpacked.

use std::path::{Path, PathBuf};

use crate::machine::process;
use crate::machine::tree::Tree;

/// A tree in a folder.
pub(super) struct Baseline {
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

/// The one that was named, else that of the newest release before this commit.
pub(super) fn find(against: Option<&str>, tree: &Tree) -> Result<Option<Baseline>, String> {
    let named = match against {
        Some(named) => named.to_owned(),
        None => match newest_release(tree)? {
            Some(tag) => tag,
            None => return Ok(None),
        },
    };
    let folder = tree.root().join(&named);
    if folder.is_dir() {
        if !folder.join("Cargo.toml").is_file() {
            return Err(format!("{} is no clone of the repository: it has no Cargo.toml", folder.display()));
        }
        return Ok(Some(Baseline { name: folder.display().to_string(), folder }));
    }
    let folder = process::target_dir(tree).join("promise");
    unpack(&named, &folder, tree)?;
    Ok(Some(Baseline { name: named, folder }))
}

fn newest_release(tree: &Tree) -> Result<Option<String>, String> {
    let mut git = process::command("git", tree);
    git.args(["tag", "--merged", "HEAD", "--sort=-version:refname", "--list", "v[0-9]*"]);
    let tags = process::output(git).ok_or("git cannot list tags: run this in a clone of the repository")?;
    Ok(newest_of(&tags, env!("CARGO_PKG_VERSION")))
}

/// The first that is not the tag of this version, which has just been made.
fn newest_of(tags: &str, version: &str) -> Option<String> {
    tags.lines().find(|tag| tag.strip_prefix('v') != Some(version)).map(str::to_owned)
}

fn unpack(revision: &str, folder: &Path, tree: &Tree) -> Result<(), String> {
    // Of an earlier run.
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let archive = folder.join("tree.tar");
    let mut git = process::command("git", tree);
    git.args(["archive", "--format=tar", "--output"]).arg(&archive).arg(revision);
    process::run(git)
        .map_err(|why| format!("{why}: `{revision}` is neither a folder nor a revision (`git fetch --tags`)"))?;
    let mut tar = process::command("tar", tree);
    tar.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(folder);
    process::run(tar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_of_a_release_is_the_one_before() {
        assert_eq!(newest_of("v0.2.0\nv0.1.1\n", "0.2.0"), Some("v0.1.1".into()));
        assert_eq!(newest_of("v0.2.0\nv0.1.1\n", "0.2.1"), Some("v0.2.0".into()));
        assert_eq!(newest_of("v0.1.0\n", "0.1.0"), None);
    }
}
